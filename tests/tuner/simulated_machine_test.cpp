// Cores, neighbours and the quota of the simulated machine against closed forms.

#include <gtest/gtest.h>

#include "tests/support/simulated_line.hpp"

namespace weir::test {
namespace {

using detail::ScenarioProcess;
using detail::ScenarioStage;

double run_queue_seconds(const Snapshot& snapshot) {
  double total = 0;
  for (const StageSnapshot& stage : snapshot.stages) total += stage.run_queue_seconds;
  return total;
}

double cpu_seconds(const Snapshot& snapshot) {
  double total = 0;
  for (const StageSnapshot& stage : snapshot.stages) total += stage.cpu_user_seconds;
  return total;
}

TEST(SimulatedCores, MoreWorkersThanCoresShareThem) {
  SimulatedLine run(line({4e-3}), 8, 4);
  EXPECT_NEAR(run.rate(10), 4 / 4e-3, 10);
  const Snapshot seen = run.plant.snapshot();
  EXPECT_NEAR(cpu_seconds(seen), 40, 0.4);
  EXPECT_NEAR(run_queue_seconds(seen), 40, 0.4);  // half of the time of eight workers
  EXPECT_GT(seen.stages[0].involuntary_switches, 40 / 4e-3);
  EXPECT_NEAR(run.plant.cpu_seconds(), 40, 1e-6);
}

TEST(SimulatedCores, WaitsNeedNone) {
  ScenarioProcess process = line({4e-3});
  process.stages[0].kind = ScenarioStage::Kind::wait;
  SimulatedLine run(process, 8, 1);
  EXPECT_NEAR(run.rate(10), 8 / 4e-3, 4);
  EXPECT_EQ(run.plant.cpu_seconds(), 0);
  EXPECT_EQ(run_queue_seconds(run.plant.snapshot()), 0);
}

TEST(SimulatedCores, BusyNeighboursGetTheirShare) {
  SimulatedLine run(line({4e-3}), 8);
  run.machine.set_cores_taken(3);
  EXPECT_NEAR(run.rate(10), 8 * (8.0 / 11) / 4e-3, 10);
  Allocation five = run.plant.allocation();
  five.active = 5;
  ASSERT_TRUE(run.plant.apply(five));
  run.run(1);
  const double waited = run_queue_seconds(run.plant.snapshot());
  EXPECT_NEAR(run.rate(10), 5 / 4e-3, 5);  // five beside three busy ones on eight cores
  EXPECT_NEAR(run_queue_seconds(run.plant.snapshot()), waited, 0.05);
  run.machine.set_cores_taken(0);
  five.active = 8;
  ASSERT_TRUE(run.plant.apply(five));
  EXPECT_NEAR(run.rate(10), 8 / 4e-3, 10);
}

TEST(SimulatedCores, TwoProcessesShareThemByTheirBusyWorkers) {
  detail::SimulatedMachine machine(8, 0);
  detail::SimulatedPlant& one = machine.add(line({4e-3}), 8, 1);
  detail::SimulatedPlant& two = machine.add(line({4e-3}), 4, 2);
  machine.advance_to(10);
  const double first = static_cast<double>(one.snapshot().loaders[0].consumer.items);
  const double second = static_cast<double>(two.snapshot().loaders[0].consumer.items);
  EXPECT_NEAR(first / second, 2, 0.02);
  EXPECT_NEAR(first + second, 8 / 4e-3 * 10, 200);
  EXPECT_NEAR(one.cpu_seconds() + two.cpu_seconds(), 80, 1e-6);
}

TEST(SimulatedQuota, StopsTheThreadsForTheRestOfThePeriod) {
  SimulatedLine run(line({4e-3}), 8, 8, 1, 2.5);
  EXPECT_NEAR(run.rate(10), 2.5 / 4e-3, 10);
  EXPECT_NEAR(run.plant.cpu_seconds(), 25, 0.3);
  EXPECT_NEAR(static_cast<double>(run.machine.quota_periods()), 100, 1);
  EXPECT_EQ(run.machine.throttled_quota_periods(), run.machine.quota_periods());
  EXPECT_GT(run_queue_seconds(run.plant.snapshot()), 50);
}

TEST(SimulatedQuota, LeavesThoseAloneWhoKeepWithinIt) {
  SimulatedLine run(line({4e-3}), 2, 8, 1, 2.5);
  EXPECT_NEAR(run.rate(10), 2 / 4e-3, 5);
  EXPECT_EQ(run.machine.throttled_quota_periods(), 0u);
  SimulatedLine exactly(line({4e-3}), 2, 8, 1, 2);
  EXPECT_NEAR(exactly.rate(10), 2 / 4e-3, 5);
  EXPECT_EQ(exactly.machine.throttled_quota_periods(), 0u);
}

TEST(SimulatedQuota, DoesNotStopWaits) {
  ScenarioProcess process = line({10e-3, 1e-3});
  process.stages[0].kind = ScenarioStage::Kind::wait;
  SimulatedLine run(process, 8, 8, 1, 0.5);
  EXPECT_NEAR(run.rate(10), 0.5 / 1e-3, 15);
}

// What the process reads of its host, at most twice a second.
TEST(SimulatedHost, TellsOwnWorkFromThatOfOthers) {
  SimulatedLine run(line({4e-3}), 8);
  run.machine.set_cores_taken(3);
  run.run(1);
  const HostSnapshot first = run.plant.snapshot().host;
  run.run(0.2);
  EXPECT_EQ(run.plant.snapshot().host.read_seconds, first.read_seconds);
  run.run(9.8);
  const HostSnapshot then = run.plant.snapshot().host;
  EXPECT_EQ(then.cores, 8);
  EXPECT_EQ(then.host_cores, 8);
  EXPECT_NEAR(then.host_cpu_seconds - first.host_cpu_seconds, 80, 1e-6);
  EXPECT_NEAR(then.process_cpu_seconds - first.process_cpu_seconds, 80 * 8.0 / 11, 1e-6);
  EXPECT_NEAR(then.cpu_pressure_seconds - first.cpu_pressure_seconds, 10, 1e-6);
  EXPECT_EQ(then.throttled_periods, 0u);
}

TEST(SimulatedHost, TellsWhatTheQuotaTook) {
  SimulatedLine run(line({4e-3}), 8, 8, 1, 2);
  run.run(10);
  const HostSnapshot seen = run.plant.snapshot().host;
  EXPECT_EQ(seen.cores, 2);
  EXPECT_NEAR(static_cast<double>(seen.throttled_periods), 100, 1);
  // Eight threads use it up in 25 ms of 100.
  EXPECT_NEAR(seen.throttled_seconds, 8 * 0.075 * 100, 1);
  EXPECT_NEAR(seen.host_cpu_seconds, 20, 0.2);
}

TEST(SimulatedClock, DoesNotRunAheadOfWhatWasAskedFor) {
  SimulatedLine run(line({4e-3}), 1);
  run.machine.advance_to(3.9e-3);
  EXPECT_EQ(run.items(), 0u);
  EXPECT_EQ(run.plant.snapshot().time_seconds, 3.9e-3);
  EXPECT_NEAR(run.plant.snapshot().stages[0].oldest_running_seconds, 3.9e-3, 1e-12);
  run.machine.advance_to(4.1e-3);
  EXPECT_EQ(run.items(), 1u);
}

}  // namespace
}  // namespace weir::test
