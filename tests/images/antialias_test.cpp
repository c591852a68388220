#include <cstdint>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <weir/error.hpp>

#include "pipeline/operators/raster.hpp"
#include "tests/images/operator_call.hpp"
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
