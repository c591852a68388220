#include <algorithm>
#include <cstring>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <weir/error.hpp>

#include "pipeline/operators/image_decoder.hpp"
#include "tests/images/operator_call.hpp"
#include "tests/images/pictures.hpp"

namespace weir::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

/// The reason of the BadSample that decoding ends with; anything else fails the test.
std::string reason_of(const Bytes& bytes, const Written& written = {}) {
  const SampleMap decode = make_operator("decode", written);
  try {
    (void)apply_to_image(decode, file_tensor(bytes));
  } catch (const BadSample& bad) {
    return bad.what();
  }
  return "accepted";
}

std::vector<std::string> notes_of(const Bytes& bytes, bool accept_damaged = false) {
  detail::DecodeRules rules;
  rules.accept_damaged = accept_damaged;
  rules.max_pixels = 1'000'000;
  rules.max_bytes = 1'000'000;
  rules.max_scans = 100;
  return detail::decode_image(std::as_bytes(std::span(bytes)), rules,
                              [](const Shape& shape, DType dtype) { return Tensor(shape, dtype); })
      .notes;
}

Bytes bytes_of_text(const std::string& text) { return {text.begin(), text.end()}; }

Bytes cut(Bytes bytes, std::size_t size) {
  bytes.resize(size);
  return bytes;
}

Bytes with_inserted(Bytes bytes, std::size_t at, const Bytes& inserted) {
  bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(at), inserted.begin(), inserted.end());
  return bytes;
}

/// Where marker `0xff code` first stands from `from` on.
std::size_t find_marker(const Bytes& bytes, std::uint8_t low, std::uint8_t high, std::size_t from) {
  for (std::size_t i = from; i + 1 < bytes.size(); ++i) {
    if (bytes[i] == 0xff && bytes[i + 1] >= low && bytes[i + 1] <= high) return i;
  }
  return bytes.size();
}

class BadJpeg : public testing::Test {
 protected:
  const Bytes good_ = jpeg_file(picture(200, 300));
};

TEST_F(BadJpeg, TheFileItselfIsGood) {
  EXPECT_EQ(reason_of(good_), "accepted");
  EXPECT_TRUE(notes_of(good_).empty());
}

TEST_F(BadJpeg, CutAnywhere) {
  for (const std::size_t size :
       {std::size_t{3}, std::size_t{10}, std::size_t{30}, std::size_t{300}, std::size_t{700},
        std::size_t{4096}, good_.size() / 2, good_.size() - 2, good_.size() - 1}) {
    EXPECT_EQ(reason_of(cut(good_, size)), "damaged: Premature end of JPEG file") << size;
  }
}

TEST_F(BadJpeg, ProgressiveCutAnywhere) {
  const Bytes progressive = jpeg_file(picture(200, 300), {.progressive = true});
  ASSERT_EQ(reason_of(progressive), "accepted");
  for (const std::size_t size :
       {progressive.size() / 4, progressive.size() / 2, progressive.size() - 2}) {
    EXPECT_EQ(reason_of(cut(progressive, size)), "damaged: Premature end of JPEG file") << size;
  }
}

TEST_F(BadJpeg, DestroyedInTheMiddle) {
  std::mt19937 random(3);
  Bytes noise = good_;
  for (std::size_t i = 0; i < 500; ++i) noise[good_.size() / 2 + i] = random() % 255;
  EXPECT_THAT(reason_of(noise), StartsWith("damaged: Corrupt JPEG data"));
  Bytes pattern = good_;
  std::fill_n(pattern.begin() + static_cast<std::ptrdiff_t>(good_.size() / 2), 500, 0x55);
  EXPECT_THAT(reason_of(pattern), StartsWith("damaged: Corrupt JPEG data"));
}

TEST_F(BadJpeg, MildWarningsDoNotHideTheDamageBehindThem) {
  // Five odd bytes in the header, and then a cut.
  const std::size_t after_jfif = 2 + 18;
  const Bytes odd = with_inserted(good_, after_jfif, {1, 2, 3, 4, 5});
  EXPECT_EQ(reason_of(odd), "accepted");
  ASSERT_EQ(notes_of(odd).size(), 1U);
  EXPECT_THAT(notes_of(odd)[0], HasSubstr("extraneous bytes before marker 0xdb"));
  EXPECT_EQ(reason_of(cut(odd, odd.size() / 2)), "damaged: Premature end of JPEG file");
}

TEST_F(BadJpeg, PaddingBeforeTheEndIsANote) {
  const std::size_t end = good_.size() - 2;
  const Bytes zeros = with_inserted(good_, end, Bytes(200, 0));
  EXPECT_EQ(reason_of(zeros), "accepted");
  EXPECT_EQ(notes_of(zeros).size(), 1U);
  const Bytes words = with_inserted(good_, end, bytes_of_text("made by a camera that says so"));
  EXPECT_EQ(reason_of(words), "accepted");
  EXPECT_EQ(notes_of(words).size(), 1U);
  const Bytes behind = with_inserted(good_, good_.size(), Bytes(500, 'x'));
  EXPECT_EQ(reason_of(behind), "accepted");
}

