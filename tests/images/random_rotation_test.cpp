#include <cmath>
#include <cstring>
#include <numbers>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <weir/error.hpp>

#include "pipeline/operators/affine.hpp"
#include "tests/images/operator_call.hpp"
#include "tests/images/pictures.hpp"
#include "tests/images/pil_figures.hpp"

namespace weir::test {
namespace {

using testing::HasSubstr;

/// A turn by exactly so much.
SampleMap turn(double degrees, Written written = {}, const std::vector<std::string>& columns = {}) {
  written["degrees"] = list({degrees, degrees});
  return make_operator("random_rotation", written, columns);
}

struct PilTurn {
  double degrees;
  Sums nearest;
  Sums linear;
  Shape expanded_shape;
  Sums expanded;
};

// Made with Pillow 13.0.0, im being the picture of pil_figures.hpp:
//   im.rotate(degrees, Image.NEAREST or Image.BILINEAR, fillcolor=(9, 8, 7));
//   im.rotate(degrees, Image.NEAREST, expand=True)
const PilTurn kPilTurns[] = {
    {0, {857408, 729976}, {857408, 729976}, {40, 56, 3}, {857408, 729976}},
    {30, {723230, 595274}, {722401, 458975}, {64, 70, 3}, {855835, 840587}},
    {-75.5, {647136, 17503}, {644276, 730097}, {66, 54, 3}, {858401, 982770}},
    {90, {626203, 3669}, {626203, 3669}, {56, 40, 3}, {857408, 201888}},
    {180, {857408, 891765}, {857408, 891765}, {40, 56, 3}, {857408, 891765}},
    {137, {686523, 389104}, {684853, 199228}, {68, 70, 3}, {856070, 519850}}};

TEST(RandomRotation, GivesTheBytesOfPil) {
  const Tensor image = formula_picture();
  const Value fill = list({9, 8, 7});
  for (const PilTurn& one : kPilTurns) {
    EXPECT_EQ(sums_of(apply_to_image(turn(one.degrees, {{"fill", fill}}), image)), one.nearest)
        << one.degrees;
    EXPECT_EQ(sums_of(apply_to_image(
                  turn(one.degrees, {{"fill", fill}, {"interpolation", text("linear")}}), image)),
              one.linear)
        << one.degrees;
    const Tensor expanded = apply_to_image(turn(one.degrees, {{"expand", flag(true)}}), image);
    EXPECT_EQ(expanded.shape(), one.expanded_shape) << one.degrees;
    EXPECT_EQ(sums_of(expanded), one.expanded) << one.degrees;
  }
  // im.rotate(20, Image.NEAREST, center=(10, 5))
  EXPECT_EQ(sums_of(apply_to_image(turn(20, {{"center", list({10, 5})}}), image)),
            (Sums{665981, 432297}));
}

TEST(RandomRotation, TurnsFloatsAsItTurnsBytes) {
  const Tensor image = picture(30, 41);
  const Tensor floats = apply_to_image(make_operator("to_float", {{"scale", text("none")}}), image);
  const SampleMap op = turn(33, {{"interpolation", text("linear")}, {"fill", whole(50)}});
  const Tensor bytes = apply_to_image(op, image);
  const Tensor turned = apply_to_image(op, floats);
  // Bytes are cut to whole numbers.
  for (std::int64_t i = 0; i < image.shape().elements(); ++i)
    ASSERT_EQ(std::floor(turned.data<float>()[i] + 1e-4F), bytes.data<std::uint8_t>()[i]) << i;
}

TEST(RandomRotation, TakesTheNearestOfAMaskAndNoFill) {
  Sample sample;
  sample.set("image", formula_picture());
  sample.set("mask", formula_picture());
  const Sample result =
      apply(turn(30, {{"interpolation", text("linear")}, {"fill", whole(200)}}, {"image", "mask"}),
            std::move(sample));
  const Tensor by_nearest = apply_to_image(turn(30), formula_picture());
  EXPECT_EQ(sums_of(result["mask"]), sums_of(by_nearest));
  EXPECT_NE(sums_of(result["image"]), sums_of(by_nearest));
}

TEST(RandomRotation, DrawsBetweenTheBounds) {
  // A lone point right of the middle shows the angle.
  Tensor point({101, 101, 1}, DType::u8);
  std::fill_n(point.data<std::uint8_t>(), 101 * 101, std::uint8_t{0});
  for (int y = 49; y <= 51; ++y)
    for (int x = 89; x <= 91; ++x) point.data<std::uint8_t>()[y * 101 + x] = 255;
  const SampleMap op = make_operator("random_rotation", {{"degrees", list({-20, 50})}});
  double least = 360;
  double most = -360;
  for (std::uint64_t id = 0; id < 300; ++id) {
    const Tensor turned = apply_to_image(op, point, {.sample_id = id});
    double sum_x = 0;
    double sum_y = 0;
    for (int y = 0; y < 101; ++y)
      for (int x = 0; x < 101; ++x)
        if (turned.data<std::uint8_t>()[y * 101 + x] > 0) {
          sum_x += x - 50;
          sum_y += y - 50;
        }
    const double degrees = std::atan2(-sum_y, sum_x) * 180 / std::numbers::pi;
    least = std::min(least, degrees);
    most = std::max(most, degrees);
  }
  EXPECT_NEAR(least, -20, 2);
  EXPECT_NEAR(most, 50, 2);
}

TEST(RandomRotation, RefusesWrongAngles) {
  const auto failure = [](const Written& written) {
    return failure_of([&] { (void)make_operator("random_rotation", written); });
  };
  EXPECT_THAT(failure({{"degrees", whole(-5)}}), HasSubstr("must not be negative"));
  EXPECT_THAT(failure({{"degrees", list({5, -5})}}), HasSubstr("give one number or [low, high]"));
  EXPECT_THAT(failure({{"degrees", whole(5)}, {"center", whole(3)}}), HasSubstr("give [x, y]"));
  EXPECT_THAT(failure({{"degrees", whole(5)}, {"center", list({3, 3})}, {"expand", flag(true)}}),
              HasSubstr("around its middle"));
}

TEST(Rotation, OfAnyAngleAgreesWithTheCLibrary) {
  for (double degrees = -720; degrees <= 720; degrees += 0.37) {
    const detail::AffineMap map = detail::rotation(degrees, {0, 0});
    const double radians = degrees * std::numbers::pi / 180;
    ASSERT_NEAR(map.a, std::cos(radians), 4e-15) << degrees;
    ASSERT_NEAR(map.d, std::sin(radians), 4e-15) << degrees;
  }
}

}  // namespace
}  // namespace weir::test
