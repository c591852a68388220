#include "policies/consumer_estimator.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace weir::detail {
namespace {

// A consumer with a service time and a wait for each item.
class ConsumerEstimatorTest : public testing::Test {
 protected:
  LoaderObservation take(int items, double service, double wait, double window) {
    const ConsumerSnapshot before = now_;
    now_.items += static_cast<std::uint64_t>(items);
    now_.service_seconds += items * service;
    now_.service_seconds_squared += items * service * service;
    now_.wait_seconds += items * wait;
    time_ += window;
    return estimator_.add(before, now_, window, time_);
  }

  ConsumerEstimator estimator_{PolicySettings{}};
  ConsumerSnapshot now_;
  double time_ = 0;
};

TEST_F(ConsumerEstimatorTest, RateFollowsFromTheServiceAloneHoweverLongItWaits) {
  LoaderObservation seen;
  for (int i = 0; i < 20; ++i) seen = take(2, 18e-3, 72e-3, 0.18);
  EXPECT_NEAR(seen.present_per_second, 1 / 18e-3, 2);
  EXPECT_NEAR(seen.wait_share, 0.8, 1e-6);
  EXPECT_NEAR(seen.items_per_second, 2 / 0.18, 1e-6);
  EXPECT_EQ(seen.held_seconds, 0);
}

TEST_F(ConsumerEstimatorTest, PeakIsRememberedForTheShrinkMemory) {
  for (int i = 0; i < 20; ++i) (void)take(10, 10e-3, 0, 0.1);
  LoaderObservation seen;
  for (int i = 0; i < 100; ++i) seen = take(5, 20e-3, 0, 0.1);
  EXPECT_NEAR(seen.present_per_second, 50, 1);
  EXPECT_GT(seen.peak_per_second, 90);
  for (int i = 0; i < 100; ++i) seen = take(5, 20e-3, 0, 0.1);
  EXPECT_NEAR(seen.peak_per_second, 50, 2);
}

TEST_F(ConsumerEstimatorTest, TakingAtOnceIsNoLimit) {
  LoaderObservation seen;
  for (int i = 0; i < 5; ++i) seen = take(10, 0, 10e-3, 0.1);
  EXPECT_TRUE(std::isinf(seen.present_per_second));
}

TEST_F(ConsumerEstimatorTest, HeldTimeAddsUpAndEndsWithAWait) {
  LoaderObservation seen;
  for (int i = 0; i < 6; ++i) seen = take(10, 10e-3, 0, 0.1);
  EXPECT_NEAR(seen.held_seconds, 0.6, 1e-9);
  EXPECT_EQ(take(5, 10e-3, 10e-3, 0.1).held_seconds, 0);
}

TEST_F(ConsumerEstimatorTest, PauseIsNoticedAndItsServiceLeftOut) {
  for (int i = 0; i < 10; ++i) (void)take(10, 10e-3, 0, 0.1);
  LoaderObservation seen;
  for (int i = 0; i < 5; ++i) seen = take(0, 0, 0, 0.1);
  EXPECT_TRUE(seen.paused);
  seen = take(1, 5.0, 0, 0.1);
  EXPECT_FALSE(seen.paused);
  EXPECT_NEAR(seen.service_seconds, 10e-3, 1e-3);
}

TEST_F(ConsumerEstimatorTest, WaitingIsNoPause) {
  for (int i = 0; i < 10; ++i) (void)take(10, 10e-3, 0, 0.1);
  now_.waiting = true;
  LoaderObservation seen;
  for (int i = 0; i < 20; ++i) seen = take(0, 0, 0, 0.1);
  EXPECT_FALSE(seen.paused);
  EXPECT_TRUE(seen.asked);
}

}  // namespace
}  // namespace weir::detail
