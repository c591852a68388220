// What a scenario file may say, and what a mistake in one is answered with.
#include "src/scenario_reader.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <weir/error.hpp>

#include "tests/program/photo_folder.hpp"
#include "tuner/score.hpp"

namespace weir::detail {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::StartsWith;

/// Each key that there is.
constexpr const char* kWhole = R"(weir_scenario: 1
name: skewed_costs
workers: 8
cores: 8
quota: none
strict: false
start: {a: 1, b: 1}
order: input
live: true
stages:
  - {name: a, time: 2ms, cv: 0.1}
  - {name: b, kind: wait, time: 4ms, limit: 4}
  - {name: c, time: 16ms, scaling: {contention: 0.05, coherence: 0.002}}
  - {name: d, time: 1ms, serial: true}
  - {name: e, time: 1ms, keep: 0.5}
  - {name: p, time: 2ms, plateau: 4}
  - {name: k, time: 2ms, slowdown: {above: 3, factor: 2}}
  - {name: s, time: 1ms, split: 8}
  - {name: t, time: 1ms, distribution: lognormal, cv: 2, tail: {probability: 0.001, factor: 100}}
  - {name: f, time: 3ms, batch: 32, bytes_out: 19MiB}
consumer: {rate: 100, period: 1s, duty: 0.5}
source: {rate: 1000}
processes: 1
tuned: file.yaml
events:
  - {at: 10s, stage: a, time: 8ms}
  - {at: 10s, over: 5s, stage: b, time: 8ms}
  - {at: 12s, stage: e, keep: 0.1}
  - {at: 10s, until: 20s, cores_taken: 3}
  - {at: 10s, workers: 6}
  - {at: 10s, stage: b, limit: 2}
  - {at: 15s, consumer: {rate: 400}}
memory: 1GiB
duration: 30s
repeats: 10
seed: 1
must: {efficiency: 0.97, worst: 0.9, whole_run: 0.9, of_start: 0.99, settle: 2s, moves: 3,
       moves_after_settling: 0, reversals: 1, reaction: 1s, recovery: 3s, label: "stage:c",
       unparked: 1.15, consumer_wait: 0.02, throttled: 0.01,
       cost_error: 0.03, visit_error: 0.05, bytes: 1.0, cpu: 1.15, jain: 0.95}
)";

TEST(ScenarioReader, TakesEveryKey) {
  const Scenario scenario = read_scenario(kWhole, "suite/whole.yaml");
  EXPECT_EQ(scenario.name, "skewed_costs");
  EXPECT_EQ(scenario.file, "suite/whole.yaml");
  EXPECT_THAT(scenario.workers, ElementsAre(8));
  EXPECT_EQ(scenario.cores, 8);
  EXPECT_EQ(scenario.quota_cpus, 0);
  EXPECT_EQ(scenario.start.kind, ScenarioStart::Kind::by_hand);
  EXPECT_THAT(scenario.start.workers, ElementsAre(Pair("a", 1.0), Pair("b", 1.0)));
  EXPECT_EQ(scenario.tuned, "suite/file.yaml");
  ASSERT_EQ(scenario.processes.size(), 1U);
  const ScenarioProcess& process = scenario.processes.front();
  EXPECT_EQ(process.consumer.per_second, 100);
  EXPECT_EQ(process.consumer.period_seconds, 1);
  EXPECT_EQ(process.consumer.duty, 0.5);
  EXPECT_EQ(process.source.per_second, 1000);
  EXPECT_EQ(process.memory_bytes, 1U << 30U);
  EXPECT_TRUE(process.ordered);
  EXPECT_EQ(scenario.duration_seconds, 30);
  EXPECT_EQ(scenario.must.size(), 18U);
  EXPECT_EQ(scenario.must.at("settle"), 2);
  EXPECT_EQ(scenario.must.at("consumer_wait"), 0.02);
  EXPECT_EQ(scenario.must_label, "stage:c");
}

