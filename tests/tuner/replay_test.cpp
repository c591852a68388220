#include "tuner/replay.hpp"

#include <weir/error.hpp>

#include "tests/tuner/tuner_run.hpp"
#include "tuner/decision_log_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace weir::test {
namespace {

using detail::DecisionLogReader;
using detail::LogHead;
using detail::LogWindow;
using detail::Replay;
using detail::replay_log;
using detail::ScenarioProcess;
using testing::HasSubstr;

class DecisionLogFile : public testing::Test {
 protected:
  DecisionLogFile()
      : path_(testing::TempDir() + "weir_" +
              testing::UnitTest::GetInstance()->current_test_info()->name() + ".jsonl") {}
  ~DecisionLogFile() override { std::filesystem::remove(path_); }

  TuningOptions options() const {
    TuningOptions options;
    options.log_path = path_;
    return options;
  }
  std::string text() const {
    std::ifstream stream(path_);
    std::stringstream all;
    all << stream.rdbuf();
    return all.str();
  }
  void write(const std::string& text) const { std::ofstream(path_) << text; }
  /// A short run of three stages.
  void record(const TuningOptions& options, double seconds = 2) const {
    TunerRun run(8, {line({4e-3, 8e-3, 32e-3}, 0.2)}, options);
    run.run_until(seconds);
  }
  void refused_with(const std::string& message) const {
    try {
      DecisionLogReader reader(path_);
      while (reader.next()) {
      }
      ADD_FAILURE() << "nothing is refused";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      EXPECT_THAT(error.what(), HasSubstr(message));
      EXPECT_THAT(error.what(), HasSubstr(path_));
    }
  }

