// JPEGs of every sampling and coding, and the warnings of libjpeg one by one.
#include <algorithm>
#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <weir/error.hpp>

#include "pipeline/operators/image_decoder.hpp"
#include "tests/images/image_chain.hpp"
#include "tests/images/operator_call.hpp"
#include "tests/images/pictures.hpp"

namespace weir::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::uint8_t kStartOfScan = 0xda;
constexpr std::uint8_t kEnd = 0xd9;

Tensor decoded(const Bytes& bytes, const Written& written = {}) {
  return apply_to_image(make_operator("decode", written), file_tensor(bytes));
}

bool equal(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && std::memcmp(a.bytes(), b.bytes(), a.size_bytes()) == 0;
}

/// Where marker `0xff code` first stands from `from` on.
std::size_t find_marker(const Bytes& bytes, std::uint8_t code, std::size_t from = 0) {
  for (std::size_t i = from; i + 1 < bytes.size(); ++i)
    if (bytes[i] == 0xff && bytes[i + 1] == code) return i;
  return bytes.size();
}

Bytes with_inserted(Bytes bytes, std::size_t at, const Bytes& inserted) {
  bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(at), inserted.begin(), inserted.end());
  return bytes;
}

/// What decoding the file comes to: "damaged: …", or the notes.
std::vector<std::string> outcome(const Bytes& bytes) {
  detail::DecodeRules rules;
  rules.max_pixels = 1'000'000;
  rules.max_bytes = 1'000'000;
  rules.max_scans = 100;
  try {
    return detail::decode_image(
               std::as_bytes(std::span(bytes)), rules,
               [](const Shape& shape, DType dtype) { return Tensor(shape, dtype); })
        .notes;
  } catch (const BadSample& bad) {
    return {bad.what()};
  }
}

TEST(JpegKind, EverySamplingAndCoding) {
  const Tensor image = photograph(61, 83);
  struct Sampling {
    int across, down;
  };
  for (const auto& [across, down] :
       {Sampling{1, 1}, Sampling{2, 1}, Sampling{1, 2}, Sampling{2, 2}, Sampling{4, 1}}) {
    for (const bool progressive : {false, true}) {
      for (const int restart_rows : {0, 1}) {
        const Bytes file = jpeg_file(image, {.quality = 95,
                                             .progressive = progressive,
                                             .restart_rows = restart_rows,
                                             .brightness_across = across,
                                             .brightness_down = down});
        const Tensor read = decoded(file);
        EXPECT_TRUE(equal(read, opencv_read(file)));
        EXPECT_LT(distance(read, image).mean, 4.0)
            << across << "x" << down << " progressive " << progressive;
        EXPECT_THAT(outcome(file), IsEmpty());
      }
    }
  }
}

TEST(JpegKind, StoredAsRgb) {
  const Tensor image = photograph(40, 56);
  const Bytes file = jpeg_file(image, {.quality = 100, .rgb = true});
  EXPECT_LT(distance(decoded(file), image).mean, 0.7);
}

TEST(JpegKind, ArithmeticCodingGivesTheSamePixels) {
  const Tensor image = photograph(40, 56);
  const Bytes file = jpeg_file(image, {.arithmetic = true});
  const std::vector<std::string> result = outcome(file);
  if (!result.empty() && result[0].starts_with("not supported"))
    GTEST_SKIP() << "this libjpeg reads no arithmetic coding: " << result[0];
  EXPECT_TRUE(equal(decoded(file), decoded(jpeg_file(image))));
}

TEST(JpegKind, ColourProfilesChangeNothing) {
  const Tensor image = photograph(40, 56);
  const Bytes file = jpeg_file(image);
  Bytes profile{0xff, 0xe2, 0, 2 + 14 + 40};
  const std::string name = "ICC_PROFILE";
  profile.insert(profile.end(), name.begin(), name.end());
  for (const std::uint8_t byte : {0, 1, 1}) profile.push_back(byte);
  profile.resize(profile.size() + 40, 0x5a);
  const Bytes marked = with_inserted(file, 2 + 18, profile);
  EXPECT_TRUE(equal(decoded(marked), decoded(file)));
  EXPECT_THAT(outcome(marked), IsEmpty());
}

// The warnings of libjpeg. What they mean for the picture decides, not how many there are.

