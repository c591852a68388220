#include "tests/tuner/tuner_run.hpp"

#include <weir/error.hpp>
#include <weir/tuned_file.hpp>
#include <weir/tuned_plan.hpp>

#include "tuner/host_totals.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace weir::test {
namespace {

std::vector<nlohmann::json> lines_of(const std::string& path) {
  std::ifstream stream(path);
  std::vector<nlohmann::json> all;
  for (std::string text; std::getline(stream, text);) all.push_back(nlohmann::json::parse(text));
  return all;
}

TEST(DecisionLog, TellsEachMoveWithReasonPredictionAndOutcome) {
  const std::string path = testing::TempDir() + "decision_log_test.jsonl";
  TuningOptions options;
  options.log_path = path;
  {
    TunerRun run(8, {line({4e-3, 8e-3, 32e-3}, 0.1)}, options);
    run.run_until(4);
    EXPECT_TRUE(run.tuner.status().log_error.empty());
  }
  const std::vector<nlohmann::json> lines = lines_of(path);
  ASSERT_GT(lines.size(), 10u);
  EXPECT_EQ(lines[0]["weir_log"], 3);
  EXPECT_EQ(lines[0]["policy"], "balance");
  EXPECT_EQ(lines[0]["stages"][2]["name"], "c");
  int ramps = 0;
  int jumps = 0;
  int outcomes = 0;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const nlohmann::json& each = lines[i];
    ASSERT_TRUE(each.contains("window") && each.contains("label") && each.contains("stages"));
    const nlohmann::json& decision = each["decision"];
    EXPECT_FALSE(decision["reason"].get<std::string>().empty());
    ramps += decision["kind"] == "ramp";
    jumps += decision["kind"] == "jump";
    if (decision["kind"] == "jump") {
      EXPECT_TRUE(decision["applied"].get<bool>());
      EXPECT_NEAR(decision["predicted_per_second"].get<double>(), 182, 10);
      EXPECT_TRUE(decision["allocation"]["stages"]["c"].contains("target"));
    }
    if (each.contains("outcome")) {
      ++outcomes;
      EXPECT_NE(each["outcome"]["verdict"], "rolled_back");
      EXPECT_TRUE(each["outcome"].contains("realised_gain"));
    }
  }
  EXPECT_EQ(ramps, 3);
  EXPECT_EQ(jumps, 1);
  EXPECT_EQ(outcomes, 1);
  std::filesystem::remove(path);
}

TEST(DecisionLog, StatusHasTheSharesOfTheLabels) {
  TunerRun run(8, {line({4e-3, 8e-3, 32e-3}, 0.1)});
  run.run_until(4);
  const std::map<std::string, double> of_stage = run.tuner.status().label_shares;
  EXPECT_GT(of_stage.at("stage:c"), 0.7);
  run.plant.set_consumer({.per_second = 20});
  run.run_until(40);
  double sum = 0;
  for (const auto& [label, share] : run.tuner.status().label_shares) sum += share;
  EXPECT_NEAR(sum, 1, 1e-9);
  EXPECT_GT(run.tuner.status().label_shares.at("consumer"), 0.7);
}

// What others took is in the log, in the status, and in the tuned file made from that.
TEST(DecisionLog, ContendedWindowsSayWhoTookTheCpus) {
  const std::string path = testing::TempDir() + "decision_log_contended_test.jsonl";
  TuningOptions options;
  options.log_path = path;
  TuningStatus status;
  {
    TunerRun run(8, {line({4e-3, 8e-3, 32e-3}, 0.1)}, options);
    run.run_until(5);
    EXPECT_LT(run.tuner.status().host.cpu_wait_share, 0.02);
    EXPECT_TRUE(run.tuner.status().host.contended_shares.empty());
    run.machine.set_cores_taken(4);
    run.run_until(10);
    status = run.tuner.status();
  }
  EXPECT_GT(status.host.contended_shares.at("others"), 0.02);
  EXPECT_GT(status.host.others_cores, 1);
  EXPECT_GT(status.host.cpu_wait_share, 0.01);
  EXPECT_LT(status.host.blocked_shares.at("c"), 0.02) << "emulated work is on a CPU";
  double wait = 0;
  double others = 0;
  bool told = false;
  for (const nlohmann::json& each : lines_of(path)) {
    if (!each.contains("host")) continue;
    wait = std::max(wait, each["host"].value("cpu_wait_share", 0.0));
    others = std::max(others, each["host"].value("others_cores", 0.0));
    told = told || each.value("contended_by", "") == "others";
  }
  EXPECT_GT(wait, 0.1);
  EXPECT_NEAR(others, 4, 0.2);
  EXPECT_TRUE(told);
  std::filesystem::remove(path);

  TunedOrigin origin;
  origin.machine.threads = 8;
  const std::optional<TunedFile> file = make_tuned_file(status, origin);
  ASSERT_TRUE(file);
  const TunedFile::Evidence& evidence = parse_tuned_file(tuned_file_text(*file), "t.yaml").evidence;
  EXPECT_NEAR(evidence.host->contended_shares.at("others"),
              status.host.contended_shares.at("others"), 1e-3);
  EXPECT_NEAR(evidence.host->others_cores, status.host.others_cores, 1e-3);
  EXPECT_TRUE(evidence.stages[2].blocked_share);
}