TEST_F(BadJpeg, ScanDataLeftOverIsDamage) {
  // Half of the rows are missing in the header, so that the other half of the scan is left over.
  Bytes halved = good_;
  const std::size_t frame = find_marker(good_, 0xc0, 0xc0, 0);
  halved[frame + 6] = 96;
  EXPECT_THAT(reason_of(halved),
              testing::ContainsRegex("damaged: .* extraneous bytes before marker 0xd9"));
}

TEST_F(BadJpeg, AnythingBeforeARestartMarkerIsDamage) {
  const Bytes restarts = jpeg_file(picture(200, 300), {.restart_rows = 2});
  ASSERT_EQ(reason_of(restarts), "accepted");
  const std::size_t marker = find_marker(restarts, 0xd0, 0xd7, restarts.size() / 2);
  EXPECT_THAT(reason_of(with_inserted(restarts, marker, Bytes(20, 0))),
              HasSubstr("damaged: Corrupt JPEG data: 20 extraneous bytes"));
  Bytes without_marker = restarts;
  without_marker.erase(without_marker.begin() + static_cast<std::ptrdiff_t>(marker),
                       without_marker.begin() + static_cast<std::ptrdiff_t>(marker) + 2);
  EXPECT_THAT(reason_of(without_marker), StartsWith("damaged: "));
}

TEST_F(BadJpeg, IsTakenAsFarAsItGoesWhereToldSo) {
  const Tensor whole_picture = apply_to_image(make_operator("decode"), file_tensor(good_));
  const Bytes half = cut(good_, good_.size() / 2);
  const Tensor accepted =
      apply_to_image(make_operator("decode", {{"on_damaged", text("accept")}}), file_tensor(half));
  ASSERT_EQ(accepted.shape(), whole_picture.shape());
  EXPECT_EQ(std::memcmp(accepted.bytes(), whole_picture.bytes(), 300 * 3 * 64), 0);
  EXPECT_THAT(notes_of(half, true),
              testing::Contains("accepted although damaged: Premature end of JPEG file"));
  // Nothing at all is not a picture.
  EXPECT_THAT(reason_of(cut(good_, 300), {{"on_damaged", text("accept")}}),
              StartsWith("damaged: "));
}

TEST_F(BadJpeg, ThatClaimsToBeHugeTakesNoMemory) {
  Bytes huge = good_;
  const std::size_t frame = find_marker(good_, 0xc0, 0xc0, 0);
  for (std::size_t i = 5; i < 9; ++i) huge[frame + i] = 0xfe;
  const std::size_t in_use = buffer_pool_use().in_use_bytes + buffer_pool_use().kept_bytes;
  EXPECT_EQ(reason_of(huge), "too many pixels: 65278x65278 is above max_pixels 64000000");
  EXPECT_LT(buffer_pool_use().in_use_bytes + buffer_pool_use().kept_bytes, in_use + (1U << 20U));
}

TEST_F(BadJpeg, AboveTheLimitsOfTheOperator) {
  EXPECT_EQ(reason_of(good_, {{"max_pixels", whole(59999)}}),
            "too many pixels: 300x200 is above max_pixels 59999");
  EXPECT_EQ(reason_of(good_, {{"max_pixels", whole(60000)}}), "accepted");
  EXPECT_THAT(reason_of(good_, {{"max_bytes", text("1kB")}}), HasSubstr("is above max_bytes 1000"));
  const Bytes progressive = jpeg_file(picture(64, 64), {.progressive = true});
  EXPECT_EQ(reason_of(progressive, {{"max_scans", whole(3)}}),
            "too many scans: the jpeg has more than max_scans 3");
  EXPECT_EQ(reason_of(progressive, {{"max_scans", whole(3)}, {"on_damaged", text("accept")}}),
            "too many scans: the jpeg has more than max_scans 3");
}

TEST_F(BadJpeg, OfAKindThatIsNotRead) {
  Bytes deep = good_;
  const std::size_t frame = find_marker(good_, 0xc0, 0xc0, 0);
  deep[frame + 4] = 12;
  EXPECT_EQ(reason_of(deep), "not supported: Unsupported JPEG data precision 12");
  Bytes lossless = good_;
  lossless[frame + 1] = 0xc3;
  EXPECT_THAT(reason_of(lossless), StartsWith("not supported: Unsupported JPEG process"));
}

TEST_F(BadJpeg, WithArithmeticCodingIsReadOrNamed) {
  const std::string reason = reason_of(jpeg_file(picture(20, 30), {.arithmetic = true}));
  EXPECT_TRUE(reason == "accepted" || reason.starts_with("not supported: ")) << reason;
}

