#include "policies/tfdata_policy.hpp"
#include "policies/latency_model.hpp"

#include "tests/policies/policy_drive.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <utility>

namespace weir::detail {
namespace {

using test::known_line;
using test::put_in_force;
using test::targets_of;
using testing::ElementsAre;

TEST(LatencyModel, WaitFollowsTheChanceOfAnEmptyBuffer) {
  EXPECT_EQ(expected_wait_seconds(0, 1, 4), 0);
  EXPECT_EQ(expected_wait_seconds(3, 0, 4), 3);
  EXPECT_DOUBLE_EQ(expected_wait_seconds(3, 3, 2), 1);
  // x/y = 1/2, n = 2: p = (1 - 1/2) / (1 - 1/8).
  EXPECT_DOUBLE_EQ(expected_wait_seconds(2, 1, 2), 2 * 0.5 / 0.875);
  // x/y = 2, n = 2: p = (1 - 2) / (1 - 8).
  EXPECT_DOUBLE_EQ(expected_wait_seconds(1, 2, 2), 1.0 / 7);
  EXPECT_NEAR(expected_wait_seconds(1, 1 + 1e-9, 8), 1.0 / 9, 1e-6);
  EXPECT_NEAR(expected_wait_seconds(1, 1 - 1e-9, 8), 1.0 / 9, 1e-6);
  EXPECT_EQ(expected_wait_seconds(1, 1e6, 1000), 0);
  EXPECT_NEAR(expected_wait_seconds(1e6, 1, 1000), 1e6 - 1, 1e-3);
}

TEST(LatencyModel, OutputTimeOfALineByHand) {
  EXPECT_DOUBLE_EQ(output_seconds({{6e-3, 1, 3}}), 2e-3);
  // The first makes one in 4 ms, the second asks every 2 ms and has room for one: it waits
  // 4 ms * (1 - 1/2) / (1 - 1/4).
  EXPECT_DOUBLE_EQ(output_seconds({{4e-3, 1, 1}, {2e-3, 1, 1}}), 2e-3 + 4e-3 * 0.5 / 0.75);
  // A batch of four: four inputs at 1 ms each against one batch in 2 ms, room for 1/4 of a batch.
  EXPECT_DOUBLE_EQ(output_seconds({{1e-3, 1, 1}, {2e-3, 4, 1}}),
                   2e-3 + expected_wait_seconds(4e-3, 2e-3, 0.25));
  EXPECT_DOUBLE_EQ(work_seconds({{1e-3, 1, 1}, {2e-3, 4, 1}}), 6e-3);
}

class TfdataTest : public testing::Test {
 protected:
  void begin(int budget, const std::vector<double>& services, bool strict = false) {
    seen = known_line(budget, services);
    seen.time_seconds = 0;
    for (StageObservation& stage : seen.stages)
      stage.items_out_per_second = stage.items_per_second = 100;
    policy.emplace(strict, PolicySettings{});
  }
  void start() { put_in_force(policy->start(seen, std::nullopt).allocation, seen); }
  Decision look(double seconds = 0.1) {
    seen.window_seconds = seconds;
    seen.time_seconds += seconds;
    Decision decision = policy->decide(seen);
    put_in_force(decision.allocation, seen);
    return decision;
  }

