#include "src/live_scenario.hpp"

#include <weir/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weir::detail {
namespace {

Scenario three_waits(double duration) {
  Scenario scenario;
  scenario.name = "three_waits";
  scenario.workers = {4};
  scenario.duration_seconds = duration;
  ScenarioProcess& process = scenario.processes.emplace_back();
  process.name = scenario.name;
  for (const auto& [name, seconds] :
       {std::pair("a", 4e-3), std::pair("b", 4e-3), std::pair("c", 8e-3)}) {
    ScenarioStage& stage = process.stages.emplace_back();
    stage.name = name;
    stage.seconds = seconds;
  }
  return scenario;
}

TrialOptions four_workers(const std::string& policy = "share") {
  TrialOptions options;
  options.policy = policy;
  options.workers = 4;
  options.timeline = true;
  return options;
}

TEST(LiveScenario, GivesTheMeasuresOfARunAndWhatTheSimulatorSays) {
  const Trial trial = run_live(three_waits(1.0), four_workers("balance"));
  EXPECT_EQ(trial.time_scale, 1);
  EXPECT_GT(trial.measures.steady_per_second, 0);
  EXPECT_GT(trial.simulated_per_second, 0);
  // Waits are never shorter than asked for.
  EXPECT_LE(trial.measures.oracle_per_second, 4 / 16e-3 * 1.01);
  EXPECT_EQ(trial.measures.budget_violations, 0u);
  EXPECT_GE(trial.measures.workers_used, 1);
  EXPECT_LE(trial.measures.workers_used, 4);
  EXPECT_GT(trial.timeline.size(), 3u);
}

TEST(LiveScenario, SlowsStagesThatAreTooShortForAWait) {
  Scenario scenario = three_waits(0.2);
  for (ScenarioStage& stage : scenario.processes.front().stages) stage.seconds /= 4;
  const Trial trial = run_live(scenario, four_workers());
  EXPECT_NEAR(trial.time_scale, 4, 1e-9);
  // The run is longer by as much, while that is not too long.
  EXPECT_NEAR(trial.timeline.back().seconds, 0.8, 0.8);
  EXPECT_LE(trial.measures.oracle_per_second, 4 / 16e-3 * 1.01);
}

TEST(LiveScenario, RunsFiltersSplitsBatchesDevicesAndEvents) {
  Scenario scenario = three_waits(1.0);
  std::vector<ScenarioStage>& stages = scenario.processes.front().stages;
  stages[0].split = 4;
  stages[0].limit = 2;
  stages[1].keep = 0.5;
  stages[2].batch = 4;
  stages[2].bytes_out = 4096;
  scenario.processes.front().consumer.per_second = 1000;
  ScenarioEvent& event = scenario.events.emplace_back();
  event.at_seconds = 0.5;
  event.stage = 1;
  event.changes[StageField::keep] = 1;
  const Trial trial = run_live(scenario, four_workers());
  EXPECT_GT(trial.measures.steady_per_second, 0);
  EXPECT_GT(trial.measures.efficiency_whole_run, 0);
}

TEST(LiveScenario, RefusesWhatWaitsCannotStandInFor) {
  Scenario scenario = three_waits(1);
  scenario.quota_cpus = 2;
  EXPECT_THROW((void)run_live(scenario, four_workers()), Error);
  scenario = three_waits(1);
  scenario.live = false;
  EXPECT_THROW((void)run_live(scenario, four_workers()), Error);
  scenario = three_waits(1);
  scenario.events.emplace_back().cores_taken = 1;
  EXPECT_THROW((void)run_live(scenario, four_workers()), Error);
}

}  // namespace
}  // namespace weir::detail
