#include "policies/observer.hpp"

#include "tests/support/simulated_line.hpp"

#include <gtest/gtest.h>

namespace weir::detail {
namespace {

using test::SimulatedLine;

ScenarioProcess image_line() {
  ScenarioProcess loader;
  loader.stages = {{.name = "read", .seconds = 1e-3},
                   {.name = "keep_good", .seconds = 0.5e-3, .keep = 0.5},
                   {.name = "decode", .seconds = 4e-3},
                   {.name = "batch", .seconds = 2e-3, .batch = 16}};
  return loader;
}

Observation watched(SimulatedLine& run, Observer& observer, int windows) {
  Observation seen = observer.begin(run.plant.snapshot(), run.plant.allocation());
  for (int i = 0; i < windows; ++i) {
    run.run(0.1);
    seen = observer.observe(run.plant.snapshot(), run.plant.allocation(), i == 0);
  }
  return seen;
}

TEST(Observer, VisitsAndDemandsFollowFilterAndBatch) {
  SimulatedLine run(image_line(), 8);
  Observer observer(PolicySettings{}, false);
  const Observation seen = watched(run, observer, 60);
  EXPECT_TRUE(seen.valid);
  EXPECT_NEAR(seen.stages[3].estimate.visits, 16, 0.1);
  EXPECT_NEAR(seen.stages[2].estimate.visits, 16, 0.1);
  EXPECT_NEAR(seen.stages[1].estimate.visits, 32, 1.5);
  EXPECT_NEAR(seen.stages[0].estimate.visits, 32, 1.5);
  EXPECT_NEAR(seen.stages[2].estimate.service_seconds, 4e-3, 1e-6);
  EXPECT_NEAR(seen.stages[3].estimate.demand_seconds, 2e-3, 1e-5);  // a batch
  EXPECT_NEAR(seen.bounds.shared_per_second, 8 / (32e-3 + 16e-3 + 64e-3 + 2e-3), 4);
}

TEST(Observer, NothingIsValidBeforeTheConsumerAsks) {
  Observer observer(PolicySettings{}, false);
  Snapshot snapshot;
  snapshot.budget = 4;
  snapshot.loaders.resize(1);
  snapshot.stages.resize(2);
  (void)observer.begin(snapshot, Allocation{});
  snapshot.time_seconds = 0.1;
  const Observation seen = observer.observe(snapshot, Allocation{}, false);
  EXPECT_FALSE(seen.valid);
  EXPECT_EQ(seen.invalid_reason, "next() was not called yet");
}

TEST(Observer, PausedConsumerVoidsWindows) {
  ScenarioProcess loader = image_line();
  loader.consumer.per_second = 1 / 0.03;
  SimulatedLine run(loader, 8);
  Observer observer(PolicySettings{}, false);
  (void)watched(run, observer, 40);
  run.plant.pause_consumer(3);
  Observation seen;
  for (int i = 0; i < 10; ++i) {
    run.run(0.1);
    seen = observer.observe(run.plant.snapshot(), run.plant.allocation(), false);
  }
  EXPECT_FALSE(seen.valid);
  EXPECT_EQ(seen.invalid_reason, "next() was not called for ten typical steps");
}

TEST(Observer, WaitingForACpuIsTakenOutOfServiceTimes) {
  SimulatedLine run(image_line(), 8);
  run.machine.set_cores_taken(5);
  Observer observer(PolicySettings{}, false);
  const Observation seen = watched(run, observer, 30);
  EXPECT_TRUE(seen.contended);
  EXPECT_NEAR(seen.stages[2].estimate.service_seconds, 4e-3, 1e-5);
  EXPECT_TRUE(seen.stages[2].estimate.levels.empty());
}

TEST(Observer, StarvedStageHasAValidServiceTime) {
  ScenarioProcess loader;
  loader.stages = {{.name = "slow", .seconds = 20e-3, .hand_cap = 1},
                   {.name = "starved", .seconds = 1e-3}};
  SimulatedLine run(loader, 2);
  Allocation capped = run.plant.allocation();
  capped.stages[0].cap = 1;
  ASSERT_TRUE(run.plant.apply(capped));
  Observer observer(PolicySettings{}, false);
  const Observation seen = watched(run, observer, 30);
  EXPECT_NEAR(seen.stages[1].estimate.service_seconds, 1e-3, 1e-6);
  EXPECT_GT(seen.stages[1].wait_input_share, 0.5);
}

TEST(Observer, ACostThatHardlyCountsMayChangeWithoutAlarm) {
  ScenarioProcess loader;
  loader.stages = {{.name = "tiny", .seconds = 2e-6}, {.name = "work", .seconds = 4e-3}};
  SimulatedLine run(loader, 4);
  Observer observer(PolicySettings{}, false);
  const Observation before = watched(run, observer, 40);
  ASSERT_TRUE(before.stages[1].estimate.trusted);
  run.change(0, [](ScenarioStage& stage) { stage.seconds = 8e-6; });
  for (int i = 0; i < 40; ++i) {
    run.run(0.1);
    const Observation seen = observer.observe(run.plant.snapshot(), run.plant.allocation(), false);
    EXPECT_FALSE(seen.stages[0].drifted) << "window " << i;
    EXPECT_FALSE(seen.stages[0].suspect) << "window " << i;
    EXPECT_TRUE(seen.stages[1].estimate.trusted) << "window " << i;
  }
  const Observation after = observer.observe(run.plant.snapshot(), run.plant.allocation(), false);
  EXPECT_NEAR(after.stages[0].estimate.service_seconds, 8e-6, 1e-6);

  // The same change of a stage that counts is an alarm.
  run.change(1, [](ScenarioStage& stage) { stage.seconds = 16e-3; });
  bool drifted = false;
  for (int i = 0; i < 40; ++i) {
    run.run(0.1);
    drifted =
        drifted ||
        observer.observe(run.plant.snapshot(), run.plant.allocation(), false).stages[1].drifted;
  }
  EXPECT_TRUE(drifted);
}

TEST(Observer, SameSnapshotsGiveTheSameObservations) {
  SimulatedLine run(image_line(), 8);
  Observer one(PolicySettings{}, false);
  Observer two(PolicySettings{}, false);
  (void)one.begin(run.plant.snapshot(), run.plant.allocation());
  (void)two.begin(run.plant.snapshot(), run.plant.allocation());
  for (int i = 0; i < 20; ++i) {
    run.run(0.1);
    const Snapshot snapshot = run.plant.snapshot();
    const Observation a = one.observe(snapshot, run.plant.allocation(), false);
    const Observation b = two.observe(snapshot, run.plant.allocation(), false);
    ASSERT_EQ(a.label, b.label);
    for (std::size_t s = 0; s < a.stages.size(); ++s)
      ASSERT_EQ(a.stages[s].estimate.demand_seconds, b.stages[s].estimate.demand_seconds);
  }
}

}  // namespace
}  // namespace weir::detail
