// weir explain: logs of short runs in virtual time, and odd ones, as stories.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "src/story_text.hpp"
#include "src/story_words.hpp"
#include "tests/program/program_run.hpp"
#include "tests/tuner/tuner_run.hpp"

namespace weir::test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

class Explain : public testing::Test {
 protected:
  Explain()
      : path_(testing::TempDir() + "weir_explain_" +
              testing::UnitTest::GetInstance()->current_test_info()->name() + ".jsonl") {
    options_.log_path = path_;
  }
  ~Explain() override { std::filesystem::remove(path_); }

  void write(const std::string& text) const { std::ofstream(path_) << text; }
  std::string log() const {
    std::ifstream stream(path_);
    std::stringstream all;
    all << stream.rdbuf();
    return all.str();
  }
  std::string story() const {
    const ProgramEnd end = run_program({"explain", path_});
    EXPECT_EQ(end.status, 0) << end.err;
    EXPECT_EQ(end.err, "");
    return end.out;
  }
  /// Without the line ends that the width of a terminal makes.
  std::string flat_story() const {
    std::istringstream words(story());
    std::string flat;
    for (std::string word; words >> word;) flat += (flat.empty() ? "" : " ") + word;
    return flat;
  }
  json document() const {
    const ProgramEnd end = run_program({"explain", path_, "--json"});
    EXPECT_EQ(end.status, 0) << end.err;
    return json::parse(end.out, nullptr, false);
  }
  void refused_with(const std::string& message) const {
    const ProgramEnd end = run_program({"explain", path_});
    EXPECT_EQ(end.status, 2);
    EXPECT_EQ(end.out, "");
    EXPECT_THAT(end.err, HasSubstr(message));
    EXPECT_THAT(end.err, HasSubstr(path_));
  }
  static int lines_of(const std::string& text) {
    return static_cast<int>(std::count(text.begin(), text.end(), '\n'));
  }

  const std::string path_;
  TuningOptions options_;
};

TEST_F(Explain, TellsRampJumpLimitAndEnd) {
  {
    TunerRun run(8, {line({4e-3, 8e-3, 32e-3}, 0.1)}, options_);
    run.run_until(5);
  }
  const std::string text = flat_story();
  EXPECT_THAT(text, HasSubstr("policy balance, 8 workers, 3 stages (a, b, c); "));
  EXPECT_THAT(text, HasSubstr("s start begin the ramp"));
  EXPECT_THAT(text, HasSubstr("s ramp while it pays, more workers awake: "));
  EXPECT_THAT(text, ContainsRegex("s jump [^;]*c [0-9.]+ to [56]"));
  EXPECT_THAT(text, ContainsRegex("got [+-][0-9]"));
  EXPECT_THAT(text, HasSubstr("s limit c is the limit"));
  EXPECT_THAT(text, HasSubstr("at the end settled, last change at "));
  EXPECT_THAT(text, HasSubstr("8 of 8 workers awake, 8 needed"));
  EXPECT_THAT(text, ContainsRegex("limit stage:c [0-9]+ %"));
  EXPECT_THAT(text, ContainsRegex("judged by; left out: [0-9]+ first window after a change"));
  EXPECT_LT(lines_of(story()), 40);

  const json whole = document();
  EXPECT_EQ(whole["policy"], "balance");
  EXPECT_EQ(whole["end"]["settled"], true);
  EXPECT_EQ(whole["end"]["label"], "stage:c");
  EXPECT_EQ(whole["end"]["stages"][2]["name"], "c");
  EXPECT_NEAR(whole["end"]["loaders"][0]["items_per_second"].get<double>(), 8 / 44e-3, 12);
  double shares = 0;
  for (const auto& [label, share] : whole["label_shares"].items()) shares += share.get<double>();
  EXPECT_NEAR(shares, 1, 1e-9);
}