TEST(ScenarioReader, TakesEveryKindOfStage) {
  const Scenario scenario = read_scenario(kWhole, "whole.yaml");
  const std::vector<ScenarioStage>& stages = scenario.processes.front().stages;
  ASSERT_EQ(stages.size(), 10U);
  EXPECT_THAT(stages[0].seconds, DoubleEq(0.002));
  EXPECT_EQ(stages[0].spread, Spread::lognormal);
  EXPECT_EQ(stages[1].kind, ScenarioStage::Kind::wait);
  EXPECT_EQ(stages[1].limit, 4);
  EXPECT_EQ(stages[1].spread, Spread::constant);
  EXPECT_EQ(stages[2].contention, 0.05);
  EXPECT_EQ(stages[2].coherence, 0.002);
  EXPECT_TRUE(stages[3].serial);
  EXPECT_EQ(stages[4].keep, 0.5);
  EXPECT_EQ(stages[5].plateau, 4);
  EXPECT_EQ(stages[6].slow_above, 3);
  EXPECT_EQ(stages[6].slow_factor, 2);
  EXPECT_EQ(stages[7].split, 8);
  EXPECT_EQ(stages[8].cv, 2);
  EXPECT_EQ(stages[8].tail_probability, 0.001);
  EXPECT_EQ(stages[8].tail_factor, 100);
  EXPECT_EQ(stages[9].batch, 32);
  EXPECT_EQ(stages[9].bytes_out, 19.0 * (1 << 20));
}

TEST(ScenarioReader, PutsEventsInTheirOrder) {
  const std::vector<ScenarioEvent> events = read_scenario(kWhole, "whole.yaml").events;
  ASSERT_EQ(events.size(), 7U);
  EXPECT_EQ(events[0].stage, 0);
  EXPECT_THAT(events[0].changes, ElementsAre(Pair(StageField::seconds, DoubleEq(0.008))));
  EXPECT_EQ(events[0].until_seconds, std::numeric_limits<double>::infinity());
  EXPECT_EQ(events[1].over_seconds, 5);
  EXPECT_EQ(events[2].cores_taken, 3);
  EXPECT_EQ(events[2].until_seconds, 20);
  EXPECT_EQ(events[3].workers, 6);
  EXPECT_THAT(events[4].changes, ElementsAre(Pair(StageField::limit, 2.0)));
  EXPECT_THAT(events[5].changes, ElementsAre(Pair(StageField::keep, 0.1)));  // at 12 s
  ASSERT_TRUE(events[6].consumer);
  EXPECT_EQ(events[6].consumer->per_second, 400);
}

/// The least that a scenario says, its name in line 2, and more lines from line 5 on.
std::string with(const std::string& lines, const std::string& stages = "{name: a, time: 2ms}") {
  return "weir_scenario: 1\nworkers: 8\nstages:\n  - " + stages + "\n" + lines;
}

TEST(ScenarioReader, HasDefaults) {
  const Scenario scenario = read_scenario(with(""), "suite/01_least.yaml");
  EXPECT_EQ(scenario.name, "01_least");
  EXPECT_EQ(scenario.cores, 0);
  EXPECT_EQ(scenario.start.kind, ScenarioStart::Kind::policy);
  EXPECT_TRUE(scenario.live);
  EXPECT_FALSE(scenario.strict);
  EXPECT_EQ(scenario.duration_seconds, 30);
  EXPECT_EQ(scenario.repeats, 10);
  EXPECT_EQ(scenario.seed, 1U);
  EXPECT_TRUE(scenario.tuned.empty());
  EXPECT_TRUE(scenario.must.empty());
  EXPECT_EQ(scenario.processes.front().memory_bytes, 0);
  EXPECT_EQ(scenario.processes.front().consumer.per_second, 0);
}

