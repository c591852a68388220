#include "policies/hill_climb_policy.hpp"
#include "policies/wave_climber.hpp"

#include "tests/policies/policy_drive.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace weir::detail {
namespace {

using test::known_line;
using test::put_in_force;
using test::targets_of;
using testing::ElementsAre;

/// Samples of 100 ms of a pool that gives so many items a second with so many workers.
template <class Rate>
int climb(WaveClimber& climber, int workers, int samples, Rate rate) {
  for (int i = 0; i < samples; ++i) workers = climber.add(workers, 0.1, 0.1 * rate(workers));
  return workers;
}

TEST(WaveClimber, SwingsInWavesOfFourSamples) {
  WaveClimber climber(1, 16);
  std::vector<int> workers{8};
  for (int i = 0; i < 8; ++i) workers.push_back(climber.add(workers.back(), 0.1, 1000));
  EXPECT_THAT(workers, ElementsAre(8, 8, 9, 9, 8, 8, 9, 9, 8));
}

TEST(WaveClimber, ClimbsWhileWorkersPay) {
  WaveClimber climber(1, 32);
  const int workers = climb(climber, 4, 200, [](int n) { return 1000.0 * n; });
  EXPECT_GE(workers, 31);
  EXPECT_LE(workers, 32);
}

TEST(WaveClimber, ClimbsAtMostFourWorkersASecond) {
  WaveClimber climber(1, 100);
  (void)climb(climber, 4, 60, [](int n) { return 1000.0 * n; });
  EXPECT_GT(climber.setting(), 4 + 0.45 * 4 * 5);  // it begins after nine samples
  EXPECT_LE(climber.setting(), 4 + 4 * 6);
}

TEST(WaveClimber, GoesDownSlowlyWhereWorkersBringNothing) {
  WaveClimber climber(1, 16);
  (void)climb(climber, 8, 100, [](int) { return 8000.0; });
  // The wanted gain of 0.15, squared, times four workers a second.
  EXPECT_NEAR(climber.setting(), 8 - 0.15 * 0.15 * 4 * 9.1, 0.05);
}

TEST(WaveClimber, RestsNearTheKnee) {
  WaveClimber climber(1, 32);
  (void)climb(climber, 4, 400, [](int n) { return 1000.0 * std::min(n, 12); });
  EXPECT_NEAR(climber.setting(), 12, 1.5);
}

TEST(WaveClimber, GoesDownAtOnceWhereWorkersHurt) {
  WaveClimber climber(1, 32);
  (void)climb(climber, 24, 200, [](int n) { return 1000.0 * std::min(1.0 * n, 30 - 0.8 * n); });
  EXPECT_LT(climber.setting(), 19);
}

TEST(WaveClimber, NeverLeavesItsLimits) {
  WaveClimber climber(2, 5);
  int workers = 5;
  for (int i = 0; i < 300; ++i) {
    workers = climber.add(workers, 0.1, i % 2 == 0 ? 500 : 1500);
    EXPECT_GE(workers, 2);
    EXPECT_LE(workers, 5);
  }
  WaveClimber alone(1, 1);
  EXPECT_EQ(climb(alone, 1, 50, [](int) { return 100.0; }), 1);
}

TEST(WaveClimber, ThinSamplesArePutTogether) {
  WaveClimber thin(1, 16);
  WaveClimber whole(1, 16);
  // Seven items may be counted wrong: of 47 items that is too much.
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(thin.add(8, 0.05, 46), i == 0 ? whole.add(8, 0.05, 46) : 8);
    if (i == 0) continue;
    const int next = thin.add(8, 0.05, 46);
    EXPECT_EQ(next, whole.add(8, 0.1, 92));
    if (next != 8) break;
  }
}

TEST(WaveClimber, TakesOverWhatSomebodyElseSet) {
  WaveClimber climber(1, 16);
  (void)climber.add(8, 0.1, 1000);
  (void)climber.add(12, 0.1, 1000);
  EXPECT_NEAR(climber.setting(), 12, 1e-9);
}