TEST(JpegWarning, ThatCostsNoPixelIsANote) {
  const Bytes good = jpeg_file(photograph(40, 56));
  Bytes newer_jfif = good;
  newer_jfif[2 + 4 + 5] = 9;
  EXPECT_THAT(outcome(newer_jfif), ElementsAre(HasSubstr("unknown JFIF revision number 9")));

  const Bytes adobe{0xff, 0xee, 0, 14, 'A', 'd', 'o', 'b', 'e', 0, 100, 0, 0, 0, 0, 7};
  // Without a JFIF marker, which would settle the colours.
  Bytes odd_transform = good;
  odd_transform.erase(odd_transform.begin() + 2, odd_transform.begin() + 2 + 18);
  EXPECT_THAT(outcome(with_inserted(odd_transform, 2, adobe)),
              ElementsAre(HasSubstr("Unknown Adobe color transform code 7")));

  Bytes odd_scan = good;
  const std::size_t scan = find_marker(odd_scan, kStartOfScan);
  odd_scan[scan + 4 + 1 + 2 * 3 + 1] = 62;  // A sequential scan ends with coefficient 63.
  EXPECT_THAT(outcome(odd_scan), ElementsAre(HasSubstr("Invalid SOS parameters")));
}

TEST(JpegWarning, ThatMeansLostPixelsIsDamage) {
  const Bytes progressive = jpeg_file(photograph(40, 56), {.progressive = true});
  // A scan that refines what no scan has begun.
  Bytes out_of_turn = progressive;
  const std::size_t first = find_marker(out_of_turn, kStartOfScan);
  const std::size_t second = find_marker(out_of_turn, kStartOfScan, first + 2);
  out_of_turn.erase(out_of_turn.begin() + static_cast<std::ptrdiff_t>(first),
                    out_of_turn.begin() + static_cast<std::ptrdiff_t>(second));
  EXPECT_THAT(outcome(out_of_turn), ElementsAre(testing::AllOf(testing::StartsWith("damaged: "),
                                                               HasSubstr("progression"))));

  const Bytes restarts = jpeg_file(photograph(64, 64), {.restart_rows = 1});
  Bytes other_turn = restarts;
  other_turn[find_marker(restarts, 0xd1) + 1] = 0xd5;
  EXPECT_THAT(outcome(other_turn), ElementsAre(testing::StartsWith("damaged: Corrupt JPEG data")));

  const Bytes good = jpeg_file(photograph(40, 56));
  const std::size_t scan = find_marker(good, kStartOfScan);
  // An end mark in the middle of a scan.
  EXPECT_THAT(outcome(with_inserted(good, (scan + good.size()) / 2, {0xff, kEnd})),
              ElementsAre(HasSubstr("damaged: Corrupt JPEG data: premature end of data segment")));
}

TEST(JpegDamage, ASecondFrameHeaderDoesNotChangeTheSize) {
  const Bytes good = jpeg_file(photograph(40, 56, 1));
  const Bytes huge{0xff, 0xc0, 0, 11, 8, 0xff, 0xff, 0xff, 0xff, 1, 1, 0x11, 0};
  const std::size_t scan = find_marker(good, kStartOfScan);
  const Bytes twice = with_inserted(good, (scan + good.size()) / 2, huge);
  EXPECT_THAT(outcome(twice), ElementsAre(testing::StartsWith("damaged: ")));
  // Written past its memory once: libjpeg had taken over the second size by then.
  const Tensor accepted = decoded(twice, {{"on_damaged", text("accept")}});
  EXPECT_EQ(accepted.shape(), (Shape{40, 56, 3}));
}

TEST(JpegScans, AboveTheLimitAreCountedBeforeAnyIsDecoded) {
  const Bytes file = jpeg_file(photograph(40, 56), {.progressive = true});
  std::size_t last = 0;
  for (std::size_t i = 0; (i = find_marker(file, kStartOfScan, i)) < file.size(); ++i) last = i;
  const Bytes scan(file.begin() + static_cast<std::ptrdiff_t>(last), file.end() - 2);
  Bytes many = file;
  for (int i = 0; i < 500; ++i) many = with_inserted(std::move(many), many.size() - 2, scan);
  const std::string reason = "too many scans: the jpeg has more than max_scans 500";
  EXPECT_EQ(failure_of([&] { (void)decoded(many); }), reason);
  EXPECT_EQ(
      failure_of([&] {
        (void)kernel_image({{"decode", {}}, {"resize", {{"size", whole(20)}}}}, file_tensor(many));
      }),
      reason);
  EXPECT_EQ(failure_of([&] { (void)decoded(many, {{"on_damaged", text("accept")}}); }), reason);
  EXPECT_EQ(decoded(file, {{"max_scans", whole(10)}}).shape(), (Shape{40, 56, 3}));
}