TEST_F(Explain, TellsAMoveThatWasTakenBack) {
  detail::ScenarioProcess loader = line({1e-3, 1e-3, 4e-3});
  loader.stages[2].slow_above = 3;
  loader.stages[2].slow_factor = 3;
  options_.start = Allocation{};
  options_.start->active = 5;
  options_.start->stages = {{.target = 1}, {.target = 1}, {.target = 3, .cap = 3}};
  options_.start_stages = {"a", "b", "c"};
  {
    TunerRun run(8, {loader}, options_);
    run.run_until(5);
  }
  const std::string text = flat_story();
  EXPECT_THAT(text, HasSubstr("begin with the settings that were loaded"));
  EXPECT_THAT(text, ContainsRegex("s move .*c 3 to "));
  EXPECT_THAT(text, HasSubstr("taken back"));
  EXPECT_THAT(text, HasSubstr("s rollback back to the best verified settings: "));
  EXPECT_THAT(text, HasSubstr("not tried again for at least 30 s"));
  const json told = document();  // it must live as long as what is taken from it
  for (const json& event : told["events"])
    if (event["kind"] == "move") {
      EXPECT_EQ(event["outcome"]["verdict"], "rolled_back");
      EXPECT_LT(event["outcome"]["realised_gain"].get<double>(), 0);
    }
}

TEST_F(Explain, TellsDriftPauseAndReleasedWorkers) {
  {
    TunerRun run(8, {line({1e-3, 2e-3, 4e-3}, 0.2)}, options_);
    run.run_until(4);
    run.change(1, [](detail::ScenarioStage& stage) { stage.seconds = 8e-3; });
    run.run_until(8);
    run.plant.set_consumer({.per_second = 50});
    run.run_until(30);
    run.plant.pause_consumer(3);
    run.run_until(36);
  }
  const std::string text = flat_story();
  EXPECT_THAT(text, ContainsRegex("s relearn costs changed: b \\(2\\.[0-9] ms to "));
  EXPECT_THAT(text, HasSubstr("workers share freely"));
  EXPECT_THAT(text, HasSubstr("the consumer is the limit, it waits "));
  EXPECT_THAT(text, ContainsRegex("s release .*were needed"));
  EXPECT_THAT(text, ContainsRegex("s left out next\\(\\) was not called"));
  EXPECT_THAT(text, ContainsRegex("[1-7] of 8 workers awake, [1-7] needed"));
}

TEST_F(Explain, TellsWhatWasDoneByHand) {
  {
    TunerRun run(8, {line({4e-3, 8e-3})}, options_);
    run.run_until(3);
    Allocation mine = run.plant.allocation();
    mine.stages[0].target = 6;
    mine.stages[1].target = 1;
    ASSERT_TRUE(run.plant.apply(mine));
    run.run_until(6);
  }
  EXPECT_THAT(flat_story(),
              ContainsRegex("s by hand somebody else set the workers: b [0-9.]+ to 1, "
                            "a [0-9.]+ to 6"));
}

TEST_F(Explain, TellsLoadersThatCome) {
  {
    TunerRun run(8, {line({4e-3, 8e-3})}, options_);
    run.run_until(2);
    detail::ScenarioProcess second = line({2e-3, 2e-3});
    second.name = "validation";
    run.set_loaders({line({4e-3, 8e-3}), second});
    run.run_until(5);
  }
  const std::string text = flat_story();
  EXPECT_THAT(text, HasSubstr("loaders came or went, there are 2: everything starts over"));
  EXPECT_THAT(text, HasSubstr("validation: "));
  EXPECT_THAT(text, HasSubstr("validation/b"));
}

TEST_F(Explain, TenEventfulMinutesFitOnTwoScreens) {
  {
    TunerRun run(8, {line({10e-3, 20e-3, 40e-3}, 0.3)}, options_);
    for (int k = 0; k < 40; ++k) {
      run.change(1,
                 [k](detail::ScenarioStage& stage) { stage.seconds = k % 2 == 0 ? 20e-3 : 60e-3; });
      run.run_until(15 * (k + 1));
    }
  }
  const std::string text = story();
  EXPECT_LE(lines_of(text), 90);
  EXPECT_THAT(text, HasSubstr("changes of costs"));
  EXPECT_THAT(text, HasSubstr("--json has each"));
  EXPECT_GT(document()["events"].size(), 60u);
  std::istringstream stream(text);
  for (std::string each; std::getline(stream, each);) EXPECT_LE(each.size(), 100u) << each;
}

