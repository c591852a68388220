#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <weir/error.hpp>

#include "tests/images/operator_call.hpp"

namespace weir::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Sample labelled(std::int64_t label) {
  Sample sample;
  sample.set("label", Tensor(Shape{}, DType::i64));
  *sample["label"].data<std::int64_t>() = label;
  return sample;
}

std::int64_t mapped(const SampleMap& op, std::int64_t label) {
  const Sample result = apply(op, labelled(label));
  return *result["label"].data<std::int64_t>();
}

TEST(LabelMap, GivesEachClassItsNewNumber) {
  const SampleMap by_place = make_operator("label_map", {{"to", list({4, 4, 0})}});
  EXPECT_EQ(mapped(by_place, 0), 4);
  EXPECT_EQ(mapped(by_place, 1), 4);
  EXPECT_EQ(mapped(by_place, 2), 0);
  const SampleMap by_name = make_operator(
      "label_map", {{"from", list({7, 30})}, {"to", list({1, 2})}, {"other", whole(255)}});
  EXPECT_EQ(mapped(by_name, 7), 1);
  EXPECT_EQ(mapped(by_name, 30), 2);
  EXPECT_EQ(mapped(by_name, 8), 255);
}

TEST(LabelMap, TakesTheLabelThatTravelsBesideTheSample) {
  const SampleMap op = make_operator("label_map", {{"to", list({3, 5})}});
  const Sample result = apply(op, Sample(), {.label = 1});
  EXPECT_EQ(*result["label"].data<std::int64_t>(), 5);
  EXPECT_EQ(failure_of([&] { (void)apply(op, Sample()); }), "the sample has no label");
}

TEST(LabelMap, ChangesThePixelsOfAMask) {
  Sample sample;
  sample.set("mask", Tensor({2, 3, 1}, DType::u8));
  const std::uint8_t classes[] = {7, 7, 8, 11, 7, 0};
  std::copy_n(classes, 6, sample["mask"].data<std::uint8_t>());
  const SampleMap op = make_operator(
      "label_map", {{"from", list({7, 8})}, {"to", list({0, 1})}, {"other", whole(255)}}, {"mask"});
  const Sample result = apply(op, std::move(sample));
  const std::uint8_t* values = result["mask"].data<std::uint8_t>();
  EXPECT_THAT(std::vector<int>(values, values + 6), ElementsAre(0, 0, 1, 255, 0, 255));
}

TEST(LabelMap, SaysWhichClassHasNoPlace) {
  const SampleMap op = make_operator("label_map", {{"to", list({3, 5})}});
  EXPECT_EQ(failure_of([&] { (void)apply(op, labelled(2)); }),
            "'label' holds class 2, which the map does not name; give it a place, or `other`");
  Sample sample;
  sample.set("mask", Tensor({1, 1, 1}, DType::u8));
  *sample["mask"].data<std::uint8_t>() = 0;
  EXPECT_THAT(
      failure_of([&] {
        (void)apply(make_operator("label_map", {{"to", whole(300)}}, {"mask"}), std::move(sample));
      }),
      HasSubstr("class 300 does not fit into column 'mask' of u8"));
}

TEST(LabelMap, RefusesAMapThatIsNone) {
  const auto failure = [](const Written& written) {
    return failure_of([&] { (void)make_operator("label_map", written); });
  };
  EXPECT_THAT(failure({{"to", list({1, 2})}, {"from", list({4})}}),
              HasSubstr("it has 2 entries but `from` has 1"));
  EXPECT_THAT(failure({{"to", list({1, 2})}, {"from", list({4, 4})}}),
              HasSubstr("class 4 stands twice"));
  EXPECT_THAT(failure({{"to", number(1.5)}}), HasSubstr("class numbers are whole"));
}

TEST(OneHot, SmoothsAsMindSporeDoes) {
  const SampleMap op =
      make_operator("one_hot", {{"classes", whole(4)}, {"smoothing", number(0.2)}});
  const Sample result = apply(op, labelled(2));
  const float* values = result["label"].data<float>();
  EXPECT_THAT(std::vector<float>(values, values + 4), ElementsAre(0.05F, 0.05F, 0.85F, 0.05F));
}

}  // namespace
}  // namespace weir::test