TEST(WaveClimber, TriesLessOftenWhereTheLeastIsBest) {
  WaveClimber climber(1, 16);
  int workers = 3;
  double patience = 1;
  for (int i = 0; i < 300; ++i) {
    workers = climber.add(workers, 0.1, 100.0 / workers);
    patience = std::max(patience, climber.patience());
  }
  EXPECT_GT(patience, 5);
  EXPECT_LE(patience, 10);
}

TEST(WaveClimber, OutlivesWindowsWithoutItemsAndTime) {
  WaveClimber climber(1, 8);
  int workers = 8;
  for (int i = 0; i < 100; ++i) workers = climber.add(workers, i % 3 == 0 ? 0.0 : 0.1, 0);
  EXPECT_GE(workers, 1);
  EXPECT_LE(workers, 8);
  EXPECT_TRUE(std::isfinite(climber.setting()));
}

TEST(HillClimb, StartsWithAllWorkersSharedFreely) {
  const Observation first = known_line(8, {1e-3, 2e-3, 8e-3});
  HillClimbPolicy policy(false, {});
  const Decision decision = policy.start(first, std::nullopt);
  ASSERT_TRUE(decision.allocation);
  EXPECT_EQ(decision.allocation->active, 8);
  EXPECT_EQ(decision.allocation->stay_slack, Allocation::kUnlimited);
  EXPECT_TRUE(decision.allocation->helping);
  EXPECT_EQ(decision.allocation->stages[0].target, decision.allocation->stages[2].target);
}

TEST(HillClimb, LetsTheUnparkedWorkersSwing) {
  Observation seen = known_line(8, {1e-3, 2e-3, 8e-3});
  HillClimbPolicy policy(false, {});
  put_in_force(policy.start(seen, std::nullopt).allocation, seen);
  int fewest = 8;
  for (int i = 0; i < 100; ++i) {
    for (StageObservation& stage : seen.stages) stage.items_per_second = 90.0 * seen.active;
    put_in_force(policy.decide(seen).allocation, seen);
    fewest = std::min(fewest, seen.active);
    seen.time_seconds += seen.window_seconds;
  }
  EXPECT_EQ(fewest, 7);  // of all workers the wave takes one away, and more would pay
}

TEST(HillClimb, CountsTheItemsOfTheCostliestStage) {
  std::vector<int> swings[2];
  for (const bool cheap_one_is_unsteady : {false, true}) {
    Observation seen = known_line(8, {1e-3, 8e-3, 2e-3});
    HillClimbPolicy policy(false, {});
    put_in_force(policy.start(seen, std::nullopt).allocation, seen);
    for (int i = 0; i < 100; ++i) {
      for (StageObservation& stage : seen.stages) stage.items_per_second = 1000;
      if (cheap_one_is_unsteady) seen.stages[0].items_per_second = 5000.0 * (i % 5);
      put_in_force(policy.decide(seen).allocation, seen);
      swings[cheap_one_is_unsteady ? 1 : 0].push_back(seen.active);
    }
  }
  EXPECT_EQ(swings[0], swings[1]);
}

TEST(HillClimb, StrictSharesTheSwingOutEvenly) {
  Observation seen = known_line(8, {1e-3, 2e-3, 8e-3});
  HillClimbPolicy policy(true, {});
  put_in_force(policy.start(seen, std::nullopt).allocation, seen);
  for (int i = 0; i < 40; ++i) {
    EXPECT_TRUE(seen.current.strict);
    const std::vector<double> targets = targets_of(seen.current);
    EXPECT_EQ(std::accumulate(targets.begin(), targets.end(), 0.0), seen.active);
    EXPECT_LE(*std::max_element(targets.begin(), targets.end()) -
                  *std::min_element(targets.begin(), targets.end()),
              1);
    put_in_force(policy.decide(seen).allocation, seen);
  }
}

}  // namespace
}  // namespace weir::detail
