// weir sim from outside: tables, JSON, exit statuses, where scenarios are found.
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/program/photo_folder.hpp"
#include "tests/program/program_run.hpp"

namespace weir::test {
namespace {

using nlohmann::json;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Words = std::vector<std::string>;

/// Three seconds of two stages on four workers.
std::string scenario(const std::string& must, const std::string& name = "small") {
  return "weir_scenario: 1\nname: " + name +
         "\nworkers: [2, 4]\nstages:\n  - {name: a, time: 4ms, cv: 0.1}\n  - {name: b, time: 8ms}\n"
         "duration: 3s\nrepeats: 2\nmust: {" +
         must + "}\n";
}

ProgramEnd sim(const std::string& file, const Words& more = {}) {
  Words words{"sim", file};
  words.insert(words.end(), more.begin(), more.end());
  return run_program(words);
}

TEST(Sim, ShowsARowForEachRunAndAScoreCard) {
  const ProgramEnd end = sim(temporary_file("sim_small.yaml", scenario("efficiency: 0.1")));
  EXPECT_EQ(end.status, 0) << end.err;
  EXPECT_EQ(end.err, "");
  for (const char* words : {"scenario", "efficiency", "small", "balance", "geometric mean", "ok"})
    EXPECT_THAT(end.out, HasSubstr(words));
}

TEST(Sim, ShowsPoliciesSideBySide) {
  const ProgramEnd end = sim(temporary_file("sim_small.yaml", scenario("efficiency: 0.1")),
                             {"--policy", "share,even", "--repeats", "1"});
  EXPECT_EQ(end.status, 0) << end.err;
  EXPECT_THAT(end.out, HasSubstr("share"));
  EXPECT_THAT(end.out, HasSubstr("even"));
  EXPECT_THAT(end.out, Not(HasSubstr("balance")));
}

TEST(Sim, JsonHasTheKeysThatScriptsRelyOn) {
  const ProgramEnd end = sim(temporary_file("sim_small.yaml", scenario("efficiency: 0.1")),
                             {"--json", "--policy", "balance,share"});
  ASSERT_EQ(end.status, 0) << end.err;
  const json document = json::parse(end.out);
  ASSERT_EQ(document.size(), 4U);
  for (const char* key : {"scenario",
                          "workers",
                          "policy",
                          "strict",
                          "plant",
                          "oracle_per_second",
                          "strict_oracle_per_second",
                          "start_per_second",
                          "steady_per_second",
                          "efficiency",
                          "efficiency_worst",
                          "efficiency_whole_run",
                          "settle_seconds",
                          "moves",
                          "moves_after_settling",
                          "reversals_per_minute",
                          "reaction_seconds",
                          "recovery_seconds",
                          "unparked_mean",
                          "workers_used",
                          "oracle_workers",
                          "budget_violations",
                          "wanted_excess",
                          "consumer_wait_share",
                          "throttled_share",
                          "cost_error",
                          "visit_error",
                          "cpu_share",
                          "peak_bytes_share",
                          "jain",
                          "label",
                          "passed"})
    EXPECT_TRUE(document[0].contains(key)) << key;
  EXPECT_EQ(document[0]["workers"], 2);
  EXPECT_EQ(document[1]["policy"], "share");
  EXPECT_EQ(document[2]["workers"], 4);
  EXPECT_EQ(document[0]["plant"], "simulated");
  EXPECT_EQ(document[0]["budget_violations"], 0);
  EXPECT_NEAR(document[2]["oracle_per_second"], 4 / 0.012, 0.01);
}

TEST(Sim, GivesTheSameAnswerTwice) {
  const std::string file = temporary_file("sim_small.yaml", scenario("efficiency: 0.1"));
  EXPECT_EQ(sim(file, {"--json"}).out, sim(file, {"--json"}).out);
}

TEST(Sim, SeedAndRepeatsChangeTheFigures) {
  const std::string file = temporary_file("sim_small.yaml", scenario("efficiency: 0.1"));
  EXPECT_NE(sim(file, {"--json"}).out, sim(file, {"--json", "--seed", "7"}).out);
}

TEST(Sim, StrictIsForEveryScenario) {
  const ProgramEnd end = sim(temporary_file("sim_small.yaml", scenario("efficiency: 0.1")),
                             {"--json", "--strict", "--repeats", "1"});
  const json document = json::parse(end.out);
  for (const json& score : document) EXPECT_EQ(score["strict"], true);
  EXPECT_NEAR(document[1]["oracle_per_second"], 250, 0.01);
}

TEST(Sim, ExitsWithOneWhereTheDefaultPolicyMissesABound) {
  const std::string file = temporary_file("hard.yaml", scenario("settle: 0s, efficiency: 1"));
  const ProgramEnd end = sim(file, {"--repeats", "1"});
  EXPECT_EQ(end.status, 1);
  EXPECT_THAT(end.out, HasSubstr("Missed:"));
  EXPECT_THAT(end.out, HasSubstr("efficiency"));
  const ProgramEnd in_json = sim(file, {"--repeats", "1", "--json"});
  EXPECT_EQ(in_json.status, 1);
  EXPECT_EQ(json::parse(in_json.out)[0]["passed"], false);
}

TEST(Sim, DoesNotJudgeOtherPolicies) {
  const std::string file = temporary_file("hard.yaml", scenario("cpu: 0"));
  const ProgramEnd end = sim(file, {"--repeats", "1", "--policy", "even"});
  EXPECT_EQ(end.status, 0);
  EXPECT_THAT(end.out, HasSubstr("Missed:"));
}

TEST(Sim, TakesSettingsOfThePolicy) {
  const std::string file = temporary_file("sim_small.yaml", scenario("efficiency: 0.1"));
  EXPECT_NE(sim(file, {"--json"}).out, sim(file, {"--json", "--set", "window=400ms"}).out);
  EXPECT_EQ(sim(file, {"--policy", "share,balance", "--set", "window=400ms"}).status, 0);
}

TEST(Sim, DrawsAPageThatNeedsNothingElse) {
  const std::string page = fresh_path("curves.html");
  const ProgramEnd end = sim(temporary_file("sim_small.yaml", scenario("efficiency: 0.1", "a<b&c")),
                             {"--plot", page, "--policy", "balance,share"});
  ASSERT_EQ(end.status, 0) << end.err;
  std::ifstream stream(page);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  std::size_t pictures = 0;
  for (std::size_t at = text.find("<svg"); at != std::string::npos; at = text.find("<svg", at + 1))
    ++pictures;
  EXPECT_EQ(pictures, 4U);
  EXPECT_THAT(text, HasSubstr("a&lt;b&amp;c"));
  EXPECT_THAT(text, HasSubstr("prefers-color-scheme: dark"));
  EXPECT_THAT(text, HasSubstr("items/s"));
  for (const char* reference : {"http", "src=", "href=", "url(", "@import", "<script"})
    EXPECT_THAT(text, Not(HasSubstr(reference)));
  EXPECT_THAT(text, Not(AnyOf(HasSubstr("nan"), HasSubstr("inf"))));
}

class SimFolder : public ::testing::Test {
 protected:
  SimFolder() : folder_(fresh_path("suite")) {
    std::filesystem::create_directory(folder_);
    std::ofstream(folder_ + "/01_first.yaml") << scenario("efficiency: 0.1", "first");
    std::ofstream(folder_ + "/02_second.yaml") << scenario("efficiency: 0.1", "second");
    std::ofstream(folder_ + "/notes.txt") << "no scenario";
  }
  ~SimFolder() override { std::filesystem::remove_all(folder_); }
  std::string folder_;
};

TEST_F(SimFolder, AllMeansEachFileInIt) {
  const ProgramEnd end = sim("all", {"--scenarios", folder_, "--repeats", "1", "--json"});
  ASSERT_EQ(end.status, 0) << end.err;
  const json document = json::parse(end.out);
  ASSERT_EQ(document.size(), 4U);
  EXPECT_EQ(document[0]["scenario"], "first");
  EXPECT_EQ(document[3]["scenario"], "second");
}

TEST_F(SimFolder, NamesAreLookedUpInIt) {
  for (const char* name : {"second", "02_second"}) {
    const ProgramEnd end = sim(name, {"--scenarios", folder_, "--repeats", "1", "--json"});
    ASSERT_EQ(end.status, 0) << end.err;
    EXPECT_EQ(json::parse(end.out)[0]["scenario"], "second");
  }
  const ProgramEnd end = sim("secnd", {"--scenarios", folder_});
  EXPECT_EQ(end.status, 2);
  EXPECT_THAT(end.err, HasSubstr("did you mean 'second'? Known: all, first, second"));
}

TEST_F(SimFolder, SeveralFilesAreRunInTheirOrder) {
  const ProgramEnd end = run_program(
      {"sim", "--repeats", "1", folder_ + "/02_second.yaml", folder_ + "/01_first.yaml", "--json"});
  ASSERT_EQ(end.status, 0) << end.err;
  EXPECT_EQ(json::parse(end.out)[0]["scenario"], "second");
  EXPECT_EQ(json::parse(end.out)[2]["scenario"], "first");
}

TEST_F(SimFolder, ThatIsNotThereIsSaid) {
  const ProgramEnd end = sim("all", {"--scenarios", folder_ + "/none"});
  EXPECT_EQ(end.status, 2);
  EXPECT_THAT(end.err, HasSubstr("no scenario files found in " + folder_ + "/none"));
}

struct Mistake {
  const char* name;
  Words words;
  const char* said;
};
void PrintTo(const Mistake& mistake, std::ostream* out) { *out << mistake.name; }

class SimMistakes : public ::testing::TestWithParam<Mistake> {};

TEST_P(SimMistakes, AreNamed) {
  const ProgramEnd end =
      sim(temporary_file("sim_small.yaml", scenario("moves: 3")), GetParam().words);
  EXPECT_EQ(end.status, 2);
  EXPECT_THAT(end.err, HasSubstr(GetParam().said));
}

const std::vector<Mistake> kMistakes{
    {"policy", {"--policy", "balanse"}, "did you mean 'balance'?"},
    {"policy_twice", {"--policy", "even,even"}, "'even' is named twice"},
    {"setting", {"--set", "windw=1s"}, "window"},
    {"setting_value", {"--set", "window=fast"}, "window"},
    {"repeats", {"--repeats", "0"}, "a whole number from 1 to 1000"},
    {"option", {"--plots", "x"}, "did you mean --plot?"},
    {"option_elsewhere", {"--epochs", "2"}, "it belongs to run, tune"},
    {"file", {"no_such.yaml"}, "no_such.yaml: cannot be read"},
};
INSTANTIATE_TEST_SUITE_P(All, SimMistakes, ::testing::ValuesIn(kMistakes),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(Sim, NamesThePlaceInAWrongFile) {
  const ProgramEnd end = sim(temporary_file("wrong.yaml", scenario("efficency: 1")));
  EXPECT_EQ(end.status, 2);
  EXPECT_THAT(end.err, HasSubstr("wrong.yaml:9:8: unknown key 'efficency' in must"));
}

TEST(Sim, WantsAScenario) {
  const ProgramEnd end = run_program({"sim"});
  EXPECT_EQ(end.status, 2);
  EXPECT_THAT(end.err, HasSubstr("name a scenario"));
}

TEST(Sim, RunsLiveAndSaysWhatTheSimulatorGives) {
  std::string text = scenario("efficiency: 0.1");
  text.replace(text.find("duration: 3s"), 12, "duration: 1s");
  const ProgramEnd end = sim(temporary_file("live.yaml", text), {"--live", "--json"});
  ASSERT_EQ(end.status, 0) << end.err;
  const json document = json::parse(end.out);
  ASSERT_EQ(document.size(), 2U);
  for (const json& score : document) {
    EXPECT_EQ(score["plant"], "live");
    EXPECT_EQ(score["time_scale"], 1);
    EXPECT_GT(score["simulated_per_second"], 0);
    EXPECT_EQ(score["budget_violations"], 0);
  }
}

TEST(Sim, LeavesOutWhatCannotRunLive) {
  const std::string file =
      temporary_file("dead.yaml", scenario("efficiency: 0.1") + "live: false\n");
  const ProgramEnd alone = sim(file, {"--live"});
  EXPECT_EQ(alone.status, 3);
  EXPECT_THAT(alone.err, HasSubstr("timed waits cannot stand in"));
  std::string text = scenario("efficiency: 0.1", "other");
  text.replace(text.find("duration: 3s"), 12, "duration: 1s");
  const ProgramEnd beside = sim(file, {temporary_file("live.yaml", text), "--live", "--json"});
  EXPECT_EQ(beside.status, 0) << beside.err;
  EXPECT_THAT(beside.err, HasSubstr("left out: " + file));
  EXPECT_EQ(json::parse(beside.out)[0]["scenario"], "other");
}

TEST(Sim, WritesADecisionLogOfOneRun) {
  const std::string file = temporary_file("small.yaml", scenario("efficiency: 0.1"));
  const ProgramEnd several = sim(file, {"--log", fresh_path("x.log")});
  EXPECT_EQ(several.status, 2);
  EXPECT_THAT(several.err, HasSubstr("these are 2 runs"));
  std::string text = scenario("efficiency: 0.1");
  text.replace(text.find("[2, 4]"), 6, "4");
  const std::string log = fresh_path("one.log");
  EXPECT_EQ(sim(temporary_file("one.yaml", text), {"--log", log}).status, 0);
  EXPECT_EQ(run_program({"sim", "--replay", log}).status, 0);
}

TEST(Sim, ReplaysADecisionLog) {
  const std::string log = fresh_path("waits.log");
  const ProgramEnd run = run_program({"run", WEIR_TEST_SOURCE_DIR "/configs/emulated_4_8_32.yaml",
                                      "--autotune", "--seconds", "2", "--log", log, "--quiet"});
  ASSERT_EQ(run.status, 0) << run.err;
  const ProgramEnd end = run_program({"sim", "--replay", log});
  EXPECT_EQ(end.status, 0) << end.out << end.err;
  const json document = json::parse(run_program({"sim", "--replay", log, "--json"}).out);
  EXPECT_EQ(document["same"], true);
  EXPECT_GT(document["windows"], 0);
  EXPECT_EQ(document["difference"], nullptr);
}

TEST(Sim, ReplaysOneThingAtATime) {
  const ProgramEnd end = run_program({"sim", "all", "--replay", "x.log"});
  EXPECT_EQ(end.status, 2);
  EXPECT_THAT(end.err, HasSubstr("takes no scenario beside the log"));
}

}  // namespace
}  // namespace weir::test
