#include <algorithm>
#include <cmath>
#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <weir/batch_operators.hpp>
#include <weir/error.hpp>

#include "pipeline/operators/batch_mixing.hpp"
#include "tests/images/operator_call.hpp"
#include "tests/images/pictures.hpp"

namespace weir::test {
namespace {

using testing::HasSubstr;

constexpr std::int64_t kRows = 4;
constexpr std::int64_t kHeight = 20;
constexpr std::int64_t kWidth = 30;
constexpr std::int64_t kPixels = kHeight * kWidth;

/// Four pictures, channels first, each even: row r holds 10 * (r + 1); labels 0 to 3.
template <class T>
Batch<Sample> even_batch() {
  Batch<Sample> batch;
  batch.begin_rows(0, kRows);
  Tensor images({kRows, 3, kHeight, kWidth}, dtype_of<T>());
  Tensor labels({kRows}, DType::i64);
  for (std::int64_t r = 0; r < kRows; ++r) {
    batch.add_row({.id = static_cast<std::uint64_t>(r), .label = static_cast<std::int32_t>(r)});
    std::fill_n(images.data<T>() + r * 3 * kPixels, 3 * kPixels, static_cast<T>(10 * (r + 1)));
    labels.data<std::int64_t>()[r] = r;
  }
  batch.storage().set("image", std::move(images));
  batch.storage().set("label", std::move(labels));
  return batch;
}

Batch<Sample> mixed(const BatchMap& op, Batch<Sample> batch, std::uint64_t id = 0) {
  SampleInfo info;
  info.sample_id = id;
  Context context(1, 3, info, 0, {});
  return op(std::move(batch), context);
}

double own_value(std::int64_t row) { return 10.0 * static_cast<double>(row + 1); }
double value_before(std::int64_t row) { return own_value((row + kRows - 1) % kRows); }

/// The share of the own label; checks that the rest is the label of the row before.
double share_in(const Batch<Sample>& batch, std::int64_t row, std::int64_t classes) {
  const float* labels = batch["label"].data<float>() + row * classes;
  const std::int64_t before = (row + kRows - 1) % kRows;
  for (std::int64_t c = 0; c < classes; ++c) {
    if (c == row || c == before) continue;
    EXPECT_EQ(labels[c], 0.0F);
  }
  EXPECT_NEAR(labels[row] + labels[before], 1.0, 1e-6);
  return labels[row];
}

TEST(Mixup, MixesEachRowWithTheOneBeforeAndTheLabelsAlike) {
  const BatchMap op = mixup({.alpha = 0.8, .classes = 7});
  double least = 1;
  double most = 0;
  for (std::uint64_t id = 0; id < 50; ++id) {
    const Batch<Sample> batch = mixed(op, even_batch<float>(), id);
    ASSERT_EQ(batch["label"].shape(), (Shape{kRows, 7}));
    const double share = share_in(batch, 0, 7);
    for (std::int64_t r = 0; r < kRows; ++r) {
      ASSERT_NEAR(share_in(batch, r, 7), share, 1e-6);
      for (std::int64_t i = 0; i < 3 * kPixels; ++i)
        ASSERT_NEAR(batch["image"].data<float>()[r * 3 * kPixels + i],
                    share * own_value(r) + (1 - share) * value_before(r), 1e-4);
    }
    least = std::min(least, share);
    most = std::max(most, share);
  }
  EXPECT_LT(least, 0.1);
  EXPECT_GT(most, 0.9);
}

TEST(Mixup, RoundsBytes) {
  const BatchMap op = mixup({.classes = 4});
  for (std::uint64_t id = 0; id < 20; ++id) {
    const Batch<Sample> bytes = mixed(op, even_batch<std::uint8_t>(), id);
    const double share = share_in(bytes, 0, 4);
    for (std::int64_t r = 0; r < kRows; ++r)
      EXPECT_NEAR(bytes["image"].data<std::uint8_t>()[r * 3 * kPixels],
                  share * own_value(r) + (1 - share) * value_before(r), 0.5001);
  }
}

TEST(Cutmix, PutsOneBoxIntoEachRowAndMixesLabelsByWhatIsLeft) {
  const BatchMap op = cutmix({.classes = 4});
  int with_box = 0;
  for (std::uint64_t id = 0; id < 60; ++id) {
    const Batch<Sample> batch = mixed(op, even_batch<float>(), id);
    const float* images = batch["image"].data<float>();
    std::int64_t top = kHeight, left = kWidth, bottom = -1, right = -1, count = 0;
    for (std::int64_t y = 0; y < kHeight; ++y)
      for (std::int64_t x = 0; x < kWidth; ++x) {
        if (images[y * kWidth + x] == own_value(0)) continue;
        top = std::min(top, y);
        left = std::min(left, x);
        bottom = std::max(bottom, y);
        right = std::max(right, x);
        ++count;
      }
    ASSERT_EQ(count, count == 0 ? 0 : (bottom - top + 1) * (right - left + 1));
    with_box += count > 0 ? 1 : 0;
    for (std::int64_t r = 0; r < kRows; ++r) {
      ASSERT_NEAR(share_in(batch, r, 4), 1.0 - static_cast<double>(count) / kPixels, 2e-5);
      for (std::int64_t i = 0; i < 3 * kPixels; ++i) {
        const std::int64_t y = i % kPixels / kWidth;
        const std::int64_t x = i % kWidth;
        const bool inside = y >= top && y <= bottom && x >= left && x <= right;
        ASSERT_EQ(images[r * 3 * kPixels + i], inside ? value_before(r) : own_value(r));
      }
    }
  }
  EXPECT_GT(with_box, 50);
}

TEST(Cutmix, KnowsChannelsLast) {
  Batch<Sample> batch = even_batch<std::uint8_t>();
  Tensor& images = batch.storage()["image"];
  images = images.reshaped({kRows, kHeight, kWidth, 3});
  const Batch<Sample> result = mixed(cutmix({.classes = 4}), std::move(batch), 7);
  const std::uint8_t* values = result["image"].data<std::uint8_t>();
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < kPixels; ++i) {
    count += values[3 * i] != 10 ? 1 : 0;
    ASSERT_TRUE(values[3 * i] == values[3 * i + 1] && values[3 * i] == values[3 * i + 2]);
  }
  EXPECT_GT(count, 0);
  EXPECT_NEAR(share_in(result, 0, 4), 1.0 - static_cast<double>(count) / kPixels, 2e-5);
}

TEST(MixupOrCutmix, DoesOneOfThemAsOftenAsTold) {
  const BatchMap op = mixup_or_cutmix({.cutmix_share = 0.3, .probability = 0.8, .classes = 4});
  int cut = 0;
  int blended = 0;
  constexpr int kItems = 400;
  for (std::uint64_t id = 0; id < kItems; ++id) {
    const Batch<Sample> batch = mixed(op, even_batch<float>(), id);
    bool exchanged = false;
    bool between = false;
    for (std::int64_t i = 0; i < kPixels; ++i) {
      const float value = batch["image"].data<float>()[i];
      exchanged = exchanged || value == value_before(0);
      between = between || (value != value_before(0) && value != own_value(0));
    }
    ASSERT_FALSE(exchanged && between);
    cut += exchanged ? 1 : 0;
    blended += between ? 1 : 0;
  }
  // A box without a pixel is no cut that could be seen; few are.
  EXPECT_NEAR(cut, 0.8 * 0.3 * kItems, 40);
  EXPECT_NEAR(blended, 0.8 * 0.7 * kItems, 40);
}

TEST(Mixing, TakesSoftLabelsAsTheyAre) {
  Batch<Sample> batch = even_batch<float>();
  Tensor soft({kRows, 2}, DType::f32);
  for (std::int64_t r = 0; r < kRows; ++r) {
    soft.data<float>()[2 * r] = 0.25F * static_cast<float>(r);
    soft.data<float>()[2 * r + 1] = 1.0F - 0.25F * static_cast<float>(r);
  }
  batch.storage().set("label", std::move(soft));
  const Batch<Sample> result = mixed(mixup(), std::move(batch));
  const double share =
      (result["image"].data<float>()[0] - value_before(0)) / (own_value(0) - value_before(0));
  for (std::int64_t r = 0; r < kRows; ++r) {
    const double own = 0.25 * static_cast<double>(r);
    const double before = 0.25 * static_cast<double>((r + kRows - 1) % kRows);
    EXPECT_NEAR(result["label"].data<float>()[2 * r], share * own + (1 - share) * before, 1e-4);
  }
}

TEST(Mixing, MakesSoftLabelsEvenWhenNothingIsMixed) {
  const Batch<Sample> batch = mixed(cutmix({.probability = 0, .classes = 5}), even_batch<float>());
  for (std::int64_t r = 0; r < kRows; ++r) {
    EXPECT_EQ(share_in(batch, r, 5), 1.0);
    EXPECT_EQ(batch["image"].data<float>()[r * 3 * kPixels], own_value(r));
  }
}

TEST(Mixing, LeavesMemoryAloneThatOthersSee) {
  Batch<Sample> batch = even_batch<float>();
  const Tensor other = batch["image"].share();
  const Batch<Sample> result = mixed(mixup({.classes = 4}), std::move(batch));
  EXPECT_EQ(other.data<float>()[0], 10.0F);
  EXPECT_NE(result["image"].data<float>()[0], 10.0F);
}

TEST(Mixing, RefusesLabelsThatCannotBeMixed) {
  EXPECT_THAT(failure_of([] { (void)mixed(mixup(), even_batch<float>()); }),
              HasSubstr("give `classes`, or put `one_hot` before `batch`"));
  EXPECT_THAT(failure_of([] { (void)mixed(mixup({.classes = 3}), even_batch<float>()); }),
              HasSubstr("sample 3 has label 3, which is outside 0 to 2"));
  EXPECT_THAT(failure_of([] {
                (void)mixed(mixup({.classes = 3, .labels = "target"}), even_batch<float>());
              }),
              HasSubstr("the batch has no column 'target'"));
  EXPECT_THAT(failure_of([] { (void)mixup({.alpha = 0}); }), HasSubstr("must be a number from"));
}

TEST(Mixing, TakesTheLabelsBesideTheRowsWhereThereIsNoColumn) {
  Batch<Sample> batch = even_batch<float>();
  batch.storage().erase("label");
  const Batch<Sample> result = mixed(mixup({.probability = 0, .classes = 4}), std::move(batch));
  for (std::int64_t r = 0; r < kRows; ++r) EXPECT_EQ(share_in(result, r, 4), 1.0);
}

/// Mean and variance of Beta(a, a): 1/2 and 1 / (4 (2 a + 1)); half of the draws on either side.
TEST(DrawnShare, HasTheMomentsOfTheBetaDistribution) {
  for (const double alpha : {0.05, 0.2, 1.0, 1.5, 8.0}) {
    constexpr int kDraws = 20000;
    Random random(11, 3);
    double sum = 0;
    double squares = 0;
    double fourth = 0;
    for (int i = 0; i < kDraws; ++i) {
      const double share = detail::drawn_share(alpha, random);
      ASSERT_GE(share, 0.0);
      ASSERT_LE(share, 1.0);
      const double from_middle = share - 0.5;
      sum += from_middle;
      squares += from_middle * from_middle;
      fourth += std::pow(from_middle, 4);
    }
    const double variance = 1 / (4 * (2 * alpha + 1));
    // The fourth moment tells the shape: 3 v^2 (2 a + 1) / (2 a + 3).
    const double kurtosis = 3 * variance * variance * (2 * alpha + 1) / (2 * alpha + 3);
    EXPECT_NEAR(sum / kDraws, 0, 5 * std::sqrt(variance / kDraws)) << alpha;
    EXPECT_NEAR(squares / kDraws, variance, 0.04 * variance) << alpha;
    EXPECT_NEAR(fourth / kDraws, kurtosis, 0.08 * kurtosis) << alpha;
  }
}

}  // namespace
}  // namespace weir::test
