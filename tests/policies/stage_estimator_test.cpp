#include "policies/stage_estimator.hpp"

#include <gtest/gtest.h>

#include <random>

namespace weir::detail {
namespace {

StageWindow window(double running, double items, double service, double cv = 0) {
  StageWindow w;
  w.seconds = 0.1;
  w.items_in = w.items_out = w.packets = items;
  w.service_seconds = items * service;
  w.service_seconds_squared = items * service * service * (1 + cv * cv);
  w.running_mean = running;
  w.settled = true;
  return w;
}

TEST(StageEstimator, NothingIsKnownBeforeACompletion) {
  StageEstimator stage{PolicySettings{}};
  EXPECT_FALSE(stage.add(window(1, 0, 0)));
  EXPECT_EQ(stage.estimate().service_seconds, 0);
  EXPECT_FALSE(stage.estimate().trusted);
  EXPECT_EQ(stage.out_per_in(), 0);
}

TEST(StageEstimator, EmptyWindowsAreNoZeros) {
  StageEstimator stage{PolicySettings{}};
  EXPECT_FALSE(stage.add(window(1, 20, 5e-3)));
  for (int i = 0; i < 50; ++i) EXPECT_FALSE(stage.add(window(0, 0, 0)));
  EXPECT_NEAR(stage.estimate().service_seconds, 5e-3, 1e-9);
}

TEST(StageEstimator, TrustNeedsItemsForEachWorker) {
  StageEstimator stage{PolicySettings{}};
  EXPECT_FALSE(stage.add(window(4, 40, 10e-3)));
  EXPECT_FALSE(stage.estimate().trusted);
  EXPECT_FALSE(stage.add(window(4, 40, 10e-3)));
  EXPECT_TRUE(stage.estimate().trusted);
}

TEST(StageEstimator, ErrorShrinksWithItemsAndGrowsWithSpread) {
  StageEstimator steady{PolicySettings{}};
  StageEstimator spread{PolicySettings{}};
  for (int i = 0; i < 20; ++i) {
    EXPECT_FALSE(steady.add(window(1, 50, 2e-3, 0.1)));
    EXPECT_FALSE(spread.add(window(1, 50, 2e-3, 1.0)));
  }
  EXPECT_LT(steady.estimate().relative_error, 0.02);
  EXPECT_NEAR(spread.estimate().relative_error / steady.estimate().relative_error, 10, 0.5);
}

TEST(StageEstimator, ItemsOfOnePacketAreOneObservation) {
  StageEstimator stage{PolicySettings{}};
  StageWindow w = window(1, 3200, 1e-3);
  w.packets = 10;
  EXPECT_FALSE(stage.add(w));
  EXPECT_EQ(stage.estimate().completions, 10u);
}

TEST(StageEstimator, ChangedCostAlarmsAndNoiseDoesNot) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> noise(0, 0.04);  // of a mean of 25 items with cv 0.2
  StageEstimator stage{PolicySettings{}};
  for (int i = 0; i < 1000; ++i)
    ASSERT_FALSE(stage.add(window(1, 25, 4e-3 * (1 + noise(random)), 0.2))) << i;
  int windows = 0;
  while (!stage.add(window(1, 25, 6e-3, 0.2))) ASSERT_LT(++windows, 5);
  stage.restart(window(1, 25, 6e-3));
  EXPECT_NEAR(stage.estimate().service_seconds, 6e-3, 1e-9);
  EXPECT_FALSE(stage.estimate().trusted);
}

TEST(StageEstimator, OneOddWindowIsSuspectButNoDrift) {
  StageEstimator stage{PolicySettings{}};
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(stage.add(window(1, 25, 4e-3)));
  EXPECT_FALSE(stage.add(window(1, 25, 6e-3)));
  EXPECT_TRUE(stage.suspect());
  EXPECT_FALSE(stage.add(window(1, 25, 4e-3)));
  EXPECT_FALSE(stage.add(window(1, 25, 4e-3)));
}

TEST(StageEstimator, AnotherLevelAfterAMoveIsNoDrift) {
  StageEstimator stage{PolicySettings{}};
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(stage.add(window(1, 25, 4e-3)));
  for (int i = 0; i < 20; ++i) {
    StageWindow moved = window(4, 60, 7e-3);
    moved.settled = i > 3;
    EXPECT_FALSE(stage.add(moved)) << i;
  }
  ASSERT_EQ(stage.estimate().levels.size(), 2u);
  EXPECT_NEAR(stage.estimate().levels[1].service_seconds, 7e-3, 1e-9);
}

TEST(StageEstimator, AnotherLevelByItselfIsADrift) {
  StageEstimator stage{PolicySettings{}};
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(stage.add(window(1, 25, 1e-3)));
  int windows = 0;
  while (!stage.add(window(5, 60, 8e-3))) ASSERT_LT(++windows, 5);
}

TEST(StageEstimator, ContendedWindowsTeachNoLevels) {
  StageEstimator stage{PolicySettings{}};
  StageWindow w = window(1, 25, 4e-3);
  w.learn = false;
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(stage.add(w));
  EXPECT_TRUE(stage.estimate().levels.empty());
  EXPECT_NEAR(stage.estimate().service_seconds, 4e-3, 1e-9);
}

TEST(StageEstimator, ChangedSelectivityAlarms) {
  StageEstimator stage{PolicySettings{}};
  StageWindow w = window(1, 100, 1e-3);
  w.items_out = 90;
  for (int i = 0; i < 50; ++i) ASSERT_FALSE(stage.add(w));
  EXPECT_NEAR(stage.out_per_in(), 0.9, 1e-9);
  w.items_out = 10;
  int windows = 0;
  while (!stage.add(w)) ASSERT_LT(++windows, 10);
}

TEST(StageEstimator, BatchesInLumpsDoNotAlarm) {
  StageEstimator stage{PolicySettings{}};
  for (int i = 0; i < 500; ++i) {
    StageWindow w = window(1, 48, 1e-4);
    w.items_out = i % 2 == 0 ? 1 : 2;
    ASSERT_FALSE(stage.add(w)) << i;
  }
  EXPECT_NEAR(stage.out_per_in(), 1.0 / 32, 1e-3);
}

TEST(StageEstimator, StuckItemRaisesTheEstimate) {
  StageEstimator stage{PolicySettings{}};
  EXPECT_FALSE(stage.add(window(1, 20, 5e-3)));
  StageWindow stuck = window(1, 0, 0);
  stuck.oldest_running_seconds = 30;
  EXPECT_FALSE(stage.add(stuck));
  EXPECT_GT(stage.estimate().service_seconds, 1.0);
}

}  // namespace
}  // namespace weir::detail
