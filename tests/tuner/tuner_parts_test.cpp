#include "tuner/time_mean.hpp"
#include "tuner/window_lengths.hpp"

#include "tests/policies/observation_maker.hpp"

#include <gtest/gtest.h>

#include <set>

namespace weir::detail {
namespace {

TEST(TimeMean, WholeAndLastHalf) {
  TimeMean mean;
  double integral = 0;
  for (int t = 0; t <= 100; ++t) {
    mean.add(t, integral);
    integral += t < 50 ? 8 : 4;
  }
  EXPECT_NEAR(mean.whole(), 6, 1e-9);
  EXPECT_NEAR(mean.last_half(), 4, 1e-9);
}

TEST(TimeMean, LongRunsKeepTheirMeans) {
  TimeMean mean;
  for (int t = 0; t <= 100000; ++t) mean.add(t, t < 50000 ? 8.0 * t : 400000 + 4.0 * (t - 50000));
  EXPECT_NEAR(mean.whole(), 6, 1e-6);
  EXPECT_NEAR(mean.last_half(), 4, 0.01);
}

TEST(TimeMean, NothingReadIsNothing) {
  TimeMean mean;
  EXPECT_EQ(mean.whole(), 0);
  mean.add(1, 5);
  EXPECT_EQ(mean.last_half(), 0);
}

class WindowLengthsTest : public testing::Test {
 protected:
  WindowLengthsTest() : seen_(test::known_line(8, {1e-3, 8e-3})) {
    for (StageObservation& stage : seen_.stages) stage.completions = 100;
  }
  double mean_of(double asked, bool changed) {
    WindowLengths lengths(PolicySettings{}, 3);
    double total = 0;
    for (int i = 0; i < 1000; ++i) total += lengths.next(seen_, asked, changed);
    return total / 1000;
  }
  Observation seen_;
};

TEST_F(WindowLengthsTest, JitterIsAQuarterAndSpread) {
  WindowLengths lengths(PolicySettings{}, 3);
  std::set<double> values;
  for (int i = 0; i < 1000; ++i) {
    const double seconds = lengths.next(seen_, 0, false);
    EXPECT_GE(seconds, 0.075);
    EXPECT_LE(seconds, 0.125);
    values.insert(seconds);
  }
  EXPECT_GT(values.size(), 990u);
  EXPECT_LT(*values.begin(), 0.08);
  EXPECT_GT(*values.rbegin(), 0.12);
}

TEST_F(WindowLengthsTest, SameSeedSameLengths) {
  WindowLengths one(PolicySettings{}, 9);
  WindowLengths two(PolicySettings{}, 9);
  WindowLengths other(PolicySettings{}, 10);
  const double first = one.next(seen_, 0, false);
  EXPECT_EQ(first, two.next(seen_, 0, false));
  EXPECT_NE(first, other.next(seen_, 0, false));
}

TEST_F(WindowLengthsTest, SlowStagesStretchTheWindow) {
  seen_.stages[1].completions = 2;  // in 0.1 s
  EXPECT_NEAR(mean_of(0, false), 0.5, 0.01);
  seen_.stages[1].completions = 1;
  seen_.window_seconds = 10;
  EXPECT_NEAR(mean_of(0, false), 2.0, 0.03);
}

TEST_F(WindowLengthsTest, StagesThatDoNotMatterDoNot) {
  seen_.stages[0].estimate.demand_seconds = 1e-6;
  seen_.stages[0].completions = 1;
  EXPECT_NEAR(mean_of(0, false), 0.1, 0.002);
}

TEST_F(WindowLengthsTest, ThePolicyMayLookSooner) {
  EXPECT_NEAR(mean_of(0.05, false), 0.05, 0.001);
}

TEST_F(WindowLengthsTest, AfterAChangeOnlyOldItemsAreWaitedFor) {
  EXPECT_NEAR(mean_of(0, true), 0.05, 0.001);
  seen_.stages[1].estimate.service_seconds = 0.2;
  EXPECT_NEAR(mean_of(0, true), 0.3, 0.01);
}

}  // namespace
}  // namespace weir::detail