TEST(ScenarioReader, GivesOneScenarioForEachStart) {
  const std::vector<Scenario> scenarios = read_scenarios(
      with("name: x\nstart: [policy, even, optimum, one_stage, {a: 3}]\n"), "x.yaml");
  std::vector<std::string> names;
  for (const Scenario& scenario : scenarios) names.push_back(scenario.name);
  EXPECT_THAT(names, ElementsAre("x/policy", "x/even", "x/optimum", "x/one_stage", "x/by_hand"));
  EXPECT_EQ(scenarios[3].start.kind, ScenarioStart::Kind::one_stage);
  EXPECT_EQ(scenarios[4].start.workers.at("a"), 3);
}

TEST(ScenarioReader, RepeatsItsProcess) {
  const Scenario scenario = read_scenario(with("processes: 3\n"), "x.yaml");
  ASSERT_EQ(scenario.processes.size(), 3U);
  EXPECT_EQ(scenario.processes[2].stages.front().name, "a");
}

TEST(ScenarioReader, TakesProcessesFromFilesBesideIt) {
  const std::string part =
      test::temporary_file("part.yaml", with("memory: 4MiB\n", "{name: z, time: 1ms}"));
  const std::string file = test::temporary_file(
      "line.yaml", with("processes: [" + std::filesystem::path(part).filename().string() + "]\n"));
  const Scenario scenario = load_scenario(file);
  ASSERT_EQ(scenario.processes.size(), 2U);
  EXPECT_EQ(scenario.processes[0].stages.front().name, "a");
  EXPECT_EQ(scenario.processes[1].stages.front().name, "z");
  EXPECT_EQ(scenario.processes[1].memory_bytes, 4 << 20);
  EXPECT_THAT(scenario.processes[1].name, HasSubstr("part"));
}

TEST(ScenarioReader, FollowsNoChainOfFiles) {
  const std::string file = test::fresh_path("loop.yaml");
  std::ofstream(file) << with("processes: ['" + file + "']\n");
  try {
    static_cast<void>(load_scenario(file));
    FAIL() << "taken";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("loop.yaml:5:13: '"));
    EXPECT_THAT(error.what(), HasSubstr("has processes of its own"));
  }
}

/// The bounds that a file may set are those that are judged, each with its unit.
TEST(ScenarioReader, KnowsEachMust) {
  for (const MustInfo& must : musts()) {
    const std::string value = must.unit == MustInfo::Unit::seconds ? "1s" : "1";
    const std::string lines = "must: {" + std::string(must.name) + ": " + value + "}\n";
    EXPECT_EQ(read_scenario(with(lines), "x.yaml").must.at(std::string(must.name)), 1);
  }
  try {
    static_cast<void>(read_scenario(with("must: {x: 1}\n"), "x.yaml"));
    FAIL() << "taken";
  } catch (const Error& error) {
    const std::string message = error.what();
    const std::string allowed = message.substr(message.find("Allowed: "));
    EXPECT_EQ(static_cast<std::size_t>(std::count(allowed.begin(), allowed.end(), ',')),
              musts().size());  // and label
  }
}

struct Mistake {
  const char* name;
  std::string text;
  std::string place;
  std::vector<std::string> words;
};

void PrintTo(const Mistake& mistake, std::ostream* out) { *out << mistake.name; }

class ScenarioMessages : public ::testing::TestWithParam<Mistake> {};

TEST_P(ScenarioMessages, NameThePlaceAndTheRemedy) {
  const Mistake& mistake = GetParam();
  try {
    static_cast<void>(read_scenarios(mistake.text, "s.yaml"));
    FAIL() << "taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_THAT(error.what(), StartsWith("s.yaml:" + mistake.place + ": "));
    for (const std::string& words : mistake.words) EXPECT_THAT(error.what(), HasSubstr(words));
  }
}

std::string stage(const std::string& keys) {
  return with("", "{name: a, time: 2ms, " + keys + "}");
}
std::string event(const std::string& keys) { return with("events:\n  - {" + keys + "}\n"); }

