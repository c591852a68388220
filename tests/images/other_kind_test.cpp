// GIF, BMP, TIFF and WebP of every kind that is read.
#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>

#include "tests/images/hand_made_files.hpp"
#include "tests/images/operator_call.hpp"

namespace weir::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

const Bytes kColours{0, 0, 0, 255, 0, 0, 0, 255, 0, 0, 0, 255};  // black, red, green, blue

Tensor decoded(const Bytes& file, const Written& written = {}) {
  return apply_to_image(make_operator("decode", written), file_tensor(file));
}

std::string reason_of(const Bytes& file, const Written& written = {}) {
  return failure_of([&] { (void)decoded(file, written); });
}

/// The pixel in hexadecimal, as "ff0000".
std::string at(const Tensor& image, std::int64_t y, std::int64_t x) {
  std::string text;
  for (std::int64_t c = 0; c < image.shape()[2]; ++c) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x",
                  image.data<std::uint8_t>()[(y * image.shape()[1] + x) * image.shape()[2] + c]);
    text += digits;
  }
  return text;
}

std::vector<std::uint8_t> indices(int count, int most) {
  std::vector<std::uint8_t> result;
  for (int i = 0; i < count; ++i) result.push_back(static_cast<std::uint8_t>(i * 7 / 3 % most));
  return result;
}

TEST(Gif, IsDecodedRowByRowAlsoInterlaced) {
  constexpr int kWidth = 37;
  constexpr int kHeight = 29;
  const std::vector<std::uint8_t> pixels = indices(kWidth * kHeight, 4);
  for (const bool interlaced : {false, true}) {
    GifFrame frame{0, 0, kWidth, kHeight, pixels, interlaced};
    const Tensor image = decoded(gif_file(kWidth, kHeight, kColours, {frame}));
    ASSERT_EQ(image.shape(), (Shape{kHeight, kWidth, 3}));
    for (int i = 0; i < kWidth * kHeight; ++i)
      ASSERT_EQ(std::memcmp(image.data<std::uint8_t>() + i * 3,
                            kColours.data() + pixels[static_cast<std::size_t>(i)] * 3, 3),
                0)
          << "pixel " << i << " interlaced " << interlaced;
  }
}

TEST(Gif, GivesItsFirstPictureWithItsOwnColours) {
  const Bytes grey{10, 10, 10, 20, 20, 20};
  const GifFrame first{0, 0, 2, 1, {0, 1}, false, -1, grey};
  const GifFrame second{0, 0, 2, 1, {2, 2}};
  const Tensor image = decoded(gif_file(2, 1, kColours, {first, second}));
  EXPECT_EQ(at(image, 0, 0), "0a0a0a");
  EXPECT_EQ(at(image, 0, 1), "141414");
}

TEST(Gif, IsTransparentWhereItSaysSoAndBesideItsPicture) {
  // A screen of 3x2 with a picture of two pixels at its right end; the second is transparent.
  const GifFrame frame{1, 0, 2, 1, {1, 2}, false, 2};
  const Bytes file = gif_file(3, 2, kColours, {frame});
  const Tensor kept = decoded(file, {{"channels", whole(4)}, {"alpha", text("keep")}});
  ASSERT_EQ(kept.shape(), (Shape{2, 3, 4}));
  EXPECT_EQ(at(kept, 0, 0).substr(6), "00");
  EXPECT_EQ(at(kept, 0, 1), "ff0000ff");
  EXPECT_EQ(at(kept, 0, 2).substr(6), "00");
  EXPECT_EQ(at(kept, 1, 1).substr(6), "00");
  const Tensor white = decoded(file, {{"background", number(255)}});
  EXPECT_EQ(at(white, 0, 1), "ff0000");
  EXPECT_EQ(at(white, 0, 2), "ffffff");
  EXPECT_EQ(at(decoded(file), 1, 0), "000000");
  const Tensor own = decoded(file, {{"channels", text("keep")}, {"alpha", text("keep")}});
  EXPECT_EQ(own.shape()[2], 4);
}

