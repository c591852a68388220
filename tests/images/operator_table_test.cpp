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
  EXPECT_THAT(names, testing::ElementsAre(
                         "center_crop", "color_jitter", "decode", "emulate", "hwc_to_chw",
                         "normalize", "one_hot", "pad", "random_crop", "random_horizontal_flip",
                         "random_resized_crop", "random_vertical_flip", "resize", "to_float"));
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
