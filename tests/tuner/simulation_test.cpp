#include "tuner/simulation.hpp"

#include <weir/error.hpp>
#include <weir/tuned_file.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace weir::detail {
namespace {

using testing::HasSubstr;

/// Costs 1:2:8 on eight workers: 8 / 44 ms = 182 a second when they are shared.
Scenario skewed(double duration = 20) {
  Scenario scenario;
  scenario.name = "skewed";
  scenario.workers = {8};
  scenario.duration_seconds = duration;
  ScenarioProcess& process = scenario.processes.emplace_back();
  process.name = "train";
  for (const auto& [name, seconds] :
       {std::pair("a", 4e-3), std::pair("b", 8e-3), std::pair("c", 32e-3)}) {
    ScenarioStage& stage = process.stages.emplace_back();
    stage.name = name;
    stage.seconds = seconds;
    stage.cv = 0.1;
  }
  return scenario;
}

Measures measured(const Scenario& scenario, const std::string& policy = "balance",
                  std::uint64_t seed = 1) {
  TrialOptions options;
  options.policy = policy;
  options.workers = scenario.workers.front();
  options.seed = seed;
  return simulate(scenario, options).measures;
}

ScenarioEvent event_at(double seconds) {
  ScenarioEvent event;
  event.at_seconds = seconds;
  return event;
}

ScenarioEvent cost_event(double at, int stage, double seconds) {
  ScenarioEvent event = event_at(at);
  event.stage = stage;
  event.changes[StageField::seconds] = seconds;
  return event;
}

TEST(Simulation, GivesTheSameTwiceAndOtherThingsWithAnotherSeed) {
  const Measures once = measured(skewed());
  const Measures again = measured(skewed());
  EXPECT_EQ(once.steady_per_second, again.steady_per_second);
  EXPECT_EQ(once.cost_error, again.cost_error);
  EXPECT_NE(once.cost_error, measured(skewed(), "balance", 2).cost_error);
}

TEST(Simulation, MeasuresRatesAgainstTheOracle) {
  const Measures m = measured(skewed());
  EXPECT_NEAR(m.oracle_per_second, 8 / 44e-3, 0.1);
  EXPECT_NEAR(m.strict_oracle_per_second, 5 / 32e-3, 0.1);
  EXPECT_NEAR(m.efficiency, m.steady_per_second / m.oracle_per_second, 1e-9);
  EXPECT_GT(m.efficiency, 0.95);
  EXPECT_LT(m.efficiency, 1.02);
  EXPECT_LT(m.efficiency_whole_run, m.efficiency);
  EXPECT_EQ(m.budget_violations, 0u);
  EXPECT_EQ(m.oracle_workers, 8);
  EXPECT_EQ(m.label, "stage:c");
  EXPECT_EQ(m.recovery_seconds, 0);
  EXPECT_LT(m.cost_error, 0.05);
  EXPECT_LT(m.visit_error, 0.05);
  EXPECT_NEAR(m.cpu_share, 1, 0.02);
}

TEST(Simulation, ComparesStrictRunsWithTheWholeOracle) {
  Scenario scenario = skewed();
  scenario.strict = true;
  const Measures m = measured(scenario);
  EXPECT_NEAR(m.oracle_per_second, 5 / 32e-3, 0.1);
  EXPECT_GT(m.efficiency, 0.95);
}

TEST(Simulation, FixedNeverMovesAndHoldsItsStart) {
  Scenario scenario = skewed();
  scenario.start.kind = ScenarioStart::Kind::by_hand;
  scenario.start.workers = {{"a", 3}, {"b", 3}, {"c", 2}};
  scenario.strict = true;
  const Measures m = measured(scenario, "fixed");
  EXPECT_EQ(m.moves, 0);
  EXPECT_EQ(m.settle_seconds, 0);
  EXPECT_NEAR(m.steady_per_second, 2 / 32e-3, 1);
  EXPECT_EQ(m.start_per_second, m.steady_per_second);
}

TEST(Simulation, KnowsWhatTheStartWouldHaveHeld) {
  Scenario scenario = skewed();
  scenario.start.kind = ScenarioStart::Kind::by_hand;
  scenario.start.workers = {{"a", 3}, {"b", 3}, {"c", 2}};
  scenario.strict = true;
  const Measures m = measured(scenario);
  EXPECT_NEAR(m.start_per_second, 2 / 32e-3, 1);
  EXPECT_GT(m.steady_per_second, 2 * m.start_per_second);
  EXPECT_GE(m.moves, 1);
}

TEST(Simulation, LetsTheBaselinesHaveNoStartButTheirOwn) {
  Scenario scenario = skewed();
  const double own = measured(scenario, "even").steady_per_second;
  scenario.start.kind = ScenarioStart::Kind::one_stage;
  EXPECT_EQ(measured(scenario, "even").steady_per_second, own);
}

TEST(Simulation, TakesTheOracleByThePieceAcrossAnEvent) {
  Scenario scenario = skewed();
  scenario.events = {cost_event(10, 2, 76e-3)};  // to half the rate
  const Measures m = measured(scenario, "share");
  EXPECT_NEAR(m.oracle_per_second, 0.75 * 8 / 44e-3, 0.2);
  EXPECT_GT(m.efficiency, 0.93);
  EXPECT_LT(m.efficiency, 1.02);
  EXPECT_NEAR(m.efficiency_whole_run, m.efficiency, 0.05);
  EXPECT_LT(m.recovery_seconds, 0.5);
}

TEST(Simulation, UndoesWhatAnEventChangedForAWhile) {
  Scenario scenario = skewed(30);
  scenario.events = {cost_event(10, 2, 164e-3)};  // to a quarter
  scenario.events[0].until_seconds = 20;
  const Measures m = measured(scenario, "share");
  EXPECT_NEAR(m.oracle_per_second, 0.75 * 8 / 44e-3, 0.2);
  EXPECT_GT(m.efficiency, 0.93);
}

TEST(Simulation, FollowsAValueThatGoesInALine) {
  Scenario scenario = skewed(30);
  scenario.events = {cost_event(5, 2, 76e-3)};
  scenario.events[0].over_seconds = 15;
  const Measures m = measured(scenario, "share");
  EXPECT_GT(m.efficiency_whole_run, 0.93);
  EXPECT_LT(m.efficiency_whole_run, 1.02);
}

TEST(Simulation, CountsNothingThatIsTakenFromANeighbour) {
  Scenario scenario = skewed(30);
  scenario.events = {event_at(0.01)};
  scenario.events[0].cores_taken = 6;
  // Eight threads beside six get more than the two cores that are left.
  const Measures m = measured(scenario, "share");
  EXPECT_NEAR(m.oracle_per_second, 2 / 44e-3, 0.1);
  EXPECT_GT(m.steady_per_second, 1.5 * m.oracle_per_second);
  EXPECT_LE(m.efficiency, 1.0 + 1e-9);
}

TEST(Simulation, NeedsFewWorkersForASlowConsumer) {
  Scenario scenario = skewed(30);
  scenario.processes[0].consumer.per_second = 0.4 * 8 / 44e-3;
  const Measures m = measured(scenario);
  EXPECT_NEAR(m.oracle_per_second, 0.4 * 8 / 44e-3, 0.1);
  EXPECT_EQ(m.oracle_workers, 4);
  EXPECT_LT(m.unparked_mean, 6);
  EXPECT_LE(m.workers_used, 6);
  EXPECT_LT(m.consumer_wait_share, 0.05);
  EXPECT_EQ(m.label, "consumer");
  const Measures shared = measured(scenario, "share");
  EXPECT_EQ(shared.unparked_mean, 8);
}

TEST(Simulation, TakesTheMeanRateOfABurstyConsumer) {
  Scenario scenario = skewed(30);
  scenario.processes[0].consumer = {.per_second = 60, .period_seconds = 0.7, .duty = 0.5};
  const Measures m = measured(scenario, "share");
  EXPECT_NEAR(m.oracle_per_second, 60, 0.1);
  EXPECT_NEAR(m.efficiency, 1, 0.02);
}

TEST(Simulation, KeepsWithinAQuotaOfWholeCpus) {
  Scenario scenario = skewed();
  scenario.quota_cpus = 5.5;
  const Measures m = measured(scenario);
  EXPECT_NEAR(m.oracle_per_second, 5 / 44e-3, 0.1);
  EXPECT_GT(m.efficiency, 0.95);
  EXPECT_EQ(m.throttled_share, 0);
}

TEST(Simulation, SharesTheCoresOfTwoProcesses) {
  Scenario scenario = skewed(30);
  scenario.processes.push_back(scenario.processes[0]);
  const Measures m = measured(scenario, "share");
  EXPECT_NEAR(m.oracle_per_second, 8 / 44e-3, 0.2);
  EXPECT_GT(m.efficiency, 0.93);
  EXPECT_GT(m.jain, 0.99);
}

TEST(Simulation, ShowsEachLookInTheTimeline) {
  TrialOptions options;
  options.workers = 8;
  options.timeline = true;
  const Trial trial = simulate(skewed(), options);
  ASSERT_GT(trial.timeline.size(), 20u);
  EXPECT_EQ(trial.timeline.front().seconds, 0);
  double before = -1;
  for (const TimelinePoint& point : trial.timeline) {
    EXPECT_GT(point.seconds, before);
    before = point.seconds;
    EXPECT_EQ(point.targets.size(), 3u);
    EXPECT_NEAR(point.oracle_per_second, 8 / 44e-3, 0.1);
  }
  EXPECT_EQ(trial.timeline.back().running.size(), 3u);
}

TEST(Simulation, WritesADecisionLog) {
  TrialOptions options;
  options.workers = 8;
  options.log_path = testing::TempDir() + "simulation_test_log.jsonl";
  (void)simulate(skewed(5), options);
  std::ifstream log(options.log_path);
  std::string line;
  EXPECT_TRUE(std::getline(log, line));
  std::filesystem::remove(options.log_path);
}

TEST(Simulation, RefusesPoliciesAndSettingsThatThereAreNot) {
  EXPECT_THROW((void)measured(skewed(1), "balanced"), Error);
  TrialOptions options;
  options.workers = 8;
  options.settings = {{"windw", "100ms"}};
  EXPECT_THROW((void)simulate(skewed(1), options), Error);
}

/// A tuned file of the skewed scenario with stale settings, and with evidence when asked for.
class TunedStart : public testing::Test {
 protected:
  ~TunedStart() override { std::filesystem::remove(path_); }

