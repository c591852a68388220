#include <algorithm>
#include <cmath>
#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <weir/error.hpp>

#include "tests/images/operator_call.hpp"
#include "tests/images/pictures.hpp"
#include "tests/images/pil_figures.hpp"

namespace weir::test {
namespace {

using testing::HasSubstr;

Tensor even(const Shape& shape, std::uint8_t value) {
  Tensor image(shape, DType::u8);
  std::fill_n(image.data<std::uint8_t>(), image.shape().elements(), value);
  return image;
}

/// The box of changed values of one channel in a plane, if it is one full box.
struct Box {
  int top = 1 << 20, left = 1 << 20, bottom = -1, right = -1, pixels = 0;
  [[nodiscard]] bool full() const { return pixels == (bottom - top + 1) * (right - left + 1); }
};
Box box_of(const std::uint8_t* values, int height, int width, int step, std::uint8_t kept) {
  Box box;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      if (values[(y * width + x) * step] == kept) continue;
      box = {std::min(box.top, y), std::min(box.left, x), std::max(box.bottom, y),
             std::max(box.right, x), box.pixels + 1};
    }
  return box;
}

TEST(RandomErasing, HidesOneBoxOfTheToldAreaAndAspect) {
  const Tensor image = even({60, 80, 3}, 100);
  const SampleMap op = make_operator("random_erasing", {{"probability", number(0.6)},
                                                        {"scale", list({0.1, 0.2})},
                                                        {"ratio", list({0.5, 2})},
                                                        {"value", list({1, 2, 3})}});
  int erased = 0;
  double least_ratio = 10;
  double most_ratio = 0;
  constexpr int kItems = 1500;
  for (std::uint64_t id = 0; id < kItems; ++id) {
    const Tensor result = apply_to_image(op, image, {.sample_id = id});
    const std::uint8_t* values = result.data<std::uint8_t>();
    const Box box = box_of(values, 60, 80, 3, 100);
    if (box.pixels == 0) continue;
    ++erased;
    ASSERT_TRUE(box.full());
    for (int c = 0; c < 3; ++c) ASSERT_EQ(values[(box.top * 80 + box.left) * 3 + c], c + 1);
    const double height = box.bottom - box.top + 1;
    const double width = box.right - box.left + 1;
    // Sides are rounded to whole pixels.
    ASSERT_GT((height + 0.5) * (width + 0.5), 0.1 * 4800);
    ASSERT_LT((height - 0.5) * (width - 0.5), 0.2 * 4800);
    least_ratio = std::min(least_ratio, height / width);
    most_ratio = std::max(most_ratio, height / width);
  }
  // Five standard deviations of a binomial; the draws are fixed.
  EXPECT_NEAR(erased, 0.6 * kItems, 5.0 * std::sqrt(kItems * 0.6 * 0.4));
  EXPECT_NEAR(least_ratio, 0.5, 0.04);
  EXPECT_NEAR(most_ratio, 2.0, 0.1);
}

TEST(RandomErasing, HidesTheSameBoxWhateverTheLayoutAndSparesMasks) {
  const SampleMap op =
      make_operator("random_erasing", {{"probability", whole(1)}}, {"image", "planes", "mask"});
  for (std::uint64_t id = 0; id < 20; ++id) {
    Sample sample;
    sample.set("image", even({30, 40, 3}, 9));
    sample.set("planes", even({3, 30, 40}, 9));
    sample.set("mask", even({30, 40, 1}, 9));
    const Sample result = apply(op, std::move(sample), {.sample_id = id});
    const Box last = box_of(result["image"].data<std::uint8_t>(), 30, 40, 3, 9);
    const Box first = box_of(result["planes"].data<std::uint8_t>() + 2400, 30, 40, 1, 9);
    EXPECT_EQ(last.top, first.top);
    EXPECT_EQ(last.left, first.left);
    EXPECT_EQ(last.bottom, first.bottom);
    EXPECT_EQ(last.right, first.right);
    EXPECT_GT(last.pixels, 0);
    EXPECT_EQ(sums_of(result["mask"]), sums_of(even({30, 40, 1}, 9)));
  }
}

TEST(RandomErasing, FillsWithNoiseOfDeviationOne) {
  Tensor image({3, 100, 100}, DType::f32);
  std::fill_n(image.data<float>(), 30000, 77.0F);
  const SampleMap op = make_operator("random_erasing", {{"probability", whole(1)},
                                                        {"scale", list({0.5, 0.5})},
                                                        {"ratio", list({1, 1})},
                                                        {"noise", flag(true)}});
  const Tensor result = apply_to_image(op, image);
  double sum = 0;
  double squares = 0;
  double most = 0;
  int count = 0;
  for (std::int64_t i = 0; i < 30000; ++i) {
    const double value = result.data<float>()[i];
    if (value == 77.0) continue;
    sum += value;
    squares += value * value;
    most = std::max(most, std::abs(value));
    ++count;
  }
  EXPECT_EQ(count, 3 * 71 * 71);
  EXPECT_NEAR(sum / count, 0, 5 / std::sqrt(count));
  EXPECT_NEAR(squares / count, 1, 0.06);
  EXPECT_GT(most, 2.5);
}

TEST(RandomErasing, RefusesWhatIsNoImageAndColumnsOfTwoSizes) {
  const SampleMap op =
      make_operator("random_erasing", {{"probability", whole(1)}}, {"image", "other"});
  Sample sample;
  sample.set("image", even({30, 40, 3}, 9));
  sample.set("other", even({30, 41, 3}, 9));
  EXPECT_THAT(failure_of([&] { (void)apply(op, sample.clone()); }),
              HasSubstr("'other' is 41x30 but the columns before it are 40x30"));
  EXPECT_THAT(
      failure_of([&] { (void)apply_to_image(make_operator("random_erasing"), even({5}, 1)); }),
      HasSubstr("needed are images of 1 to 4 channels"));
}

TEST(Cutout, HidesSquaresThatReachOverTheEdge) {
  const Tensor image = even({20, 24, 3}, 100);
  const SampleMap op = make_operator("cutout", {{"length", whole(8)}, {"value", whole(5)}});
  int at_the_edge = 0;
  for (std::uint64_t id = 0; id < 300; ++id) {
    const Tensor result = apply_to_image(op, image, {.sample_id = id});
    const Box box = box_of(result.data<std::uint8_t>(), 20, 24, 3, 100);
    ASSERT_TRUE(box.full());
    ASSERT_LE(box.bottom - box.top, 7);
    ASSERT_LE(box.right - box.left, 7);
    if (box.pixels < 64) {
      ++at_the_edge;
      ASSERT_TRUE(box.top == 0 || box.left == 0 || box.bottom == 19 || box.right == 23);
    }
  }
  // The middle is any pixel: the share without a cut is (13 / 20) * (17 / 24).
  EXPECT_NEAR(at_the_edge / 300.0, 1 - 13.0 / 20 * 17 / 24, 0.14);
  const Tensor four =
      apply_to_image(make_operator("cutout", {{"length", whole(2)}, {"patches", whole(4)}}), image);
  const auto hidden = std::count(four.data<std::uint8_t>(), four.data<std::uint8_t>() + 1440, 0);
  EXPECT_GT(hidden, 3 * 4);
  EXPECT_LE(hidden, 3 * 16);
}

}  // namespace
}  // namespace weir::test