TEST(Gif, GrowsWithAPictureLargerThanItsScreen) {
  const GifFrame frame{0, 0, 3, 1, {1, 2, 3}};
  const Tensor image = decoded(gif_file(1, 1, kColours, {frame}));
  ASSERT_EQ(image.shape(), (Shape{1, 3, 3}));
  EXPECT_EQ(at(image, 0, 2), "0000ff");
}

TEST(Gif, ThatIsBadHasItsReason) {
  const GifFrame frame{0, 0, 20, 20, indices(400, 4)};
  const Bytes good = gif_file(20, 20, kColours, {frame, frame});
  EXPECT_EQ(reason_of(good), "no failure");
  for (std::size_t size = 6; size < good.size(); ++size)
    ASSERT_THAT(reason_of({good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size)}),
                StartsWith("damaged: the gif "))
        << size;
  EXPECT_EQ(reason_of(gif_file(20, 20, kColours, {})), "damaged: the gif holds no picture");
  EXPECT_EQ(reason_of(gif_file(20, 20, {}, {frame})), "damaged: the gif has no colours");
  EXPECT_EQ(reason_of(gif_file(20, 20, {0, 0, 0, 9, 9, 9}, {frame})),
            "damaged: the gif has a colour outside of its table");
  EXPECT_THAT(reason_of(gif_file(65535, 65535, kColours, {frame})),
              StartsWith("too many pixels: 65535x65535"));
  GifFrame short_of = frame;
  short_of.height = 19;
  short_of.indices.resize(19 * 20);
  Bytes lying = gif_file(20, 20, kColours, {short_of});
  for (std::size_t i = 0; i + 9 < lying.size(); ++i)
    if (lying[i] == 0x2c && lying[i + 5] == 20) lying[i + 7] = 20;
  EXPECT_THAT(reason_of(lying), StartsWith("damaged: the gif data cannot be decoded: "));
}

TEST(Bmp, IsReadInEveryDepth) {
  const Bytes two{0, 0, 255, 0, 0, 255, 0, 0};  // red, green; blue comes first
  // The lower row is stored first, and rows are filled up to four bytes.
  const Tensor one = decoded(bmp_file(3, 2, 1, {0x40, 0, 0, 0, 0xa0, 0, 0, 0}, two));
  EXPECT_EQ(at(one, 0, 0), "00ff00");
  EXPECT_EQ(at(one, 0, 1), "ff0000");
  EXPECT_EQ(at(one, 1, 1), "00ff00");
  const Tensor four = decoded(bmp_file(3, 1, 4, {0x01, 0x10, 0, 0}, two));
  EXPECT_EQ(at(four, 0, 1), "00ff00");
  const Tensor eight = decoded(bmp_file(3, 1, 8, {1, 0, 1, 0}, two));
  EXPECT_EQ(at(eight, 0, 0), "00ff00");
  EXPECT_EQ(at(eight, 0, 1), "ff0000");
  const Tensor full = decoded(bmp_file(1, 2, 24, {1, 2, 3, 0, 4, 5, 6, 0}));
  EXPECT_EQ(at(full, 0, 0), "060504");
  EXPECT_EQ(at(full, 1, 0), "030201");
  const Tensor from_top = decoded(bmp_file(1, -2, 24, {1, 2, 3, 0, 4, 5, 6, 0}));
  EXPECT_EQ(at(from_top, 0, 0), "030201");
  const Tensor fives = decoded(bmp_file(1, 1, 16, {0, 0x7c, 0, 0}));
  EXPECT_GT(fives.data<std::uint8_t>()[0], 240);
  EXPECT_EQ(at(fives, 0, 0).substr(2), "0000");
  // Runs of pixels: 3 of colour 1, end of the row, end of the picture.
  const Tensor runs = decoded(bmp_file(3, 1, 8, {3, 1, 0, 0, 0, 1}, two, 1));
  EXPECT_EQ(at(runs, 0, 2), "00ff00");
}

