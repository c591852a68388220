#include <cstdint>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <weir/error.hpp>

#include "pipeline/operators/raster.hpp"
#include "tests/images/image_chain.hpp"
#include "tests/images/pictures.hpp"
#include "tests/images/pil_figures.hpp"

namespace weir::test {
namespace {

using detail::Filter;
using detail::Region;

struct PilCase {
  Interpolation interpolation;
  Region region;
  std::int64_t height;
  std::int64_t width;
  Sums sums;
};

// Made with Pillow 13.0.0 and numpy, i being the picture of pil_figures.hpp:
//   r = np.asarray(Image.fromarray(i).crop((left, top, right, bottom)).resize((width, height),
//                  Image.BILINEAR or Image.BICUBIC)).astype(np.uint64).ravel()
//   r.sum(), (r * (np.arange(r.size, dtype=np.uint64) % 65521 + 1)).sum() % 1000003
const PilCase kPilCases[] = {
    {Interpolation::linear, {0, 0, 40, 56}, 17, 23, {149736, 949322}},
    {Interpolation::linear, {0, 0, 40, 56}, 40, 11, {168559, 351079}},
    {Interpolation::linear, {0, 0, 40, 56}, 64, 90, {2205020, 868696}},
    {Interpolation::linear, {7, 5, 28, 45}, 9, 12, {41055, 682137}},
    {Interpolation::cubic, {0, 0, 40, 56}, 17, 23, {149711, 934601}},
    {Interpolation::cubic, {0, 0, 40, 56}, 40, 11, {168585, 368200}},
    {Interpolation::cubic, {0, 0, 40, 56}, 64, 90, {2204920, 963234}},
    {Interpolation::cubic, {7, 5, 28, 45}, 9, 12, {41060, 682179}},
};

TEST(Antialias, GivesTheBytesOfPil) {
  const Tensor image = formula_picture();
  for (const PilCase& one : kPilCases) {
    Tensor result({one.height, one.width, 3}, DType::u8);
    detail::resample(image, one.region, result, Filter{one.interpolation, true});
    EXPECT_EQ(sums_of(result), one.sums)
        << one.height << "x" << one.width << " by filter " << static_cast<int>(one.interpolation);
  }
}

// Made with Pillow 13.0.0 and numpy:
//   y, x = np.mgrid[0:5, 0:7]
//   v = ((y * 53 + x * 97 + (x * y) % 7 * 31) % 256).astype(np.uint8)
//   i = Image.fromarray(np.kron(v, np.ones((8, 8), np.uint8)))
//   np.asarray(i.resize((16, 12), Image.BILINEAR or Image.BICUBIC)).ravel().tolist()
// Squares of one value, as a jpeg keeps them exactly: whichever decoder reads it, its pixels are
// those that Pillow resampled.
constexpr std::int64_t kRowsOfSquares = 5;
constexpr std::int64_t kColumnsOfSquares = 7;
constexpr std::int64_t kSmallHeight = 12;
constexpr std::int64_t kSmallWidth = 16;
// clang-format off
constexpr std::uint8_t kLinearByPil[kSmallHeight * kSmallWidth] = {
      0,   2,  67,  97, 139, 194, 162,  45,  41, 112, 132, 187, 229, 180,  73,  70,
      0,   2,  67,  97, 139, 194, 162,  45,  41, 112, 132, 187, 229, 180,  73,  70,
     32,  34, 112, 147, 131, 110, 112, 121, 120,  92,  85, 151, 200, 157,  63,  60,
     53,  56, 142, 181, 126,  53,  79, 173, 173,  79,  53, 126, 181, 142,  56,  53,
     66,  68, 117, 139, 114,  81,  96, 150, 147,  66,  43, 121, 179, 142,  61,  58,
    104, 102,  44,  17,  79, 163, 145,  81,  72,  27,  15, 105, 172, 142,  76,  74,
    108, 106,  42,  13,  76, 162, 142,  74,  65,  31,  21, 107, 172, 142,  78,  76,
    146, 145,  95,  73,  68,  61,  52,  20,  25, 120, 147, 158, 165, 143,  93,  92,
    159, 158, 113,  93,  65,  27,  21,   2,  12, 151, 190, 175, 163, 143,  98,  97,
    180, 179, 143, 127, 111,  89,  83,  61,  66, 150, 174, 157, 144, 132, 106, 106,
    212, 211, 188, 177, 179, 181, 174, 148, 146, 149, 150, 130, 115, 116, 119, 119,
    212, 211, 188, 177, 179, 181, 174, 148, 146, 149, 150, 130, 115, 116, 119, 119,
};
constexpr std::uint8_t kCubicByPil[kSmallHeight * kSmallWidth] = {
      0,   0,  69,  96, 139, 202, 167,  36,  35, 115, 130, 187, 238, 183,  65,  70,
      0,   0,  66,  92, 140, 208, 171,  30,  29, 117, 133, 189, 240, 185,  66,  71,
     32,  29, 114, 153, 131, 108, 112, 123, 122,  91,  79, 150, 210, 160,  55,  60,
     54,  49, 150, 200, 127,  35,  69, 189, 189,  75,  43, 124, 189, 142,  48,  52,
     64,  62, 121, 150, 115,  73,  91, 157, 156,  64,  36, 121, 189, 144,  54,  58,
    106, 109,  36,   0,  77, 179, 152,  71,  69,  22,   4, 104, 182, 144,  72,  75,
    106, 109,  36,   0,  77, 179, 152,  72,  70,  22,   3, 103, 182, 144,  72,  75,
    148, 150,  96,  74,  68,  58,  50,  16,  17, 128, 155, 160, 168, 144,  90,  92,
    158, 160, 111,  93,  60,  14,  12,   0,   0, 161, 203, 179, 166, 145,  95,  97,
    180, 182, 142, 127, 110,  88,  83,  58,  59, 154, 178, 157, 144, 133, 105, 106,
    214, 215, 190, 179, 184, 188, 181, 152, 152, 149, 150, 128, 111, 115, 120, 120,
    212, 213, 187, 176, 179, 182, 175, 146, 146, 149, 152, 130, 113, 116, 119, 119,
};
// clang-format on

Bytes file_of_squares() {
  constexpr std::int64_t kSide = 8;
  Tensor image({kSide * kRowsOfSquares, kSide * kColumnsOfSquares, 3}, DType::u8);
  std::uint8_t* out = image.data<std::uint8_t>();
  for (std::int64_t y = 0; y < image.shape()[0]; ++y)
    for (std::int64_t x = 0; x < image.shape()[1]; ++x, out += 3) {
      const std::int64_t row = y / kSide;
      const std::int64_t column = x / kSide;
      out[0] = out[1] = out[2] =
          static_cast<std::uint8_t>((row * 53 + column * 97 + (row * column) % 7 * 31) % 256);
    }
  return jpeg_file(image, {.quality = 100, .brightness_across = 1, .brightness_down = 1});
}

TEST(Antialias, OfFilesIsPilsByTheOperatorsAndWithinOneStepByTheKernel) {
  const Tensor file = file_tensor(file_of_squares());
  const struct {
    const char* interpolation;
    const std::uint8_t (&pixels)[kSmallHeight * kSmallWidth];
  } cases[] = {{"linear", kLinearByPil}, {"cubic", kCubicByPil}};
  for (const auto& one : cases) {
    const Chain chain{{"decode", {}},
                      {"resize",
                       {{"size", list({kSmallHeight, kSmallWidth})},
                        {"interpolation", text(one.interpolation)},
                        {"antialias", flag(true)}}}};
    const std::vector<detail::ChainLink> links = links_of(chain);
    ASSERT_EQ(links.front().op->replace(links).size(), 1U) << "no kernel takes the chain";
    const Tensor plain = plain_image(chain, file);
    const Tensor kernel = kernel_image(chain, file);
    for (std::int64_t i = 0; i < plain.shape().elements(); ++i) {
      const int expected = one.pixels[i / 3];
      ASSERT_EQ(plain.data<std::uint8_t>()[i], expected) << one.interpolation << " at " << i;
      ASSERT_NEAR(kernel.data<std::uint8_t>()[i], expected, 1) << one.interpolation << " at " << i;
    }
  }
}

TEST(Antialias, OfOtherTypesIsTheSameWithoutRoundingInBetween) {
  const Tensor bytes = formula_picture();
  Tensor floats(bytes.shape(), DType::f32);
  Tensor words(bytes.shape(), DType::u16);
  for (std::int64_t i = 0; i < bytes.shape().elements(); ++i) {
    floats.data<float>()[i] = bytes.data<std::uint8_t>()[i];
    words.data<std::uint16_t>()[i] =
        static_cast<std::uint16_t>(bytes.data<std::uint8_t>()[i] * 257);
  }
  const Written written{{"size", list({17, 23})}, {"antialias", flag(true)}};
  const SampleMap resize = make_operator("resize", written);
  const Tensor as_bytes = apply_to_image(resize, bytes);
  const Tensor as_floats = apply_to_image(resize, floats);
  const Tensor as_words = apply_to_image(resize, words);
  for (std::int64_t i = 0; i < as_bytes.shape().elements(); ++i) {
    ASSERT_NEAR(as_floats.data<float>()[i], as_bytes.data<std::uint8_t>()[i], 1.01);
    ASSERT_NEAR(as_words.data<std::uint16_t>()[i] / 257.0, as_floats.data<float>()[i], 0.01);
  }
}

TEST(Antialias, GoesWithLinearAndCubicAlone) {
  for (const char* interpolation : {"nearest", "area"})
    EXPECT_THAT(failure_of([&] {
                  (void)make_operator("resize", {{"size", whole(8)},
                                                 {"interpolation", text(interpolation)},
                                                 {"antialias", flag(true)}});
                }),
                testing::HasSubstr("it goes with `interpolation: linear` or `cubic`"));
}

}  // namespace
}  // namespace weir::test
