// How long items take in a simulated stage, against closed forms.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/support/simulated_line.hpp"

namespace weir::test {
namespace {

using detail::ScenarioProcess;
using detail::ScenarioStage;

TEST(SimulatedService, DeviceGivesItsLimitOverItsLatency) {
  ScenarioProcess process = line({1e-3, 20e-3});
  process.stages[1].kind = ScenarioStage::Kind::wait;
  process.stages[1].limit = 4;
  SimulatedLine run(process, 12);
  run.run(2);
  EXPECT_NEAR(run.rate(10), 4 / 20e-3, 1);
  const Snapshot seen = run.plant.snapshot();
  // Workers pile up in front of it and are held there.
  EXPECT_GT(seen.stages[1].slot_seconds / static_cast<double>(seen.stages[1].items_in), 40e-3);
  EXPECT_EQ(seen.stages[1].run_queue_seconds, 0);
  ScenarioStage wider = run.plant.stage(1);
  wider.limit = 8;
  run.plant.set_stage(1, wider);
  run.run(1);
  EXPECT_NEAR(run.rate(10), 8 / 20e-3, 2);
}

TEST(SimulatedService, ScalesByTheUniversalLaw) {
  for (const int n : {1, 4, 16}) {
    ScenarioProcess process = line({8e-3});
    process.stages[0].contention = 0.05;
    process.stages[0].coherence = 0.002;
    SimulatedLine run(process, n);
    run.run(1);
    const double expected = n / (8e-3 * (1 + 0.05 * (n - 1) + 0.002 * n * (n - 1)));
    EXPECT_NEAR(run.rate(20), expected, 0.01 * expected) << n;
  }
}

TEST(SimulatedService, IsFlatBeyondAPlateauAndSlowAboveAThreshold) {
  ScenarioProcess flat = line({2e-3});
  flat.stages[0].plateau = 4;
  SimulatedLine plateau(flat, 10);
  plateau.run(1);
  EXPECT_NEAR(plateau.rate(10), 4 / 2e-3, 10);

  ScenarioProcess slow = line({2e-3});
  slow.stages[0].slow_above = 3;
  slow.stages[0].slow_factor = 2;
  SimulatedLine three(slow, 3);
  SimulatedLine four(slow, 4);
  EXPECT_NEAR(three.rate(10), 3 / 2e-3, 5);
  EXPECT_NEAR(four.rate(10), 4 / 4e-3, 5);
}

// Those under way are slowed when more come, and hurry on when some leave.
TEST(SimulatedService, FollowsTheNumberThatRunsNow) {
  ScenarioProcess process = line({10e-3});
  process.stages[0].plateau = 1;
  SimulatedLine run(process, 2);
  Allocation allocation = run.plant.allocation();
  allocation.active = 1;
  ASSERT_TRUE(run.plant.apply(allocation));
  run.run(5e-3);
  allocation.active = 2;
  ASSERT_TRUE(run.plant.apply(allocation));
  run.run(9.9e-3);
  EXPECT_EQ(run.items(), 0u);  // half done alone, the other half at half the pace
  run.run(0.2e-3);
  EXPECT_EQ(run.items(), 1u);
}

TEST(SimulatedService, TailTakesItsShare) {
  ScenarioProcess process = line({1e-3});
  process.stages[0].tail_probability = 0.01;
  process.stages[0].tail_factor = 100;
  process.stages[0].depth = 10'000;  // order in front of the consumer holds nobody up
  SimulatedLine run(process, 4);
  run.run(1);
  EXPECT_NEAR(run.rate(200), 4 / (1e-3 * (0.99 + 1)), 60);
}

TEST(SimulatedService, OfTinyItemsComesInPackets) {
  SimulatedLine run(line({5e-6, 5e-6}), 2);
  run.run(0.1);
  EXPECT_NEAR(run.rate(0.5), 2 / 10e-6, 4000);
  const Snapshot seen = run.plant.snapshot();
  EXPECT_GT(seen.stages[1].items_in, 10 * seen.stages[1].packets);
  EXPECT_LT(seen.stages[1].items_in, 40 * seen.stages[1].packets);
}

TEST(SimulatedService, OfNoCostLetsTimeGoOn) {
  SimulatedLine run(line({0, 1e-3, 0}), 2);
  EXPECT_NEAR(run.rate(1), 2000, 60);
}

}  // namespace
}  // namespace weir::test