Bytes tiff_of(const cv::Mat& mat, int compression) {
  Bytes bytes;
  cv::imencode(".tiff", mat, bytes, {cv::IMWRITE_TIFF_COMPRESSION, compression});
  return bytes;
}

TEST(Tiff, IsReadInItsUsualCompressionsAndDepths) {
  const Tensor rgb = photograph(23, 31);
  cv::Mat mat(23, 31, CV_8UC3);
  for (int i = 0; i < 23 * 31 * 3; ++i)
    mat.data[i] = rgb.data<std::uint8_t>()[i / 3 * 3 + 2 - i % 3];
  constexpr int kNone = 1;
  constexpr int kLzw = 5;
  constexpr int kDeflate = 8;
  constexpr int kPackBits = 32773;
  for (const int compression : {kNone, kLzw, kDeflate, kPackBits}) {
    const Tensor read = decoded(tiff_of(mat, compression));
    ASSERT_EQ(read.shape(), rgb.shape());
    EXPECT_EQ(std::memcmp(read.bytes(), rgb.bytes(), rgb.size_bytes()), 0) << compression;
  }
  cv::Mat deep;
  mat.convertTo(deep, CV_16U, 257);
  const Bytes file = tiff_of(deep, kLzw);
  EXPECT_EQ(reason_of(file), "16 bits a channel: say `depth: u8` or `depth: keep`");
  const Tensor read = decoded(file, {{"depth", text("u8")}});
  EXPECT_EQ(std::memcmp(read.bytes(), rgb.bytes(), rgb.size_bytes()), 0);
  cv::Mat floats;
  mat.convertTo(floats, CV_32F);
  EXPECT_THAT(reason_of(tiff_of(floats, kNone)), StartsWith("not supported: a tiff whose pixels"));
}

TEST(Tiff, OfAHugeTileTakesNoMemory) {
  Bytes file = tiff_file(8, 8, Bytes(64, 9), 1, false);
  // The entries of strips become those of tiles: width 322, height 323, offsets 324, bytes 325.
  const auto retag = [&](std::uint32_t from, std::uint32_t to, std::uint32_t value) {
    for (std::size_t at = 10; at + 12 <= file.size(); at += 12) {
      if (file[at] + 256U * file[at + 1] != from) continue;
      file[at] = static_cast<std::uint8_t>(to);
      file[at + 1] = static_cast<std::uint8_t>(to >> 8U);
      if (value == 0) return;
      file[at + 8] = static_cast<std::uint8_t>(value);
      file[at + 9] = static_cast<std::uint8_t>(value >> 8U);
      return;
    }
  };
  retag(277, 322, 65520);
  retag(278, 323, 65520);
  EXPECT_THAT(reason_of(file), StartsWith("too many pixels: a tile of 4292870400"));
}

TEST(Webp, IsReadWithAndWithoutLossAndOpacity) {
  const Tensor rgba = photograph(32, 48, 4);
  const Tensor kept =
      decoded(opencv_file(".webp", rgba), {{"channels", whole(4)}, {"alpha", text("keep")}});
  ASSERT_EQ(kept.shape(), rgba.shape());
  for (std::int64_t i = 0; i < 32 * 48; ++i) {
    // Where nothing is seen the format may keep any colour.
    if (rgba.data<std::uint8_t>()[i * 4 + 3] == 0) continue;
    ASSERT_EQ(std::memcmp(kept.data<std::uint8_t>() + i * 4, rgba.data<std::uint8_t>() + i * 4, 4),
              0);
  }
  Bytes lossy;
  const cv::Mat mat(64, 64, CV_8UC3, cv::Scalar(30, 90, 200));
  cv::imencode(".webp", mat, lossy, {cv::IMWRITE_WEBP_QUALITY, 80});
  const Tensor read = decoded(lossy);
  ASSERT_EQ(read.shape(), (Shape{64, 64, 3}));
  EXPECT_NEAR(read.data<std::uint8_t>()[0], 200, 6);
  EXPECT_NEAR(read.data<std::uint8_t>()[2], 30, 6);
}

}  // namespace
}  // namespace weir::test