  const std::string path_;
};

using ReplayTest = DecisionLogFile;

TEST_F(ReplayTest, EveryPolicyDecidesTheSameAgain) {
  for (const PolicyInfo& policy : policies())
    for (const bool strict : {false, true}) {
      TuningOptions options = this->options();
      options.policy = policy.name;
      options.strict = strict;
      record(options);
      const Replay replay = replay_log(path_);
      EXPECT_TRUE(replay.same()) << replay.text();
      EXPECT_GT(replay.windows, 5u);
      EXPECT_EQ(replay.policy, policy.name);
      EXPECT_THAT(replay.text(), HasSubstr("replay to the same decisions"));
    }
}

// Drift, contention, a consumer that comes and goes, a stage that gets slower with more workers.
TEST_F(ReplayTest, EventfulRunDecidesTheSameAgain) {
  ScenarioProcess loader = line({1e-3, 2e-3, 4e-3}, 0.5);
  loader.stages[2].slow_above = 3;
  loader.stages[2].slow_factor = 3;
  {
    TunerRun run(8, {loader}, options());
    run.run_until(3);
    run.change(0, [](detail::ScenarioStage& stage) { stage.seconds = 8e-3; });
    run.run_until(6);
    run.machine.set_cores_taken(4);
    run.run_until(9);
    run.machine.set_cores_taken(0);
    run.plant.set_consumer({.per_second = 50});
    run.run_until(12);
    run.plant.pause_consumer(2);
    run.run_until(16);
  }
  const Replay replay = replay_log(path_);
  EXPECT_TRUE(replay.same()) << replay.text();
}

TEST_F(ReplayTest, WarmStartAndSettingsAreReplayed) {
  TuningOptions options = this->options();
  options.settings = {{"window", "200ms"}, {"dead_band", "10%"}};
  options.start = Allocation{};
  options.start->active = 5;
  options.start->stages = {{.target = 3}, {.target = 1}, {.target = 1}};
  options.start_stages = {"c", "a", "b"};
  record(options, 5);
  const Replay replay = replay_log(path_);
  EXPECT_TRUE(replay.same()) << replay.text();
  DecisionLogReader reader(path_);
  const auto head = std::get<LogHead>(*reader.next());
  ASSERT_TRUE(head.start);
  EXPECT_EQ(head.start->stages[2].target, 3);
  EXPECT_EQ(head.settings.at("window"), "200ms");
}

TEST_F(ReplayTest, LoadersThatComeAndGoBeginANewPart) {
  {
    TunerRun run(8, {line({4e-3, 8e-3})}, options());
    run.run_until(2);
    ScenarioProcess second = line({2e-3, 2e-3});
    second.name = "validation";
    run.set_loaders({line({4e-3, 8e-3}), second});
    run.run_until(4);
    run.set_loaders({line({4e-3, 8e-3})});
    run.run_until(6);
  }
  const Replay replay = replay_log(path_);
  EXPECT_TRUE(replay.same()) << replay.text();
  EXPECT_EQ(replay.parts, 3u);
  EXPECT_THAT(text(), HasSubstr("validation/a"));  // both have a stage of this name
}

TEST_F(ReplayTest, FirstDifferenceIsToldWithBothDecisions) {
  record(options());
  std::string changed = text();
  const std::size_t jump = changed.find("\"kind\":\"jump\"");
  ASSERT_NE(jump, std::string::npos);
  changed.replace(jump, 13, "\"kind\":\"move\"");
  write(changed);
  const Replay replay = replay_log(path_);
  ASSERT_FALSE(replay.same());
  EXPECT_THAT(replay.difference->recorded, HasSubstr("move: "));
  EXPECT_THAT(replay.difference->replayed, HasSubstr("jump: "));
  EXPECT_THAT(replay.text(), HasSubstr("is not\n  recorded: label"));
  EXPECT_EQ(replay.difference->line, replay.windows + 2);  // one head, and lines count from one
}

TEST_F(ReplayTest, ChangedInputChangesTheDecision) {
  record(options());
  std::string changed = text();
  // Half of the items that the last stage took in by some window never were.
  std::size_t at = 0;
  for (int i = 0; i < 8; ++i) at = changed.find("\"items_in\":[", at + 1);
  const std::size_t last = changed.rfind(',', changed.find(']', at));
  changed.replace(last + 1, changed.find(']', at) - last - 1, "1");
  write(changed);
  EXPECT_FALSE(replay_log(path_).same());
}

TEST_F(DecisionLogFile, CutOffLastLineIsNoted) {
  record(options());
  const std::string whole = text();
  write(whole.substr(0, whole.size() - 100));
  const Replay replay = replay_log(path_);
  EXPECT_TRUE(replay.same());
  EXPECT_THAT(replay.text(), HasSubstr("is cut off"));
  // Without its last character, the end of the line, nothing is missing.
  write(whole.substr(0, whole.size() - 1));
  EXPECT_THAT(replay_log(path_).notes, testing::IsEmpty());
}

TEST_F(DecisionLogFile, FiguresAreRead) {
  record(options(), 4);
  DecisionLogReader reader(path_);
  const auto head = std::get<LogHead>(*reader.next());
  EXPECT_EQ(head.policy, "balance");
  EXPECT_EQ(head.first.budget, 8);
  EXPECT_EQ(head.stage_names, (std::vector<std::string>{"a", "b", "c"}));
  std::optional<LogWindow> last;
  bool outcome = false;
  while (const auto entry = reader.next()) {
    last = std::get<LogWindow>(*entry);
    outcome = outcome || last->decision.outcome;
  }
  ASSERT_TRUE(last);
  EXPECT_TRUE(outcome);
  EXPECT_EQ(last->seen.label, "stage:c");
  EXPECT_NEAR(last->seen.time_seconds, 4, 2);  // a window takes 2 s at most
  EXPECT_NEAR(last->seen.stages[2].estimate.service_seconds, 32e-3, 2e-3);
  EXPECT_NEAR(last->seen.bounds.shared_per_second, 8 / 44e-3, 10);
  EXPECT_EQ(last->seen.budget, 8);
  EXPECT_NEAR(last->given->current.stages[2].target, 8 * 32.0 / 44, 0.5);
}

TEST_F(DecisionLogFile, WhatIsNoLogIsRefused) {
  write("");
  refused_with("is empty");
  write("weir_tuned: 1\n");
  refused_with(":1: is no decision log");
  write("{\"a\": 1}\n");
  refused_with(":1: is no decision log: its first line has no 'weir_log'");
  write("{\"weir_log\": 4}\n");
  refused_with("was written by a later weir (weir_log: 4); this one reads up to weir_log: 3");
  write("{\"weir_log\": \"x\"}\n");
  refused_with("'weir_log' is no whole number");
  write("{\"weir_log\": 2, \"policy\": \"balance\"}\n{\"time\": 1}\n");
  refused_with(":2: 'decision' is missing");
  write("{\"weir_log\": 2}\n{]\n\n");
  refused_with(":2: is not JSON at character 2: {]");
  write(
      "{\"weir_log\": 2, \"stages\": [{\"name\": \"a\"}]}\n{\"decision\": {\"kind\": \"hold\"}}\n");
  refused_with(":2: 'stages' are 0, and 1 in the head");
  write(
      "{\"weir_log\": 2}\n{\"decision\": {\"kind\": \"hold\"}, \"observation\": {\"stages\": "
      "{\"name\": [\"a\"]}, \"loaders\": {\"name\": [\"x\"]}}}\n");
  refused_with(":2: 'observation' has other stages or loaders than the head");
  write("{\"weir_log\": 2}\n{\"decision\": {\"kind\": \"dance\"}}\n");
  refused_with(":2: 'kind' is none that this version knows");
}

TEST_F(DecisionLogFile, WhatCannotBeReadIsRefusedWithTheReason) {
  const std::pair<std::string, std::string> kWrong[] = {
      {"/no/such/log", "No such file or directory"}, {testing::TempDir(), "Is a directory"}};
  for (const auto& [path, reason] : kWrong) {
    try {
      const DecisionLogReader reader(path);
      ADD_FAILURE() << path;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr(path + ": the decision log cannot be read: " + reason));
    }
  }
}

TEST_F(DecisionLogFile, LogOfTheFirstVersionIsReadAndNotReplayed) {
  write(R"({"weir_log":1,"time":5,"policy":"balance","strict":false,"settings":{},"seed":1,)"
        R"("budget":4,"stages":[{"name":"a","loader":0}]})"
        "\n"
        R"({"time":5.1,"window":0.1,"label":"none","valid":true,"loaders":[{}],"stages":[{}],)"
        R"("decision":{"kind":"hold","phase":"ramp","reason":"why","predicted_gain":0}})"
        "\n");
  DecisionLogReader reader(path_);
  EXPECT_EQ(std::get<LogHead>(*reader.next()).version, 1);
  EXPECT_EQ(std::get<LogWindow>(*reader.next()).decision.reason, "why");
  EXPECT_THROW(static_cast<void>(replay_log(path_)), Error);
}

}  // namespace
}  // namespace weir::test