TEST(BadFile, ThatIsNoImageIsNamedForWhatItIs) {
  EXPECT_EQ(reason_of({}), "not an image: an empty file");
  EXPECT_EQ(reason_of({0x1f, 0x8b, 8, 0, 0, 0}), "not an image: gzip data");
  EXPECT_EQ(reason_of(bytes_of_text("<html><body>404 not found</body></html>")),
            "not an image: text");
  EXPECT_EQ(reason_of(bytes_of_text("GIF89a...")), "damaged: the gif header is cut off");
  EXPECT_EQ(reason_of({'P', 'K', 3, 4, 0, 0}), "not an image: a zip archive");
  EXPECT_EQ(reason_of({0, 0, 0, 0x18, 'f', 't', 'y', 'p', 'h', 'e', 'i', 'c'}),
            "not an image: a heif picture");
  EXPECT_EQ(reason_of({0xde, 0xad, 0xbe, 0xef, 1}),
            "not an image: unknown data that begins with de ad be ef");
  EXPECT_EQ(reason_of({0xff}), "not an image: unknown data that begins with ff");
  // Two letters do not make a bitmap.
  EXPECT_EQ(reason_of(bytes_of_text("BMW 320i\n")), "not an image: text");
}

TEST(BadFile, OfTheOtherFormatsCutAnywhere) {
  for (const char* extension : {".png", ".bmp", ".webp", ".tiff", ".ppm", ".pgm"}) {
    const std::int64_t channels = std::string(extension) == ".pgm" ? 1 : 3;
    const Bytes whole_file = opencv_file(extension, picture(60, 70, channels));
    ASSERT_EQ(reason_of(whole_file), "accepted") << extension;
    for (const std::size_t size :
         {whole_file.size() / 50, whole_file.size() / 2, whole_file.size() - 4}) {
      EXPECT_THAT(reason_of(cut(whole_file, size)), StartsWith("damaged: the "))
          << extension << " cut to " << size;
    }
  }
}

TEST(BadFile, OfTheOtherFormatsThatClaimsToBeHuge) {
  const std::string reason = "too many pixels: 65535x65535 is above max_pixels 64000000";
  EXPECT_EQ(reason_of(png_file(65535, 65535, 8, 2, {0})), reason);
  Bytes bmp = opencv_file(".bmp", picture(4, 4));
  bmp[30] = 1;  // compressed, so that the file's size says nothing
  for (const std::size_t at : {18, 22}) bmp[at] = bmp[at + 1] = 0xff;
  EXPECT_EQ(reason_of(bmp), reason);
  EXPECT_EQ(reason_of(bytes_of_text("P2\n# a comment\n65535 65535\n255\n1 2 3")), reason);
  EXPECT_EQ(reason_of(tiff_file(65535, 65535, {1}, 1, false)), reason);
  EXPECT_THAT(reason_of(opencv_file(".webp", picture(40, 50)), {{"max_pixels", whole(1999)}}),
              HasSubstr("50x40"));
}

TEST(BadFile, PngWithWrongChecksum) {
  Bytes png = opencv_file(".png", picture(30, 30));
  png[png.size() / 2] ^= 1U;
  EXPECT_EQ(reason_of(png), "damaged: the png data cannot be decoded: IDAT: incorrect data check");
}

TEST(BadFile, WithoutPixels) {
  EXPECT_EQ(reason_of(png_file(0, 5, 8, 2, {0})), "damaged: the png header gives 0x5 pixels");
}

TEST(BadFile, AnyBytesGiveAPictureOrABadSample) {
  // Random damage in front, where headers are: whatever comes of it, nothing else may.
  std::mt19937 random(11);
  Bytes exif = exif_orientation(6);
  std::vector<Bytes> files{jpeg_file(picture(20, 30), {.app1 = exif}),
                           tiff_file(3, 2, {0, 10, 20, 30, 40, 50}, 6, true)};
  for (const char* extension : {".png", ".bmp", ".webp", ".tiff", ".ppm"}) {
    files.push_back(opencv_file(extension, picture(20, 30)));
  }
  const SampleMap decode = make_operator("decode", {{"max_pixels", whole(100000)}});
  for (const Bytes& file : files) {
    for (int round = 0; round < 300; ++round) {
      Bytes changed = file;
      for (unsigned i = 0; i <= random() % 4; ++i) {
        changed[random() % std::min<std::size_t>(changed.size(), 200)] =
            static_cast<std::uint8_t>(random());
      }
      if (random() % 4 == 0) changed.resize(random() % changed.size());
      try {
        const Tensor image = apply_to_image(decode, file_tensor(changed));
        EXPECT_EQ(image.shape()[2], 3);
        EXPECT_LE(image.shape()[0] * image.shape()[1], 100000);
      } catch (const BadSample& bad) {
        EXPECT_STRNE(bad.what(), "");
      }
    }
  }
}

}  // namespace
}  // namespace weir::test
