#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <weir/error.hpp>

#include "tests/images/operator_call.hpp"
#include "tests/images/pictures.hpp"

namespace weir::test {
namespace {

using testing::HasSubstr;

const std::array<double, 3> kMean{0.485, 0.456, 0.406};
const std::array<double, 3> kDeviation{0.229, 0.224, 0.225};

Written imagenet() {
  return {{"mean", list({kMean.begin(), kMean.end()})},
          {"std", list({kDeviation.begin(), kDeviation.end()})}};
}

TEST(ToFloat, DividesByTheLargestValue) {
  const Tensor image = picture(9, 7);
  const Tensor unit = apply_to_image(make_operator("to_float"), image);
  const Tensor kept = apply_to_image(make_operator("to_float", {{"scale", text("none")}}), image);
  ASSERT_EQ(unit.dtype(), DType::f32);
  for (int i = 0; i < 9 * 7 * 3; ++i) {
    ASSERT_EQ(unit.data<float>()[i], static_cast<float>(image.data<std::uint8_t>()[i]) / 255.0F);
    ASSERT_EQ(kept.data<float>()[i], static_cast<float>(image.data<std::uint8_t>()[i]));
  }
  Tensor deep({1, 2, 1}, DType::u16);
  deep.data<std::uint16_t>()[0] = 65535;
  deep.data<std::uint16_t>()[1] = 13107;
  EXPECT_EQ(apply_to_image(make_operator("to_float"), deep).data<float>()[0], 1.0F);
  EXPECT_FLOAT_EQ(apply_to_image(make_operator("to_float"), deep).data<float>()[1], 0.2F);
  // Twice is as once.
  EXPECT_EQ(apply_to_image(make_operator("to_float"), unit).data<float>()[3],
            unit.data<float>()[3]);
}

TEST(Normalize, ScalesBytesFirst) {
  const Tensor image = picture(9, 7);
  const Tensor result = apply_to_image(make_operator("normalize", imagenet()), image);
  for (int i = 0; i < 9 * 7; ++i) {
    for (std::size_t c = 0; c < 3; ++c) {
      const double expected =
          (image.data<std::uint8_t>()[i * 3 + static_cast<int>(c)] / 255.0 - kMean[c]) /
          kDeviation[c];
      ASSERT_NEAR(result.data<float>()[i * 3 + static_cast<int>(c)], expected, 1e-6);
    }
  }
  Written unscaled{{"mean", number(127.5)}, {"std", number(2)}, {"scale", text("none")}};
  const Tensor raw = apply_to_image(make_operator("normalize", unscaled), image);
  EXPECT_EQ(raw.data<float>()[4],
            (static_cast<float>(image.data<std::uint8_t>()[4]) - 127.5F) / 2.0F);
}

TEST(Normalize, GivesTheSameWhateverTheOrderWithItsNeighbours) {
  const Tensor image = picture(6, 5);
  const SampleMap normalize = make_operator("normalize", imagenet());
  const SampleMap to_chw = make_operator("hwc_to_chw");
  const SampleMap to_float = make_operator("to_float");
  const Tensor a = apply_to_image(to_chw, apply_to_image(normalize, image));
  const Tensor b = apply_to_image(normalize, apply_to_image(to_chw, image));
  const Tensor c =
      apply_to_image(normalize, apply_to_image(to_chw, apply_to_image(to_float, image)));
  ASSERT_EQ(b.shape(), (Shape{3, 6, 5}));
  EXPECT_EQ(std::memcmp(a.bytes(), b.bytes(), a.size_bytes()), 0);
  EXPECT_EQ(std::memcmp(a.bytes(), c.bytes(), a.size_bytes()), 0);
}

TEST(Normalize, WorksInPlaceOnFloatsOfItsOwnOnly) {
  Tensor image = apply_to_image(make_operator("to_float"), picture(4, 4));
  const Tensor shared = image.share();
  const float before = shared.data<float>()[0];
  Sample result = apply(make_operator("normalize", imagenet()), sample_of(std::move(image)));
  EXPECT_EQ(shared.data<float>()[0], before);
  const std::byte* memory = result["image"].bytes();
  const Sample again = apply(make_operator("normalize", imagenet()), std::move(result));
  EXPECT_EQ(again["image"].bytes(), memory);
}

TEST(Normalize, ChecksChannelsAndEntries) {
  EXPECT_THAT(failure_of([] {
                (void)make_operator("normalize", {{"mean", list({1, 2, 3})}, {"std", number(1)}});
              }),
              HasSubstr("it has 1 entries but `mean` has 3"));
  EXPECT_THAT(failure_of([] {
                (void)make_operator("normalize", {{"mean", number(0)}, {"std", whole(0)}});
              }),
              HasSubstr("'std' is 0"));
  EXPECT_THAT(failure_of([] {
                (void)apply_to_image(make_operator("normalize", imagenet()), picture(4, 4, 1));
              }),
              HasSubstr("needed is an image of 3 channels"));
  EXPECT_THAT(
      failure_of([] {
        (void)apply_to_image(make_operator("normalize", imagenet()), Tensor({4, 4, 3}, DType::i64));
      }),
      HasSubstr("holds i64, needed are u8, u16 or f32"));
}

Tensor label(std::int64_t value) {
  Tensor tensor(Shape{}, DType::i64);
  *tensor.data<std::int64_t>() = value;
  return tensor;
}

TEST(OneHot, PutsAOneAtTheLabel) {
  Sample sample;
  sample.set("label", label(3));
  const Sample result = apply(make_operator("one_hot", {{"classes", whole(5)}}), std::move(sample));
  ASSERT_EQ(result["label"].shape(), (Shape{5}));
  for (int i = 0; i < 5; ++i) EXPECT_EQ(result["label"].data<float>()[i], i == 3 ? 1.0F : 0.0F);
}

TEST(OneHot, TakesTheLabelBesideTheSample) {
  const Sample result =
      apply(make_operator("one_hot", {{"classes", whole(5)}}), Sample(), {.label = 4});
  EXPECT_EQ(result["label"].data<float>()[4], 1.0F);
}

TEST(OneHot, NamesLabelsThatAreNone) {
  const SampleMap op = make_operator("one_hot", {{"classes", whole(5)}});
  const auto with = [&](std::int64_t value) {
    return failure_of([&] {
      Sample sample;
      sample.set("label", label(value));
      (void)apply(op, std::move(sample));
    });
  };
  EXPECT_EQ(with(5), "label 5 is outside 0 to 4");
  EXPECT_EQ(with(-1), "the sample has no label");
  EXPECT_EQ(failure_of([&] { (void)apply(op, Sample()); }), "the sample has no label");
  EXPECT_THAT(failure_of([&] {
                (void)apply(make_operator("one_hot", {{"classes", whole(5)}}, {"image"}),
                            sample_of(picture(2, 2)));
              }),
              HasSubstr("needed is one i64, a class number"));
}

}  // namespace
}  // namespace weir::test