TEST_F(Explain, PoliciesWithoutAControllerHaveAStory) {
  for (const char* policy : {"share", "even", "fixed"}) {
    options_.policy = policy;
    {
      TunerRun run(4, {line({4e-3, 8e-3})}, options_);
      run.run_until(2);
    }
    EXPECT_THAT(flat_story(), HasSubstr(std::string("policy ") + policy + ", 4 workers"));
  }
}

TEST_F(Explain, TellsWhoTookTheCpus) {
  {
    TunerRun run(8, {line({4e-3, 8e-3, 32e-3}, 0.1)}, options_);
    run.run_until(4);
    run.machine.set_cores_taken(4);
    run.run_until(8);
  }
  const std::string text = flat_story();
  EXPECT_THAT(text, ContainsRegex("s limit workers wait for CPUs, others use [234]"));
  EXPECT_THAT(text, ContainsRegex("host contended by others [0-9]+ % of the time; workers waited "
                                  "for a CPU [0-9.]+ ?% of the time they wanted one; other "
                                  "processes used [12]\\.[0-9] CPUs; [0-9]+ forced switches"));
  EXPECT_GT(document()["host"]["contended_shares"]["others"], 0.05);
  EXPECT_LT(document()["end"]["stages"][2]["blocked_share"], 0.05);
  // Version 2 had two of the figures, among those of the window.
  write(R"({"weir_log":2,"policy":"balance","budget":8,"loaders":["x"],"stages":[{"name":"a"}]})"
        "\n"
        R"({"time":1,"window":0.1,"label":"none","valid":true,"contended":true,)"
        R"("contended_by":"others","others_cores":3.5,"loaders":[{"name":"x"}],)"
        R"("stages":[{"name":"a"}],"decision":{"kind":"hold","phase":"steady","reason":"none"}})"
        "\n");
  EXPECT_THAT(flat_story(), HasSubstr("contended by others 100 % of the time; other processes used "
                                      "3.5 CPUs"));
}

TEST_F(Explain, LogThatIsCutOffIsToldAsFarAsItGoes) {
  {
    TunerRun run(8, {line({4e-3, 8e-3, 32e-3}, 0.1)}, options_);
    run.run_until(3);
  }
  const std::string whole = log();
  write(whole.substr(0, whole.size() - 50));
  EXPECT_THAT(flat_story(),
              AllOf(HasSubstr("s jump "), HasSubstr("note: line "),
                    HasSubstr("is cut off: the run was killed, or is still going on")));
  // Nothing but the head, and not even that.
  write(whole.substr(0, whole.find('\n') + 20));
  EXPECT_THAT(flat_story(),
              AllOf(HasSubstr("nothing was decided"), HasSubstr("note: line 2 is cut")));
  EXPECT_TRUE(document()["end"].is_null());
  write(whole.substr(0, 30));
  EXPECT_THAT(flat_story(),
              AllOf(HasSubstr("nothing was decided"), HasSubstr("note: line 1 is cut")));
}

// The whole way: a live run, its log, the story, and the same decisions again.
TEST_F(Explain, LogOfALiveRunIsToldAndReplays) {
  const ProgramEnd end =
      run_program({"run", std::string(WEIR_TEST_SOURCE_DIR) + "/configs/emulated_4_8_32.yaml",
                   "--autotune", "--log", path_, "--seconds", "2", "--json", "--quiet"});
  ASSERT_EQ(end.status, 0) << end.err;
  double shares = 0;
  const json document = json::parse(end.out);
  for (const auto& [label, share] : document["tuning"]["label_shares"].items())
    shares += share.get<double>();
  EXPECT_NEAR(shares, 1, 1e-9);
  EXPECT_THAT(flat_story(), HasSubstr("4 stages (short, middle, long, batch)"));
  const ProgramEnd again = run_program({"sim", "--replay", path_});
  EXPECT_EQ(again.status, 0) << again.out << again.err;
}

