#include <cmath>
#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <weir/error.hpp>

#include "pipeline/operators/image_decoder.hpp"
#include "tests/images/operator_call.hpp"
#include "tests/images/pictures.hpp"

namespace weir::test {
namespace {

Tensor decoded(const Bytes& bytes, const Written& written = {}) {
  return apply_to_image(make_operator("decode", written), file_tensor(bytes));
}

bool equal(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && a.dtype() == b.dtype() &&
         std::memcmp(a.bytes(), b.bytes(), a.size_bytes()) == 0;
}

std::uint8_t at(const Tensor& image, std::int64_t y, std::int64_t x, std::int64_t c) {
  return image.data<std::uint8_t>()[(y * image.shape()[1] + x) * image.shape()[2] + c];
}

TEST(Decode, ReadsJpegsAsOpenCvDoes) {
  const Tensor rgb = picture(61, 83);
  for (const bool progressive : {false, true}) {
    const Bytes file = jpeg_file(rgb, {.progressive = progressive});
    EXPECT_TRUE(equal(decoded(file), opencv_read(file))) << "progressive: " << progressive;
  }
  const Bytes restarts = jpeg_file(rgb, {.restart_rows = 1});
  EXPECT_TRUE(equal(decoded(restarts), opencv_read(restarts)));
}

TEST(Decode, ReplicatesGreyWhereThreeChannelsAreAskedFor) {
  const Bytes file = jpeg_file(picture(20, 30, 1));
  const Tensor grey = opencv_read(file);
  const Tensor rgb = decoded(file);
  ASSERT_EQ(rgb.shape(), (Shape{20, 30, 3}));
  for (std::int64_t i = 0; i < 20 * 30; ++i) {
    for (std::int64_t c = 0; c < 3; ++c) {
      ASSERT_EQ(rgb.data<std::uint8_t>()[i * 3 + c], grey.data<std::uint8_t>()[i]);
    }
  }
  EXPECT_TRUE(equal(decoded(file, {{"channels", whole(1)}}), grey));
  EXPECT_TRUE(equal(decoded(file, {{"channels", text("keep")}}), grey));
}

TEST(Decode, GivesTheChannelsThatAreAskedFor) {
  const Bytes file = jpeg_file(picture(20, 30));
  EXPECT_EQ(decoded(file, {{"channels", whole(1)}}).shape(), (Shape{20, 30, 1}));
  EXPECT_EQ(decoded(file, {{"channels", text("keep")}}).shape(), (Shape{20, 30, 3}));
  const Tensor rgb = decoded(file);
  const Tensor rgba = decoded(file, {{"channels", whole(4)}, {"alpha", text("keep")}});
  ASSERT_EQ(rgba.shape(), (Shape{20, 30, 4}));
  EXPECT_EQ(at(rgba, 7, 9, 0), at(rgb, 7, 9, 0));
  EXPECT_EQ(at(rgba, 7, 9, 3), 255);
}

TEST(Decode, TurnsInksIntoRgb) {
  // Adobe's convention: 255 is no ink, so that a colour is the product with black.
  const Tensor inks = picture(40, 40, 4);
  for (const bool ycck : {false, true}) {
    for (const bool adobe : {false, true}) {
      if (ycck && !adobe) continue;  // Without the marker nothing tells YCCK from CMYK.
      const Tensor rgb =
          decoded(jpeg_file(inks, {.quality = 100, .ycck = ycck, .adobe_marker = adobe}));
      ASSERT_EQ(rgb.shape(), (Shape{40, 40, 3}));
      double error = 0.0;
      for (std::int64_t y = 0; y < 40; ++y) {
        for (std::int64_t x = 0; x < 40; ++x) {
          for (std::int64_t c = 0; c < 3; ++c) {
            const double expected = at(inks, y, x, c) * at(inks, y, x, 3) / 255.0;
            error += std::abs(at(rgb, y, x, c) - expected);
          }
        }
      }
      // The colour of YCCK is subsampled, which costs more than rounding.
      EXPECT_LT(error / (40 * 40 * 3), ycck ? 12.0 : 1.5) << "ycck " << ycck << " adobe " << adobe;
    }
  }
}

TEST(Decode, AppliesEveryExifOrientation) {
  // Where pixel (0, 0) and the next in its row of the stored picture are shown, for 3 rows x 2
  // columns.
  const Tensor stored = picture(48, 32);
  for (const bool big_endian : {false, true}) {
    for (int orientation = 1; orientation <= 8; ++orientation) {
      const Bytes file = jpeg_file(stored, {.app1 = exif_orientation(orientation, big_endian)});
      const Tensor plain = decoded(file, {{"exif", text("ignore")}});
      const Tensor shown = decoded(file);
      ASSERT_EQ(plain.shape(), (Shape{48, 32, 3}));
      const bool turned = orientation >= 5;
      ASSERT_EQ(shown.shape(), turned ? (Shape{32, 48, 3}) : (Shape{48, 32, 3})) << orientation;
      for (std::int64_t y = 0; y < 48; ++y) {
        for (std::int64_t x = 0; x < 32; ++x) {
          // EXIF 2.3: which side of the scene the stored row 0 and column 0 are.
          std::int64_t row = y;
          std::int64_t column = x;
          switch (orientation) {
            case 2:
              column = 31 - x;
              break;
            case 3:
              row = 47 - y;
              column = 31 - x;
              break;
            case 4:
              row = 47 - y;
              break;
            case 5:
              row = x;
              column = y;
              break;
            case 6:
              row = x;
              column = 47 - y;
              break;
            case 7:
              row = 31 - x;
              column = 47 - y;
              break;
            case 8:
              row = 31 - x;
              column = y;
              break;
            default:
              break;
          }
          ASSERT_EQ(at(shown, row, column, 1), at(plain, y, x, 1)) << orientation;
        }
      }
    }
  }
}

TEST(Decode, TakesAnOrientationThatExifDoesNotKnowAsNone) {
  const Bytes file = jpeg_file(picture(24, 16), {.app1 = exif_orientation(9)});
  EXPECT_EQ(decoded(file).shape(), (Shape{24, 16, 3}));
}

TEST(Decode, ReadsTheOtherFormatsByTheirContent) {
  const Tensor rgb = picture(33, 47);
  for (const char* extension : {".png", ".bmp", ".webp", ".tiff", ".ppm"}) {
    EXPECT_TRUE(equal(decoded(opencv_file(extension, rgb)), rgb)) << extension;
  }
  const Tensor grey = picture(33, 47, 1);
  for (const char* extension : {".png", ".bmp", ".tiff", ".pgm"}) {
    const Tensor read = decoded(opencv_file(extension, grey));
    ASSERT_EQ(read.shape(), (Shape{33, 47, 3})) << extension;
    EXPECT_EQ(at(read, 5, 6, 2), at(grey, 5, 6, 0)) << extension;
  }
}

TEST(Decode, AppliesTheOrientationOfOtherFormats) {
  Bytes exif = exif_orientation(6);
  exif.erase(exif.begin(), exif.begin() + 6);
  const Bytes file = png_file(2, 1, 8, 2, {0, 1, 2, 3, 4, 5, 6}, {{"eXIf", exif}});
  EXPECT_EQ(decoded(file).shape(), (Shape{2, 1, 3}));
  EXPECT_EQ(decoded(file, {{"exif", text("ignore")}}).shape(), (Shape{1, 2, 3}));
}

TEST(Decode, AppliesTheOrientationOfATiffOnce) {
  for (const bool big_endian : {false, true}) {
    // 2 rows x 3 columns of grey, shown turned to the right.
    const Bytes file = tiff_file(3, 2, {0, 10, 20, 30, 40, 50}, 6, big_endian);
    const Tensor shown = decoded(file, {{"channels", whole(1)}});
    ASSERT_EQ(shown.shape(), (Shape{3, 2, 1}));
    const std::uint8_t turned[] = {30, 0, 40, 10, 50, 20};
    EXPECT_EQ(std::memcmp(shown.bytes(), turned, 6), 0);
    const Tensor stored = decoded(file, {{"channels", whole(1)}, {"exif", text("ignore")}});
    ASSERT_EQ(stored.shape(), (Shape{2, 3, 1}));
    EXPECT_EQ(at(stored, 0, 1, 0), 10);
  }
}

TEST(Decode, LaysTransparencyOverTheBackgroundByDefault) {
  const Tensor rgba = picture(16, 16, 4);
  const Bytes file = opencv_file(".png", rgba);
  const Tensor black = decoded(file);
  const Tensor white = decoded(file, {{"background", number(255)}});
  const Tensor orange = decoded(file, {{"background", list({255, 128, 0})}});
  const Tensor dropped = decoded(file, {{"alpha", text("drop")}});
  const Tensor kept = decoded(file, {{"alpha", text("keep")}, {"channels", whole(4)}});
  EXPECT_TRUE(equal(kept, rgba));
  EXPECT_TRUE(equal(decoded(file, {{"alpha", text("keep")}, {"channels", text("keep")}}), rgba));
  for (std::int64_t y = 0; y < 16; ++y) {
    for (std::int64_t x = 0; x < 16; ++x) {
      const double alpha = at(rgba, y, x, 3) / 255.0;
      for (std::int64_t c = 0; c < 3; ++c) {
        const double colour = at(rgba, y, x, c);
        const double under = c == 0 ? 255.0 : (c == 1 ? 128.0 : 0.0);
        ASSERT_NEAR(at(black, y, x, c), colour * alpha, 0.51);
        ASSERT_NEAR(at(white, y, x, c), colour * alpha + 255.0 * (1.0 - alpha), 0.51);
        ASSERT_NEAR(at(orange, y, x, c), colour * alpha + under * (1.0 - alpha), 0.51);
        ASSERT_EQ(at(dropped, y, x, c), at(rgba, y, x, c));
      }
    }
  }
}

TEST(Decode, ReadsTheTransparencyOfAPalette) {
  // Two colours, the second half transparent.
  const Bytes file =
      png_file(2, 1, 8, 3, {0, 0, 1}, {{"PLTE", {10, 20, 30, 200, 100, 50}}, {"tRNS", {255, 128}}});
  const Tensor read = decoded(file);
  EXPECT_EQ(at(read, 0, 0, 0), 10);
  EXPECT_EQ(at(read, 0, 0, 2), 30);
  EXPECT_NEAR(at(read, 0, 1, 0), 200 * 128 / 255.0, 1.0);
  EXPECT_EQ(at(decoded(file, {{"alpha", text("drop")}}), 0, 1, 0), 200);
}

TEST(Decode, NeverConvertsSixteenBitsSilently) {
  Bytes rows;
  for (const unsigned value : {0U, 128U, 129U, 32768U, 65278U, 65535U}) {
    if (rows.size() % 13 == 0) rows.push_back(0);
    rows.push_back(static_cast<std::uint8_t>(value >> 8U));
    rows.push_back(static_cast<std::uint8_t>(value));
  }
  const Bytes file = png_file(2, 1, 16, 2, rows);
  EXPECT_EQ(failure_of([&] { (void)decoded(file); }),
            "16 bits a channel: say `depth: u8` or `depth: keep`");
  const Tensor kept = decoded(file, {{"depth", text("keep")}});
  ASSERT_EQ(kept.dtype(), DType::u16);
  EXPECT_EQ(kept.data<std::uint16_t>()[3], 32768);
  const Tensor rounded = decoded(file, {{"depth", text("u8")}});
  ASSERT_EQ(rounded.dtype(), DType::u8);
  const std::uint8_t expected[] = {0, 0, 1, 128, 254, 255};
  for (int i = 0; i < 6; ++i) EXPECT_EQ(rounded.data<std::uint8_t>()[i], expected[i]) << i;
}

TEST(Decode, DoesNotDependOnTheFileBefore) {
  // A jpeg without tables of its own fails, also right after one that had some.
  const Bytes whole_file = jpeg_file(picture(32, 32));
  Bytes bare{0xff, 0xd8};
  for (std::size_t i = 2; i + 4 <= whole_file.size();) {
    const std::uint8_t marker = whole_file[i + 1];
    const std::size_t length = 2 + (std::size_t{whole_file[i + 2]} << 8U) + whole_file[i + 3];
    if (marker == 0xda) {
      bare.insert(bare.end(), whole_file.begin() + static_cast<std::ptrdiff_t>(i),
                  whole_file.end());
      break;
    }
    if (marker != 0xdb) {
      bare.insert(bare.end(), whole_file.begin() + static_cast<std::ptrdiff_t>(i),
                  whole_file.begin() + static_cast<std::ptrdiff_t>(i + length));
    }
    i += length;
  }
  (void)decoded(whole_file);
  EXPECT_THAT(failure_of([&] { (void)decoded(bare); }),
              testing::HasSubstr("Quantization table 0x00 was not defined"));
}

TEST(Decode, SaysWhenItsInputIsNoFile) {
  EXPECT_THAT(failure_of([] { (void)apply_to_image(make_operator("decode"), picture(4, 4)); }),
              testing::AllOf(testing::StartsWith("decode: column 'image' has shape [4, 4, 3]"),
                             testing::HasSubstr("behind `read`")));
  EXPECT_THAT(failure_of([] { (void)apply(make_operator("decode"), Sample()); }),
              testing::HasSubstr("no column 'image'"));
}

TEST(Decode, RefusesRulesThatContradict) {
  EXPECT_THAT(failure_of([] {
                (void)make_operator("decode", {{"alpha", text("keep")}});
              }),
              testing::HasSubstr("needs `channels: 4`"));
  EXPECT_THAT(failure_of([] {
                (void)make_operator("decode", {{"background", list({1, 2})}});
              }),
              testing::HasSubstr("red, green and blue"));
}

TEST(Decode, ReadsSeveralColumns) {
  Sample sample;
  sample.set("left", file_tensor(jpeg_file(picture(8, 8))));
  sample.set("right", file_tensor(opencv_file(".png", picture(9, 9))));
  const Sample result = apply(make_operator("decode", {}, {"left", "right"}), std::move(sample));
  EXPECT_EQ(result["left"].shape(), (Shape{8, 8, 3}));
  EXPECT_EQ(result["right"].shape(), (Shape{9, 9, 3}));
}

}  // namespace
}  // namespace weir::test
