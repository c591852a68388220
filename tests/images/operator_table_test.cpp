#include <algorithm>
#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <weir/error.hpp>
#include <weir/operators.hpp>

#include "machine/nested_pools.hpp"
#include "tests/images/operator_call.hpp"
#include "tests/images/pictures.hpp"

namespace weir::test {
namespace {

TEST(OperatorTable, IsSortedCompleteAndDescribed) {
  std::vector<std::string> names;
  for (const OperatorSpec& spec : operator_table()) {
    names.push_back(spec.name);
    EXPECT_FALSE(spec.summary.empty()) << spec.name;
    for (const ParameterSpec& parameter : spec.parameters) {
      EXPECT_FALSE(parameter.meaning.empty()) << spec.name << " " << parameter.name;
    }
  }
  EXPECT_THAT(
      names,
      testing::ElementsAre(
          "adjust_brightness", "adjust_contrast", "adjust_hue", "adjust_saturation",
          "adjust_sharpness", "autocontrast", "center_crop", "color_jitter", "convert_dtype",
          "cutout", "decode", "emulate", "equalize", "gaussian_blur", "hwc_to_chw", "invert",
          "label_map", "normalize", "one_hot", "pad", "pad_to_size", "posterize", "rand_augment",
          "random_crop", "random_crop_decode_resize", "random_erasing", "random_grayscale",
          "random_horizontal_flip", "random_resized_crop", "random_rotation",
          "random_vertical_flip", "resize", "solarize", "to_float", "trivial_augment_wide"));
  EXPECT_EQ(find_operator("decoed"), nullptr);
}

TEST(OperatorTable, SaysWhichOperatorsAreCheaperJoined) {
  const auto cheap = [](const std::string& name, const Written& written = {}) {
    return make_operator(name, written).op().cheap();
  };
  EXPECT_TRUE(cheap("random_horizontal_flip"));
  EXPECT_TRUE(cheap("random_vertical_flip"));
  EXPECT_TRUE(cheap("to_float"));
  EXPECT_TRUE(cheap("normalize", {{"mean", number(0)}, {"std", number(1)}}));
  EXPECT_TRUE(cheap("hwc_to_chw"));
  EXPECT_TRUE(cheap("one_hot", {{"classes", whole(2)}}));
  EXPECT_TRUE(cheap("center_crop", {{"size", whole(2)}}));
  EXPECT_FALSE(cheap("decode"));
  EXPECT_FALSE(cheap("resize", {{"size", whole(2)}}));
  EXPECT_FALSE(cheap("emulate", {{"cpu", text("1us")}}));
}

TEST(OperatorTable, TellsTheGuardOfThreadPoolsAboutOpenCv) {
  (void)operator_table();
  NestedPools::process().hold();
  EXPECT_THAT(NestedPools::process().held(), testing::Contains("opencv"));
  NestedPools::process().release();
}

TEST(Makers, BuildWhatThePipelineFileBuilds) {
  const Tensor image = picture(40, 50);
  const std::vector<std::pair<SampleMap, SampleMap>> pairs{
      {resize({.size = 20, .interpolation = Interpolation::area}),
       make_operator("resize", {{"size", whole(20)}, {"interpolation", text("area")}})},
      {center_crop({.size = {20, 30}}), make_operator("center_crop", {{"size", list({20, 30})}})},
      {random_crop({.size = 60, .padding = {12, 16}, .fill = {1, 2, 3}}),
       make_operator(
           "random_crop",
           {{"size", whole(60)}, {"padding", list({12, 16})}, {"fill", list({1, 2, 3})}})},
      {random_resized_crop({.size = 20, .scale = {0.3, 0.6}, .ratio = {0.9, 1.1}}),
       make_operator(
           "random_resized_crop",
           {{"size", whole(20)}, {"scale", list({0.3, 0.6})}, {"ratio", list({0.9, 1.1})}})},
      {random_horizontal_flip({.probability = 0.9}),
       make_operator("random_horizontal_flip", {{"probability", number(0.9)}})},
      {random_vertical_flip(), make_operator("random_vertical_flip")},
      {color_jitter({.brightness = 0.3, .hue = {-0.1, 0.2}}),
       make_operator("color_jitter", {{"brightness", number(0.3)}, {"hue", list({-0.1, 0.2})}})},
      {pad({.padding = 3, .mode = BorderMode::reflect}),
       make_operator("pad", {{"padding", whole(3)}, {"mode", text("reflect")}})},
      {to_float({.scale = PixelScale::none}), make_operator("to_float", {{"scale", text("none")}})},
      {normalize({.mean = 0.5, .std = 0.25}),
       make_operator("normalize", {{"mean", number(0.5)}, {"std", number(0.25)}})},
      {hwc_to_chw(), make_operator("hwc_to_chw")}};
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const Tensor a = apply_to_image(pairs[i].first, image, {.sample_id = 4});
    const Tensor b = apply_to_image(pairs[i].second, image, {.sample_id = 4});
    ASSERT_EQ(a.shape(), b.shape()) << i;
    ASSERT_EQ(std::memcmp(a.bytes(), b.bytes(), a.size_bytes()), 0) << i;
  }
  const Tensor file = file_tensor(jpeg_file(picture(8, 8)));
  EXPECT_EQ(apply_to_image(decode({.channels = Channels::grey}), file).shape(), (Shape{8, 8, 1}));
  EXPECT_EQ(apply_to_image(decode(), file).shape(), (Shape{8, 8, 3}));
  Sample sample;
  sample.set("target", Tensor(Shape{}, DType::i64));
  *sample["target"].data<std::int64_t>() = 1;
  EXPECT_EQ(
      apply(one_hot({.classes = 3, .columns = {"target"}}), std::move(sample))["target"].shape(),
      (Shape{3}));
}

TEST(Makers, OfChangesBuildWhatThePipelineFileBuilds) {
  const Tensor image = picture(40, 50);
  const Written factor{{"factor", number(1.7)}};
  const std::vector<std::pair<SampleMap, SampleMap>> pairs{
      {random_grayscale({.probability = 0.7}),
       make_operator("random_grayscale", {{"probability", number(0.7)}})},
      {invert({.probability = 0.5}), make_operator("invert", {{"probability", number(0.5)}})},
      {equalize(), make_operator("equalize")},
      {autocontrast({.cutoff = 0.1}), make_operator("autocontrast", {{"cutoff", number(0.1)}})},
      {solarize({.threshold = 90}), make_operator("solarize", {{"threshold", whole(90)}})},
      {posterize({.bits = 3}), make_operator("posterize", {{"bits", whole(3)}})},
      {adjust_brightness({.factor = 1.7}), make_operator("adjust_brightness", factor)},
      {adjust_contrast({.factor = 1.7}), make_operator("adjust_contrast", factor)},
      {adjust_saturation({.factor = 1.7}), make_operator("adjust_saturation", factor)},
      {adjust_sharpness({.factor = 1.7}), make_operator("adjust_sharpness", factor)},
      {adjust_hue({.turn = 0.2}), make_operator("adjust_hue", {{"turn", number(0.2)}})},
      {gaussian_blur({.kernel_size = {3, 5}, .sigma = 1.2}),
       make_operator("gaussian_blur", {{"kernel_size", list({3, 5})}, {"sigma", number(1.2)}})},
      {random_rotation({.degrees = 30,
                        .interpolation = Interpolation::linear,
                        .center = {4, 5},
                        .fill = {1, 2, 3}}),
       make_operator("random_rotation", {{"degrees", whole(30)},
                                         {"interpolation", text("linear")},
                                         {"center", list({4, 5})},
                                         {"fill", list({1, 2, 3})}})},
      {random_erasing({.probability = 1, .scale = {0.2, 0.3}, .noise = true}),
       make_operator(
           "random_erasing",
           {{"probability", whole(1)}, {"scale", list({0.2, 0.3})}, {"noise", flag(true)}})},
      {random_erasing({.probability = 1}),
       make_operator("random_erasing", {{"probability", whole(1)}})},
      {pad_to_size({.size = {60, 70}, .offset = {5, 6}, .fill = 9}),
       make_operator("pad_to_size",
                     {{"size", list({60, 70})}, {"offset", list({5, 6})}, {"fill", whole(9)}})},
      {cutout({.length = 9, .patches = 2, .value = 7}),
       make_operator("cutout", {{"length", whole(9)}, {"patches", whole(2)}, {"value", whole(7)}})},
      {rand_augment({.num_ops = 3, .fill = 9}),
       make_operator("rand_augment", {{"num_ops", whole(3)}, {"fill", whole(9)}})},
      {rand_augment(), make_operator("rand_augment")},
      {trivial_augment_wide(), make_operator("trivial_augment_wide")},
      {convert_dtype({.dtype = DType::u16, .scale = PixelScale::none}),
       make_operator("convert_dtype", {{"dtype", text("u16")}, {"scale", text("none")}})},
      {label_map({.to = {5, 6}, .other = 9, .columns = {"image"}}),
       make_operator("label_map", {{"to", list({5, 6})}, {"other", whole(9)}}, {"image"})}};
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    for (std::uint64_t id = 0; id < 4; ++id) {
      const Tensor a = apply_to_image(pairs[i].first, image, {.sample_id = id});
      const Tensor b = apply_to_image(pairs[i].second, image, {.sample_id = id});
      ASSERT_EQ(a.shape(), b.shape()) << i;
      ASSERT_EQ(std::memcmp(a.bytes(), b.bytes(), a.size_bytes()), 0) << i;
    }
  }
}