  Scenario with_file(int threads, bool evidence) {
    TunedFile file;
    file.pipeline = PipelineIdentity{"skewed", "5f1c"};
    file.machine = MachineIdentity{"a cpu", threads, threads, 1, "none", "1GiB", "91ab"};
    file.budget.threads = threads;
    file.budget.active = threads;
    file.written = TunedFile::Written{};
    file.written->by = "weir";
    for (const char* name : {"a", "b", "c"}) {
      TunedFile::Stage& stage = file.stages.emplace_back();
      stage.name = name;
      stage.workers = 1;
      stage.target = name[0] == 'a' ? threads - 2 : 1;
      stage.cap = threads;
      if (!evidence) continue;
      TunedFile::StageEvidence& seen = file.evidence.stages.emplace_back();
      seen.name = name;
      seen.service_time_us = name[0] == 'a' ? 4000 : name[0] == 'b' ? 8000 : 32000;
      seen.visits = 1;
      seen.samples = 1000;
      seen.levels = {{1, seen.service_time_us}};
    }
    write_tuned_file(file, path_);
    Scenario scenario = skewed(5);
    scenario.tuned = path_;
    return scenario;
  }

  static std::vector<double> first_targets(const Scenario& scenario) {
    TrialOptions options;
    options.workers = 8;
    options.policy = "fixed";
    options.timeline = true;
    return simulate(scenario, options).timeline.front().targets;
  }

  const std::string path_ = testing::TempDir() + "simulation_test.tuned.yaml";
};

TEST_F(TunedStart, BeginsAsWrittenWhereTheBudgetIsTheSame) {
  EXPECT_EQ(first_targets(with_file(8, true)), (std::vector<double>{6, 1, 1}));
  EXPECT_EQ(first_targets(with_file(8, false)), (std::vector<double>{6, 1, 1}));
}

TEST_F(TunedStart, IsSolvedAgainForAnotherBudget) {
  const std::vector<double> targets = first_targets(with_file(4, true));
  ASSERT_EQ(targets.size(), 3u);
  EXPECT_NEAR(targets[2], 8 * 32.0 / 44, 0.3);
}

TEST_F(TunedStart, IsRefusedForAnotherBudgetWithoutEvidence) {
  try {
    (void)first_targets(with_file(4, false));
    FAIL() << "a file without evidence was solved";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_THAT(error.what(), HasSubstr("lacks"));
  }
}

}  // namespace
}  // namespace weir::detail
