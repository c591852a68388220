#include "tuner/timetable.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weir::detail {
namespace {

using testing::DoubleEq;
using testing::DoubleNear;
using testing::ElementsAre;

/// Two CPU stages of 1 and 3 ms on four workers: 1000 a second.
Scenario two_stages() {
  Scenario scenario;
  scenario.workers = {4};
  scenario.duration_seconds = 20;
  ScenarioProcess& process = scenario.processes.emplace_back();
  process.stages.resize(2);
  process.stages[0].name = "a";
  process.stages[0].seconds = 1e-3;
  process.stages[1].name = "b";
  process.stages[1].seconds = 3e-3;
  return scenario;
}

ScenarioEvent stage_event(double at, int stage, double seconds) {
  ScenarioEvent event;
  event.at_seconds = at;
  event.stage = stage;
  event.changes[StageField::seconds] = seconds;
  return event;
}

double seconds_at(const Timetable& timetable, double time, std::size_t stage) {
  return timetable.at(time).processes.front().stages[stage].seconds;
}

TEST(Timetable, IsOneStretchWithoutEventsWhoseLastHalfIsSteady) {
  const Timetable timetable(two_stages(), 4, false);
  ASSERT_EQ(timetable.stretches().size(), 1u);
  EXPECT_EQ(timetable.stretches()[0].steady_seconds, 10);
  EXPECT_EQ(timetable.stretches()[0].end_seconds, 20);
  EXPECT_TRUE(timetable.steps().empty());
  EXPECT_NEAR(timetable.oracle_at(0).processes[0].shared_per_second, 1000, 1);
}

TEST(Timetable, LetsAnEventHoldFromItsTimeToItsEnd) {
  Scenario scenario = two_stages();
  scenario.events = {stage_event(5, 0, 9e-3)};
  scenario.events[0].until_seconds = 15;
  const Timetable timetable(scenario, 4, false);
  EXPECT_EQ(seconds_at(timetable, 4.999, 0), 1e-3);
  EXPECT_EQ(seconds_at(timetable, 5, 0), 9e-3);
  EXPECT_EQ(seconds_at(timetable, 14.999, 0), 9e-3);
  EXPECT_EQ(seconds_at(timetable, 15, 0), 1e-3);
  EXPECT_THAT(timetable.steps(), ElementsAre(5, 15));
  ASSERT_EQ(timetable.stretches().size(), 3u);
  EXPECT_FALSE(timetable.stretches()[0].by_event);
  EXPECT_TRUE(timetable.stretches()[1].by_event);
  EXPECT_TRUE(timetable.stretches()[2].by_event);
  EXPECT_EQ(timetable.stretches()[1].steady_seconds, 10);
  EXPECT_NEAR(timetable.oracle_at(5).processes[0].shared_per_second, 4 / 12e-3, 1);
}

TEST(Timetable, UndoesToWhatOtherEventsLeft) {
  Scenario scenario = two_stages();
  scenario.events = {stage_event(5, 0, 9e-3), stage_event(6, 0, 2e-3)};
  scenario.events[0].until_seconds = 15;
  const Timetable timetable(scenario, 4, false);
  EXPECT_EQ(seconds_at(timetable, 10, 0), 2e-3);
  EXPECT_EQ(seconds_at(timetable, 16, 0), 2e-3);
}

TEST(Timetable, GoesInAStraightLineOver) {
  Scenario scenario = two_stages();
  scenario.events = {stage_event(5, 0, 9e-3)};
  scenario.events[0].over_seconds = 10;
  const Timetable timetable(scenario, 4, false);
  EXPECT_NEAR(seconds_at(timetable, 5, 0), 1e-3, 0.1e-3);
  EXPECT_NEAR(seconds_at(timetable, 10, 0), 5e-3, 0.1e-3);
  EXPECT_EQ(seconds_at(timetable, 15, 0), 9e-3);
  EXPECT_GE(timetable.steps().size(), 20u);
  ASSERT_EQ(timetable.stretches().size(), 3u);
  EXPECT_TRUE(timetable.stretches()[1].ramping);
  EXPECT_FALSE(timetable.stretches()[2].ramping);
  EXPECT_FALSE(timetable.stretches()[2].by_event);
  // Each step stands for its middle: the mean is exact.
  double sum = 0;
  double before = 5;
  for (const double step : timetable.steps()) {
    sum += (step - before) * seconds_at(timetable, before, 0);
    before = step;
  }
  EXPECT_NEAR(sum / 10, 5e-3, 1e-6);
}

TEST(Timetable, CountsWholePeriodsOfABurst) {
  Scenario scenario = two_stages();
  scenario.processes[0].consumer = {.per_second = 100, .period_seconds = 3, .duty = 0.5};
  EXPECT_NEAR(Timetable(scenario, 4, false).stretches()[0].steady_seconds, 11, 1e-9);
  // Where none fits there is no choice.
  scenario.processes[0].consumer.period_seconds = 30;
  EXPECT_NEAR(Timetable(scenario, 4, false).stretches()[0].steady_seconds, 10, 1e-9);
}

TEST(Timetable, TakesWorkersToWholeCpusOfTheQuota) {
  Scenario scenario = two_stages();
  scenario.quota_cpus = 2.5;
  EXPECT_EQ(Timetable(scenario, 4, false).at(0).workers, 2);
  scenario.quota_cpus = 0.5;
  EXPECT_EQ(Timetable(scenario, 4, false).at(0).workers, 1);
  scenario.quota_cpus = 9;
  EXPECT_EQ(Timetable(scenario, 4, false).at(0).workers, 4);
}

TEST(Timetable, LeavesTheCoresThatNeighboursDoNotTake) {
  Scenario scenario = two_stages();
  ScenarioEvent& event = scenario.events.emplace_back();
  event.at_seconds = 5;
  event.until_seconds = 10;
  event.cores_taken = 3;
  const Timetable timetable(scenario, 4, false);
  EXPECT_EQ(timetable.cores_left(0), 4);
  EXPECT_EQ(timetable.cores_left(5), 1);
  EXPECT_EQ(timetable.cores_left(10), 4);
  EXPECT_NEAR(timetable.oracle_at(7).processes[0].shared_per_second, 250, 1);
}

TEST(Timetable, SharesCoresSoThatTheLeastFedHasMost) {
  Scenario scenario = two_stages();
  scenario.processes.push_back(scenario.processes[0]);
  const Timetable alike(scenario, 4, false);
  EXPECT_NEAR(alike.oracle_at(0).processes[0].shared_per_second, 500, 1);
  EXPECT_NEAR(alike.oracle_at(0).processes[1].shared_per_second, 500, 1);
  // What the second cannot use, the first gets: 200 a second need 0.8 cores.
  scenario.processes[1].consumer.per_second = 200;
  const Timetable unlike(scenario, 4, false);
  EXPECT_NEAR(unlike.oracle_at(0).processes[1].shared_per_second, 200, 1);
  EXPECT_NEAR(unlike.oracle_at(0).processes[0].shared_per_second, 800, 1);
}

}  // namespace
}  // namespace weir::detail