TEST_F(Explain, WhatIsNoLogIsRefused) {
  write("");
  refused_with("is empty");
  write("weir: 1\nname: p\n");
  refused_with(":1: is no decision log");
  write("{\"pipeline\": \"p\"}\n");
  refused_with(":1: is no decision log: its first line has no 'weir_log'");
  write("{\"weir_log\": 7}\n");
  refused_with("was written by a later weir (weir_log: 7)");
  write(std::string("{\0\xff\n\n", 5));
  refused_with(":1: is not JSON at character 2: {??");
  std::filesystem::remove(path_);
  refused_with("the decision log cannot be read: No such file or directory");
}

TEST(ExplainHelp, IsThere) {
  EXPECT_THAT(run_program({"help", "explain"}).out, AllOf(HasSubstr("LOG"), HasSubstr("--json")));
  EXPECT_THAT(run_program({"help"}).out, HasSubstr("explain LOG"));
  const ProgramEnd none = run_program({"explain"});
  EXPECT_EQ(none.status, 2);
  EXPECT_THAT(none.err, HasSubstr("name a LOG"));
}

TEST(StoryWords, MovesBetweenStages) {
  using program::change_in_words;
  Allocation before;
  before.active = 8;
  before.stages = {{.target = 3}, {.target = 4}, {.target = 1}};
  Allocation after = before;
  after.stages[0].target = 2;
  after.stages[1].target = 5;
  const std::vector<std::string> names{"read", "decode", "batch"};
  EXPECT_EQ(change_in_words(before, after, names, 8), "1 worker from read to decode");
  after.stages[1].target = 4.5;
  after.stages[2].target = 1.5;
  after.active = 6;
  EXPECT_EQ(change_in_words(before, after, names, 8),
            "read 3 to 2, decode 4 to 4.5, batch 1 to 1.5; 6 of 8 workers awake");
  after = before;
  after.stages[1].cap = 4;
  EXPECT_EQ(change_in_words(before, after, names, 8), "decode capped at 4");
  EXPECT_EQ(change_in_words(after, before, names, 8), "decode no longer capped");
  EXPECT_EQ(change_in_words(before, before, names, 8), "");
}

TEST(StoryWords, Outcomes) {
  using program::outcome_in_words;
  Outcome outcome{Outcome::Verdict::kept, MoveKind::move, 0.18, 0.16, 0};
  EXPECT_EQ(outcome_in_words(outcome), "predicted +18 %, got +16 %: kept");
  outcome = {Outcome::Verdict::rolled_back, MoveKind::move, 0.18, -0.052, 0.02};
  EXPECT_EQ(outcome_in_words(outcome), "predicted +18 %, got -5.2 % (give or take 2): taken back");
  outcome = {Outcome::Verdict::undecided, MoveKind::release, 0, 0.0001, 0.001};
  EXPECT_EQ(outcome_in_words(outcome), "the rate changed by 0 %: kept, though not certain");
}

TEST(StoryText, CondensesTheMiddleAlone) {
  std::vector<program::StoryEvent> events;
  for (int i = 0; i < 100; ++i) {
    program::StoryEvent& event = events.emplace_back();
    event.seconds = event.until_seconds = i;
    event.kind = i % 2 == 0 ? "move" : "limit";
    event.text = std::to_string(i);
  }
  const std::vector<program::StoryEvent> few = program::condensed(events, 20);
  EXPECT_LE(few.size(), 20u);
  EXPECT_EQ(few.front().text, "0");
  EXPECT_EQ(few.back().text, "99");
  double last = -1;
  for (const program::StoryEvent& event : few) {
    EXPECT_GT(event.seconds, last);
    last = event.until_seconds;
  }
  EXPECT_EQ(program::condensed(events, 100).size(), 100u);
}

}  // namespace
}  // namespace weir::test
