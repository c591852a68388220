#include "policies/diagnosis.hpp"

#include "tests/policies/observation_maker.hpp"

#include <gtest/gtest.h>

namespace weir::detail {
namespace {

using test::known_line;

std::string label_of(const Observation& seen, bool strict = false) {
  return diagnose(seen, PolicySettings{}, strict);
}

TEST(Diagnosis, BusyWorkersNameTheLargestDemand) {
  EXPECT_EQ(label_of(known_line(8, {4e-3, 32e-3, 8e-3})), "stage:b");
}

TEST(Diagnosis, IdleWorkersWithoutACauseAreNone) {
  Observation seen = known_line(8, {4e-3, 32e-3, 8e-3});
  for (StageObservation& stage : seen.stages) stage.running_mean *= 0.3;
  EXPECT_EQ(label_of(seen), "none");
}

TEST(Diagnosis, ConsumerNeedsHalfASecondWithoutWaiting) {
  Observation seen = known_line(8, {4e-3, 32e-3});
  seen.loaders[0].wait_share = 0.01;
  seen.loaders[0].held_seconds = 0.3;
  EXPECT_EQ(label_of(seen), "stage:b");
  seen.loaders[0].held_seconds = 0.5;
  EXPECT_EQ(label_of(seen), "consumer");
}

TEST(Diagnosis, OneWaitingConsumerOfTwoIsNotTheLimit) {
  Observation seen = known_line(8, {4e-3, 32e-3});
  seen.loaders.push_back(seen.loaders[0]);
  seen.loaders[0].held_seconds = 5;
  EXPECT_EQ(label_of(seen), "stage:b");
  seen.loaders[1].paused = true;
  EXPECT_EQ(label_of(seen), "consumer");
}

TEST(Diagnosis, MemoryComesFirstAndOnlyWithAWait) {
  Observation seen = known_line(8, {4e-3, 32e-3});
  seen.memory_bound_bytes = 1000;
  seen.memory_bytes = 900;
  seen.contended = true;
  EXPECT_EQ(label_of(seen), "memory");
  seen.loaders[0].wait_share = 0;
  EXPECT_EQ(label_of(seen), "contended");
}

TEST(Diagnosis, FirstStageWithoutInputIsTheSource) {
  Observation seen = known_line(8, {4e-3, 32e-3});
  seen.stages[0].wait_input_share = 0.5;
  EXPECT_EQ(label_of(seen), "source");
  seen.stages[0].wait_input_share = 0;
  seen.stages[1].wait_input_share = 0.5;  // starved by the first stage, not by the source
  EXPECT_EQ(label_of(seen), "stage:b");
}

TEST(Diagnosis, BusySerialStageIsNamed) {
  Observation seen = known_line(8, {4e-3, 2e-3});
  seen.stages[0].serial = true;
  seen.stages[0].running_mean = 0.97;
  seen.stages[1].running_mean = 0.5;
  EXPECT_EQ(label_of(seen), "serial:a");
}

TEST(Diagnosis, StageAtItsCapBindsThoughWorkersIdle) {
  Observation seen = known_line(8, {4e-3, 2e-3, 1e-3});
  seen.stages[0].running_mean = 1;
  seen.stages[1].running_mean = 1.95;
  seen.stages[2].running_mean = 0.5;
  seen.current.stages[1].cap = 2;
  EXPECT_EQ(label_of(seen), "stage:b");
}

TEST(Diagnosis, StrictNamesTheFullestStage) {
  Observation seen = known_line(8, {4e-3, 2e-3});
  seen.current.strict = true;
  seen.current.stages[0].target = 5;
  seen.current.stages[1].target = 2;
  seen.stages[0].running_mean = 3;
  seen.stages[1].running_mean = 1.99;
  EXPECT_EQ(label_of(seen, true), "stage:b");
}

TEST(Bounds, SharedWholeAndNeeded) {
  Observation seen = known_line(8, {4e-3, 8e-3, 32e-3});
  seen.loaders[0].present_per_second = 0.4 * 8 / 44e-3;
  const Bounds bounds = find_bounds(seen);
  EXPECT_NEAR(bounds.shared_per_second, 8 / 44e-3, 1e-3);
  EXPECT_NEAR(bounds.whole_per_second, 5 / 32e-3, 1e-3);
  EXPECT_EQ(bounds.needed_workers, 4);
}

}  // namespace
}  // namespace weir::detail