TEST(Makers, TakeTheDefaultsOfThePipelineFile) {
  // A default that differs between the two would show as a different result.
  const Tensor image = picture(40, 50);
  const auto same = [&](const SampleMap& made, const std::string& name, const Written& written) {
    const Tensor a = apply_to_image(made, image);
    const Tensor b = apply_to_image(make_operator(name, written), image);
    return a.shape() == b.shape() && std::memcmp(a.bytes(), b.bytes(), a.size_bytes()) == 0;
  };
  EXPECT_TRUE(same(resize({.size = 20}), "resize", {{"size", whole(20)}}));
  EXPECT_TRUE(same(random_crop({.size = 20}), "random_crop", {{"size", whole(20)}}));
  EXPECT_TRUE(
      same(random_resized_crop({.size = 20}), "random_resized_crop", {{"size", whole(20)}}));
  EXPECT_TRUE(same(random_horizontal_flip(), "random_horizontal_flip", {}));
  EXPECT_TRUE(same(color_jitter({}), "color_jitter", {}));
  EXPECT_TRUE(same(pad({.padding = 2}), "pad", {{"padding", whole(2)}}));
  EXPECT_TRUE(same(to_float(), "to_float", {}));
}

TEST(Makers, RefuseWhatThePipelineFileRefuses) {
  try {
    (void)resize({.size = {}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_EQ(error.where(), "resize");
    EXPECT_THAT(error.what(), testing::HasSubstr("'size' is missing"));
  }
  EXPECT_THAT(failure_of([] { (void)random_horizontal_flip({.probability = 1.5}); }),
              testing::HasSubstr("must be a share from 0 to 1"));
  EXPECT_THAT(failure_of([] { (void)one_hot({}); }), testing::HasSubstr("'classes' is 0"));
}

}  // namespace
}  // namespace weir::test