TEST(HostTotals, HintsNeedAQuarterOfTheWindows) {
  Observation window;
  window.window_seconds = 0.1;
  window.work = {.seconds = 0.1, .cpu_seconds = 0.3, .run_queue_seconds = 0.1};
  window.work.involuntary_switches = 6;
  window.stages.resize(1);
  window.stages[0].name = "a";
  window.stages[0].running_mean = 1;
  window.stages[0].blocked_share = 0.25;
  detail::HostTotals totals;
  for (int i = 0; i < 30; ++i) totals.add(window);
  EXPECT_NEAR(totals.figures().cpu_wait_share, 0.25, 1e-9);
  EXPECT_NEAR(totals.figures().switches_per_cpu_second, 20, 1e-9);
  EXPECT_NEAR(totals.figures().blocked_shares.at("a"), 0.25, 1e-9);
  window.stages[0].hint = "locks";
  for (int i = 0; i < 9; ++i) totals.add(window);
  EXPECT_TRUE(totals.figures().hints.empty());
  totals.add(window);
  EXPECT_EQ(totals.figures().hints.at("a"), "locks");
  window.window_seconds = 0;
  totals.add(window);
  EXPECT_NEAR(totals.figures().cpu_wait_share, 0.25, 1e-9);
}

TEST(DecisionLog, RollbackIsTold) {
  const std::string path = testing::TempDir() + "decision_log_rollback_test.jsonl";
  detail::ScenarioProcess loader = line({1e-3, 1e-3, 4e-3});
  loader.stages[2].slow_above = 3;
  loader.stages[2].slow_factor = 3;
  TuningOptions options;
  options.log_path = path;
  options.start = Allocation{};
  options.start->active = 5;
  options.start->stages = {{.target = 1}, {.target = 1}, {.target = 3, .cap = 3}};
  options.start_stages = {"a", "b", "c"};
  {
    TunerRun run(8, {loader}, options);
    run.run_until(10);
  }
  std::vector<std::string> kinds;
  bool rolled_back = false;
  for (const nlohmann::json& each : lines_of(path)) {
    if (!each.contains("decision")) continue;
    if (each["decision"]["kind"] != "hold") kinds.push_back(each["decision"]["kind"]);
    if (each.contains("outcome") && each["outcome"]["verdict"] == "rolled_back") rolled_back = true;
  }
  ASSERT_GE(kinds.size(), 3u);
  EXPECT_EQ(kinds[0], "start");
  EXPECT_EQ(kinds[1], "move");
  EXPECT_EQ(kinds[2], "rollback");
  EXPECT_TRUE(rolled_back);
  // The move that failed is not tried again for a while.
  EXPECT_LE(std::count(kinds.begin(), kinds.end(), "move"), 2);
  std::filesystem::remove(path);
}

TEST(DecisionLog, UnusablePathIsNamedWithTheReason) {
  SimulatedLine run(line({1e-3}), 2);
  TuningOptions options;
  options.log_path = "/no/such/folder/log.jsonl";
  try {
    const detail::Tuner tuner(run.plant, options);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::cannot);
    EXPECT_THAT(error.what(), testing::HasSubstr("/no/such/folder/log.jsonl: "));
    EXPECT_THAT(error.what(), testing::HasSubstr("No such file or directory"));
  }
}

TEST(DecisionLog, FullDiskEndsTheLogAndNotTheTuning) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "there is no /dev/full here";
  TuningOptions options;
  options.log_path = "/dev/full";
  TunerRun run(8, {line({4e-3, 8e-3, 32e-3})}, options);
  run.run_until(3);
  EXPECT_THAT(run.tuner.status().log_error, testing::HasSubstr("No space left on device"));
  EXPECT_TRUE(run.tuner.status().settled);
}

}  // namespace
}  // namespace weir::test