const std::vector<Mistake> kMistakes{
    {"pipeline", "weir: 1\n", "1:1", {"is a pipeline file, which weir run takes"}},
    {"other_file", "a: 1\n", "1:1", {"no 'weir_scenario: 1'"}},
    {"a_list", "- a\n", "1:1", {"no 'weir_scenario: 1'"}},
    {"version", "weir_scenario: 2\nworkers: 1\n", "1:16", {"'weir_scenario' is 2"}},
    {"key", with("durasion: 3s\n"), "5:1", {"unknown key 'durasion'", "did you mean 'duration'?"}},
    {"no_workers", "weir_scenario: 1\nstages: []\n", "1:1", {"'workers' is missing"}},
    {"no_stages", "weir_scenario: 1\nworkers: 2\n", "1:1", {"'stages:'", "missing"}},
    {"empty_stages", "weir_scenario: 1\nworkers: 2\nstages: []\n", "3:9", {"a list of stages"}},
    {"workers_zero", "weir_scenario: 1\nworkers: 0\n", "2:10", {"from 1 to 1024"}},
    {"workers_half", "weir_scenario: 1\nworkers: [2, 2.5]\n", "2:10", {"whole numbers"}},
    {"workers_text", "weir_scenario: 1\nworkers: many\n", "2:10", {"'many'", "list of numbers"}},
    {"cores", with("cores: 0\n"), "5:8", {"'cores' is 0"}},
    {"quota", with("quota: 0\n"), "5:8", {"'quota' is 0", "from 0.1"}},
    {"strict", with("strict: yes\n"), "5:9", {"true or false"}},
    {"order", with("order: inputt\n"), "5:8", {"did you mean input?"}},
    {"duration_unit", with("duration: 30\n"), "5:11", {"the unit is missing"}},
    {"duration_zero", with("duration: 0s\n"), "5:11", {"above 0"}},
    {"repeats", with("repeats: 0\n"), "5:10", {"from 1 to 1000"}},
    {"seed", with("seed: -1\n"), "5:7", {"of at least 0"}},
    {"memory", with("memory: 1XB\n"), "5:9", {"a size"}},

    {"start_word", with("start: evn\n"), "5:8", {"start is 'evn'", "did you mean 'even'?"}},
    {"start_stage", with("start: {b: 2}\n"), "5:9", {"unknown key 'b' in start", "Allowed: a"}},
    {"start_value", with("start: {a: -1}\n"), "5:12", {"'a' is -1"}},
    {"start_none", with("start: {}\n"), "5:8", {"names no stage"}},
    {"start_list", with("start: []\n"), "5:8", {"the list is empty"}},
    {"start_twice", with("start: [even, even]\n"), "5:15", {"'even' stands twice"}},

    {"stage_key", stage("limits: 3"), "4:26", {"unknown key 'limits' in stage a", "'limit'"}},
    {"stage_name", with("", "{time: 2ms}"), "4:5", {"'name' is missing"}},
    {"stage_time", with("", "{name: a}"), "4:5", {"stage a: 'time' is missing", "18ms"}},
    {"stage_unit", with("", "{name: a, time: 2}"), "4:21", {"the unit is missing"}},
    {"stage_text", with("", "a"), "4:5", {"by name"}},
    {"same_name",
     with("", "{name: a, time: 2ms}\n  - {name: a, time: 2ms}"),
     "5:12",
     {"'a' stands before"}},
    {"kind", stage("kind: io"), "4:32", {"one of cpu, wait"}},
    {"cv", stage("cv: -1"), "4:30", {"'cv' is -1"}},
    {"distribution", stage("distribution: gamma"), "4:40", {"constant, lognormal, normal"}},
    {"constant_cv", stage("cv: 1, distribution: constant"), "4:47", {"not constant"}},
    {"keep", stage("keep: 2"), "4:32", {"'keep' is 2"}},
    {"shapes", stage("keep: 0.5, batch: 4"), "4:44", {"a stage for each"}},
    {"serial", stage("serial: true, workers: 2"), "4:49", {"one worker"}},
    {"cap", stage("workers: 2, cap: 2"), "4:43", {"already is the cap"}},
    {"scaling", stage("scaling: {a: 1}"), "4:36", {"contention, coherence"}},
    {"slowdown", stage("slowdown: {above: 2}"), "4:36", {"'factor' is missing"}},
    {"tail", stage("tail: {probability: 2, factor: 2}"), "4:46", {"'probability' is 2"}},

    {"flow_key", with("consumer: {rat: 3}\n"), "5:12", {"'rate'"}},
    {"flow_rate", with("source: {rate: 0}\n"), "5:16", {"'rate' is 0"}},
    {"flow_period", with("source: {period: 1s}\n"), "5:18", {"needs 'rate'"}},
    {"flow_duty", with("source: {rate: 1, duty: 0.5}\n"), "5:25", {"needs 'period'"}},
    {"processes", with("processes: 0\n"), "5:12", {"from 1 to 64"}},
    {"processes_none", "weir_scenario: 1\nworkers: 1\nprocesses: 2\n", "3:12", {"no 'stages'"}},

    {"events", with("events: 3\n"), "5:9", {"must be a list"}},
    {"event_at", event("stage: a, time: 1ms"), "6:5", {"'at' is missing"}},
    {"event_late", event("at: 30s, workers: 2"), "6:10", {"before the end of the run, 30 s"}},
    {"event_stage", event("at: 1s, stage: aa, time: 1ms"), "6:21", {"no stage 'aa'", "'a'?"}},
    {"event_nothing", event("at: 1s"), "6:5", {"changes nothing"}},
    {"event_alone", event("at: 1s, time: 1ms"), "6:20", {"needs 'stage'"}},
    {"event_empty", event("at: 1s, stage: a"), "6:21", {"nothing of it changes"}},
    {"event_key", event("at: 1s, stage: a, tim: 1ms"), "6:24", {"did you mean 'time'?"}},
    {"event_until", event("at: 2s, until: 1s, workers: 2"), "6:21", {"later than 'at'"}},
    {"event_over",
     event("at: 2s, over: 1s, stage: a, limit: 2"),
     "6:20",
     {"'limit' changes at once"}},
    {"event_over_workers", event("at: 2s, over: 1s, workers: 2"), "6:20", {"of a stage"}},
    {"event_cores", event("at: 2s, cores_taken: 8"), "6:27", {"one of the 8 cores"}},
    {"event_batch", event("at: 2s, stage: a, batch: 8"), "6:31", {"gathers nothing"}},

    {"must", with("must: {efficency: 1}\n"), "5:8", {"did you mean 'efficiency'?"}},
    {"must_share", with("must: {efficiency: 97}\n"), "5:20", {"'efficiency' is 97", "as 1%"}},
    {"must_unit", with("must: {settle: 2}\n"), "5:16", {"the unit is missing"}},
    {"must_moves", with("must: {moves: 1.5}\n"), "5:15", {"a whole number"}},
    {"must_label", with("must: {label: consumr}\n"), "5:15", {"did you mean 'consumer'?"}},
    {"must_kind", with("must: {label: \"stag:a\"}\n"), "5:15", {"did you mean 'stage'?"}},
    {"must_stage", with("must: {label: \"stage:b\"}\n"), "5:15", {"no stage 'b'", "Stages: a"}},
};

INSTANTIATE_TEST_SUITE_P(All, ScenarioMessages, ::testing::ValuesIn(kMistakes),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(ScenarioReader, SaysWhatCannotBeRead) {
  try {
    static_cast<void>(load_scenario("no_such.yaml"));
    FAIL() << "taken";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "no_such.yaml: cannot be read: No such file or directory");
  }
}

}  // namespace
}  // namespace weir::detail