  Observation seen;
  std::optional<TfdataPolicy> policy;
};

TEST_F(TfdataTest, BeginsWithSixteenAStageOnAllWorkers) {
  begin(32, {1e-3, 2e-3});
  const Decision decision = policy->start(seen, std::nullopt);
  EXPECT_THAT(targets_of(*decision.allocation), ElementsAre(16, 16));
  EXPECT_FALSE(decision.allocation->helping);
  begin(8, {1e-3, 2e-3});
  EXPECT_THAT(targets_of(*policy->start(seen, std::nullopt).allocation), ElementsAre(8, 8));
}

TEST_F(TfdataTest, GivesWorkersWhereTheOutputTimeFallsMost) {
  begin(8, {1e-3, 2e-3, 8e-3});
  start();
  (void)look();
  const std::vector<double> targets = targets_of(seen.current);
  EXPECT_GT(targets[2], targets[1]);
  EXPECT_GE(targets[1], targets[0]);
  EXPECT_GE(targets[2], 5);
}

TEST_F(TfdataTest, StopsWhenTheOutputTimeIsTheWorkOverTheCpus) {
  for (const int budget : {4, 8, 16, 64}) {
    begin(budget, {1e-3, 2e-3, 8e-3});
    start();
    (void)look();
    const std::vector<double> targets = targets_of(seen.current);
    std::vector<LatencyNode> line;
    for (std::size_t i = 0; i < 3; ++i)
      line.push_back({seen.stages[i].service_seconds, 1, static_cast<int>(targets[i])});
    EXPECT_LT(output_seconds(line), 11e-3 / budget) << budget;
    EXPECT_LT(targets[0] + targets[1] + targets[2], budget + 3) << budget;
  }
}

// A serial stage at the end that no worker of another stage makes faster.
TEST_F(TfdataTest, OnlyInStrictModeTheSumIsBounded) {
  for (const bool strict : {false, true}) {
    begin(20, {4e-3, 6e-3, 8e-3}, strict);
    seen.stages[2].serial = true;
    start();
    const Decision decision = look();
    ASSERT_TRUE(decision.allocation);
    const std::vector<double> targets = targets_of(*decision.allocation);
    const double sum = targets[0] + targets[1] + targets[2];
    if (strict)
      EXPECT_EQ(sum, 21);
    else
      EXPECT_EQ(sum, 20 + 20 + 1);
    EXPECT_EQ(decision.allocation->active, sum);
  }
}

TEST_F(TfdataTest, EachOptimizationComesAfterTwiceTheTime) {
  begin(8, {1e-3, 2e-3, 8e-3});
  start();
  std::vector<double> times;
  while (seen.time_seconds < 150) {
    const Decision decision = look(0.01);
    if (decision.reason != "the next optimization is not due") times.push_back(seen.time_seconds);
  }
  ASSERT_GE(times.size(), 14u);
  EXPECT_NEAR(times[0], 0.01, 0.011);
  EXPECT_NEAR(times[8] - times[7], 2.56, 0.03);
  EXPECT_NEAR(times.back() - times[times.size() - 2], 60, 0.03);
}

TEST_F(TfdataTest, AveragesTheWorkOverTheWholeRun) {
  begin(16, {1e-3, 9e-3});
  start();
  for (int i = 0; i < 200; ++i) (void)look();
  std::swap(seen.stages[0].service_seconds, seen.stages[1].service_seconds);
  for (int i = 0; i < 50; ++i) (void)look();
  EXPECT_GT(targets_of(seen.current)[1], 2 * targets_of(seen.current)[0]);
  for (int i = 0; i < 3000; ++i) (void)look();
  EXPECT_GT(targets_of(seen.current)[0], targets_of(seen.current)[1]);
}

TEST_F(TfdataTest, LeavesSerialStagesAndThoseSetByHand) {
  begin(16, {2e-3, 9e-3, 3e-3, 9e-3});
  seen.stages[0].serial = true;
  seen.stages[1].fixed_workers = 3;
  seen.stages[3].hand_cap = 2;
  start();
  for (int i = 0; i < 20; ++i) (void)look();
  EXPECT_EQ(seen.current.stages[0].target, 1);
  EXPECT_EQ(seen.current.stages[1].target, 3);
  EXPECT_EQ(seen.current.stages[3].target, 2);
}

TEST_F(TfdataTest, TunesNothingBeforeSomethingCameOut) {
  begin(8, {1e-3, 2e-3});
  for (StageObservation& stage : seen.stages) stage.items_out_per_second = 0;
  start();
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(look().allocation);
}

TEST_F(TfdataTest, EachLoaderIsAModelOfItsOwn) {
  begin(8, {1e-3, 8e-3, 1e-3, 8e-3});
  seen.loaders.push_back(seen.loaders[0]);
  seen.stages[2].loader = seen.stages[3].loader = 1;
  start();
  (void)look();
  const std::vector<double> targets = targets_of(seen.current);
  EXPECT_EQ(targets[0], targets[2]);
  EXPECT_EQ(targets[1], targets[3]);
  EXPECT_GT(targets[1], 4);
}

TEST_F(TfdataTest, MoreStagesThanWorkersAreGroupedInStrictMode) {
  begin(2, {1e-3, 2e-3, 8e-3}, true);
  const Decision decision = policy->start(seen, std::nullopt);
  EXPECT_EQ(decision.allocation->groups, (std::vector<int>{1, 1}));
}

}  // namespace
}  // namespace weir::detail