// Orientation, with what follows done in the upright picture.

/// The upright picture has a colour of its own in each quarter.
Tensor quarters(std::int64_t height, std::int64_t width) {
  Tensor image({height, width, 3}, DType::u8);
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 0; x < width; ++x)
      for (std::int64_t c = 0; c < 3; ++c) {
        const std::int64_t quarter = (y * 2 / height) * 2 + x * 2 / width;
        image.data<std::uint8_t>()[(y * width + x) * 3 + c] =
            static_cast<std::uint8_t>(40 + 50 * ((quarter + c) % 4));
      }
  return image;
}

/// The picture as a camera stores it that writes `orientation` beside it, by EXIF 2.3.
Tensor stored_for(const Tensor& upright, int orientation) {
  const std::int64_t height = upright.shape()[0];
  const std::int64_t width = upright.shape()[1];
  const bool turned = orientation >= 5;
  Tensor stored({turned ? width : height, turned ? height : width, 3}, DType::u8);
  for (std::int64_t y = 0; y < stored.shape()[0]; ++y)
    for (std::int64_t x = 0; x < stored.shape()[1]; ++x) {
      std::int64_t row = turned ? x : y;
      std::int64_t column = turned ? y : x;
      const bool from_right =
          orientation == 2 || orientation == 3 || orientation == 6 || orientation == 7;
      const bool from_below =
          orientation == 3 || orientation == 4 || orientation == 7 || orientation == 8;
      if (from_right) column = width - 1 - column;
      if (from_below) row = height - 1 - row;
      std::copy_n(upright.data<std::uint8_t>() + (row * width + column) * 3, 3,
                  stored.data<std::uint8_t>() + (y * stored.shape()[1] + x) * 3);
    }
  return stored;
}

TEST(JpegOrientation, IsAppliedBeforeTheCropOnBothPaths) {
  const Tensor upright = quarters(96, 144);
  const Chain training{{"decode", {}}, {"random_resized_crop", {{"size", whole(24)}}}};
  const Chain evaluation{{"decode", {}}, {"center_crop", {{"size", list({60, 100})}}}};
  Chain ignoring = training;
  ignoring[0].written = {{"exif", text("ignore")}};
  for (int orientation = 1; orientation <= 8; ++orientation) {
    const Tensor stored = stored_for(upright, orientation);
    const JpegWriting writing{.quality = 98, .app1 = exif_orientation(orientation)};
    const Tensor file = file_tensor(jpeg_file(stored, writing));
    const Tensor shown = file_tensor(opencv_file(".png", upright));
    const Tensor as_stored = file_tensor(opencv_file(".png", stored));
    for (std::uint64_t id = 0; id < 4; ++id) {
      const Item item{.sample_id = id};
      for (const Chain& chain : {training, evaluation}) {
        const Tensor expected = plain_image(chain, shown, item);
        EXPECT_LT(distance(plain_image(chain, file, item), expected).mean, 2.5) << orientation;
        EXPECT_LT(distance(kernel_image(chain, file, item), expected).mean, 2.5) << orientation;
      }
      const Tensor unturned = plain_image(training, as_stored, item);
      EXPECT_LT(distance(plain_image(ignoring, file, item), unturned).mean, 2.5) << orientation;
      EXPECT_LT(distance(kernel_image(ignoring, file, item), unturned).mean, 2.5) << orientation;
    }
  }
}

TEST(JpegOrientation, HoldsForWhatTheHeaderSaysOfTheSize) {
  detail::DecodeRules rules;
  rules.max_pixels = rules.max_bytes = 1'000'000;
  rules.max_scans = 10;
  for (int orientation = 1; orientation <= 8; ++orientation) {
    const Bytes file = jpeg_file(photograph(30, 50), {.app1 = exif_orientation(orientation)});
    const detail::ImageFacts facts = detail::look_at_image(std::as_bytes(std::span(file)), rules);
    const Tensor image = decoded(file);
    EXPECT_EQ(facts.height, image.shape()[0]) << orientation;
    EXPECT_EQ(facts.width, image.shape()[1]) << orientation;
  }
}

}  // namespace
}  // namespace weir::test
