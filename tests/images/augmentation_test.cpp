#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <weir/error.hpp>

#include "pipeline/operators/augmentation.hpp"
#include "tests/images/operator_call.hpp"
#include "tests/images/pictures.hpp"
#include "tests/images/pil_figures.hpp"

namespace weir::test {
namespace {

using detail::Augmentation;
using detail::AugmentationKind;
using testing::HasSubstr;

Sums augmented(const Augmentation& augmentation, const detail::AugmentationLook& look) {
  Sample sample = sample_of(formula_picture());
  SampleInfo info;
  Context context(1, 2, info, 0, {});
  detail::augment(sample, context, {"image"}, augmentation, look);
  return sums_of(sample["image"]);
}

// Made with Pillow 13.0.0, im being the picture of pil_figures.hpp and the matrices those that
// torchvision's affine() gives: im.transform(im.size, Image.AFFINE, matrix, Image.NEAREST,
// fillcolor=(9, 8, 7)) with (1, 0.27, 0, 0, 1, 0), (1, 0, 0, -0.27, 1, 0), (1, 0, 7, 0, 1, 0),
// (1, 0, 0, 0, 1, -5), im.rotate(30, ...), the first also with Image.BILINEAR.
TEST(Augmentation, MovesAsTorchvisionDoesOnPil) {
  const detail::AugmentationLook look{Interpolation::nearest, {9, 8, 7}};
  using Kind = AugmentationKind;
  EXPECT_EQ(augmented({Kind::shear_x, 0.27}, look), (Sums{776775, 604175}));
  EXPECT_EQ(augmented({Kind::shear_y, -0.27}, look), (Sums{708838, 762536}));
  EXPECT_EQ(augmented({Kind::translate_x, -7}, look), (Sums{755100, 14314}));
  EXPECT_EQ(augmented({Kind::translate_y, 5}, look), (Sums{755742, 971826}));
  EXPECT_EQ(augmented({Kind::rotate, 30}, look), (Sums{723230, 595274}));
  EXPECT_EQ(augmented({Kind::shear_x, 0.27}, {Interpolation::linear, {9, 8, 7}}),
            (Sums{773683, 210730}));
}

TEST(Augmentation, ChangesPixelsAsTheSingleOperatorsDo) {
  using Kind = AugmentationKind;
  const detail::AugmentationLook look{Interpolation::nearest, {0}};
  const auto single = [](const std::string& op, const Written& written) {
    return sums_of(apply_to_image(make_operator(op, written), formula_picture()));
  };
  const auto factor = [](double value) { return Written{{"factor", number(value)}}; };
  EXPECT_EQ(augmented({Kind::identity, 0}, look), sums_of(formula_picture()));
  EXPECT_EQ(augmented({Kind::brightness, 0.5}, look), single("adjust_brightness", factor(1.5)));
  EXPECT_EQ(augmented({Kind::saturation, -0.5}, look), single("adjust_saturation", factor(0.5)));
  EXPECT_EQ(augmented({Kind::contrast, 0.75}, look), single("adjust_contrast", factor(1.75)));
  EXPECT_EQ(augmented({Kind::sharpness, -0.25}, look), single("adjust_sharpness", factor(0.75)));
  EXPECT_EQ(augmented({Kind::posterize, 5}, look), single("posterize", {{"bits", whole(5)}}));
  EXPECT_EQ(augmented({Kind::solarize, 99}, look), single("solarize", {{"threshold", whole(99)}}));
  EXPECT_EQ(augmented({Kind::autocontrast, 0}, look), single("autocontrast", {}));
  EXPECT_EQ(augmented({Kind::equalize, 0}, look), single("equalize", {}));
}

struct MagnitudeCase {
  AugmentationKind kind;
  double of_rand;     ///< RandAugment, magnitude 9 of 31, a picture 331 wide
  double of_trivial;  ///< TrivialAugmentWide, bin 15 of 31
};

// The tables of torchvision, in Python: [torch.linspace(0, most, 31)[9]] with most 0.3 for shears,
// 150 / 331 * width for shifts, 30 for turns, 0.9 for factors; 8 - round(9 / (30 / 4));
// linspace(255, 0, 31)[9]. For the wide ones at 15: 0.99, 32, 135, 0.99, 8 - round(15 / (30 / 6)),
// 127.5.
const MagnitudeCase kMagnitudes[] = {
    {AugmentationKind::shear_x, 0.09, 0.495}, {AugmentationKind::translate_x, 45, 16},
    {AugmentationKind::rotate, 9, 67.5},      {AugmentationKind::contrast, 0.27, 0.495},
    {AugmentationKind::posterize, 7, 5},      {AugmentationKind::solarize, 178.5, 127.5}};

TEST(Augmentation, HasTheMagnitudesOfTorchvision) {
  const detail::AugmentationReach rand{.shear = 0.3,
                                       .translate_share = 150.0 / 331.0,
                                       .rotate_degrees = 30,
                                       .factor = 0.9,
                                       .posterize_bits = 4};
  const detail::AugmentationReach trivial{.shear = 0.99,
                                          .translate_pixels = 32,
                                          .rotate_degrees = 135,
                                          .factor = 0.99,
                                          .posterize_bits = 6};
  for (const MagnitudeCase& one : kMagnitudes) {
    std::set<double> signs;
    for (std::uint64_t id = 0; id < 20; ++id) {
      Random random(5, id);
      const double magnitude =
          detail::drawn_augmentation(one.kind, 9, 31, rand, {200, 331, 3}, random).magnitude;
      EXPECT_NEAR(std::abs(magnitude), one.of_rand, 1e-9);
      EXPECT_NEAR(
          std::abs(detail::drawn_augmentation(one.kind, 15, 31, trivial, {200, 331, 3}, random)
                       .magnitude),
          one.of_trivial, 1e-9);
      signs.insert(magnitude < 0 ? -1 : 1);
    }
    const bool has_sign = one.kind < AugmentationKind::posterize;
    EXPECT_EQ(signs.size(), has_sign ? 2U : 1U);
  }
}

TEST(RandAugment, MovesMasksWithTheImageAndKeepsTheirValues) {
  for (const char* name : {"rand_augment", "trivial_augment_wide"}) {
    const SampleMap op =
        make_operator(name, {{"interpolation", text("linear")}}, {"image", "mask"});
    int moved = 0;
    for (std::uint64_t id = 0; id < 60; ++id) {
      Sample sample = sample_of(picture(40, 56));
      Tensor mask({40, 56, 1}, DType::u8);
      for (std::int64_t i = 0; i < 2240; ++i) mask.data<std::uint8_t>()[i] = i % 56 < 28 ? 10 : 200;
      const Sums before = sums_of(mask);
      sample.set("mask", std::move(mask));
      const Sample result = apply(op, std::move(sample), {.sample_id = id});
      for (std::int64_t i = 0; i < 2240; ++i)
        ASSERT_THAT(result["mask"].data<std::uint8_t>()[i], testing::AnyOf(0, 10, 200));
      moved += sums_of(result["mask"]) == before ? 0 : 1;
    }
    EXPECT_GT(moved, 10) << name;
    EXPECT_LT(moved, 60) << name;
  }
}

TEST(RandAugment, DrawsEveryChange) {
  // Of one operation each: as many different results as there are changes of this magnitude, signs
  // counted. Identity, posterize, solarize, autocontrast and equalize have one, the others two.
  const SampleMap op = make_operator("rand_augment", {{"num_ops", whole(1)}});
  const Tensor image = photograph(40, 56);
  std::set<std::pair<std::uint64_t, std::uint64_t>> results;
  for (std::uint64_t id = 0; id < 600; ++id) {
    const Sums sums = sums_of(apply_to_image(op, image, {.sample_id = id}));
    results.insert({sums.sum, sums.weighted});
  }
  EXPECT_LE(results.size(), 23U);
  EXPECT_GE(results.size(), 21U);
}

TEST(RandAugment, RefusesFloatsAndAMagnitudeThatIsNone) {
  EXPECT_THAT(failure_of([] {
                (void)apply_to_image(make_operator("rand_augment"), Tensor({8, 8, 3}, DType::f32));
              }),
              HasSubstr("needed is u8; place the operator before `to_float`"));
  EXPECT_THAT(failure_of([] {
                (void)make_operator("rand_augment", {{"magnitude", whole(31)}});
              }),
              HasSubstr("it counts from 0, and `num_magnitude_bins` is 31"));
}

}  // namespace
}  // namespace weir::test
