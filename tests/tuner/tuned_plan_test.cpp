// The loading table, row by row.

#include <weir/tuned_plan.hpp>

#include "tests/tuner/tuner_run.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weir {
namespace {

using Action = TunedPlan::Action;
using testing::HasSubstr;

constexpr int kNoCap = std::numeric_limits<int>::max();

class LoadingTable : public testing::Test {
 protected:
  LoadingTable() {
    context_.pipeline = {"p", "5f1c"};
    context_.machine = {"cpu", 8, 4, 1, "none", "24GiB", "91ab"};
    context_.stages = {{"read"}, {"decode"}, {"batch"}};
    context_.budget = 8;
    file_.path = "t.yaml";
    file_.pipeline = context_.pipeline;
    file_.machine = context_.machine;
    file_.budget = {8, 7, "1GiB", false};
    file_.stages = {{"read", 1, 0.4, 8, 1}, {"decode", 5, 5.7, 8, 1}, {"batch", 1, 0.7, 2, 1}};
    file_.queues = {{"decode", 16}};
    file_.evidence.label = "stage:decode";
    file_.evidence.stages = {{"read", 1000, 0.1, 1000, 32, {}, 0},
                             {"decode", 8000, 0.1, 1000, 32, {}, 0},
                             {"batch", 1000, 0.1, 1000, 32, {}, 0}};
  }
  TunedPlan plan() { return plan_tuned(file_, context_); }
  void refused_with(const std::string& text) {
    const TunedPlan made = plan();
    EXPECT_EQ(made.action, Action::refuse) << made.text;
    EXPECT_FALSE(made.allocation);
    EXPECT_THAT(made.text, HasSubstr(text));
    EXPECT_THAT(made.text, HasSubstr("t.yaml: "));
  }

  TunedFile file_;
  TunedContext context_;
};

TEST_F(LoadingTable, SamePipelineAndMachineIsUsedAsItIs) {
  const TunedPlan made = plan();
  ASSERT_EQ(made.action, Action::use) << made.text;
  EXPECT_EQ(made.allocation->active, 7);
  EXPECT_FALSE(made.allocation->strict);
  EXPECT_DOUBLE_EQ(made.allocation->stages[1].target, 5.7);
  EXPECT_EQ(made.allocation->stages[2].cap, 2);
  EXPECT_EQ(made.allocation->stages[1].depth_items, 16);
  EXPECT_EQ(made.allocation->stages[0].packet_items, 1);
}

TEST_F(LoadingTable, WithAutotuneItIsOnProbation) {
  context_.autotune = true;
  const TunedPlan made = plan();
  EXPECT_EQ(made.action, Action::probation);
  EXPECT_EQ(made.allocation->active, 7);
}

TEST_F(LoadingTable, StrictRunsTakeTheWholeWorkers) {
  context_.strict = true;
  const TunedPlan made = plan();
  ASSERT_EQ(made.action, Action::use);
  EXPECT_TRUE(made.allocation->strict);
  EXPECT_EQ(made.allocation->stages[1].target, 5);
  EXPECT_EQ(made.allocation->active, 7);
}

TEST_F(LoadingTable, StagesInAnotherOrderInTheFileAreSorted) {
  std::swap(file_.stages[0], file_.stages[2]);
  EXPECT_DOUBLE_EQ(plan().allocation->stages[0].target, 0.4);
}

TEST_F(LoadingTable, OtherMachineIsSolvedAgainFromTheEvidence) {
  context_.machine.fingerprint = "ffff";
  context_.budget = 20;
  const TunedPlan made = plan();
  ASSERT_EQ(made.action, Action::solved);
  EXPECT_THAT(made.text, HasSubstr("another machine (cpu, 8 threads)"));
  EXPECT_THAT(made.text, HasSubstr("solved again"));
  EXPECT_EQ(made.allocation->active, 20);
  EXPECT_NEAR(made.allocation->stages[1].target, 16, 1e-6);
  EXPECT_EQ(made.allocation->stages[1].depth_items, 16);
}

TEST_F(LoadingTable, EvidenceOfAConsumerLimitsTheWorkers) {
  context_.machine.fingerprint = "ffff";
  context_.budget = 20;
  file_.evidence.label = "consumer";
  file_.evidence.consumer_rate_per_second = 10;
  // 0.32 s of work a batch, ten a second and a tenth more.
  EXPECT_EQ(plan().allocation->active, 4);
}

TEST_F(LoadingTable, StageThatGetsSlowerKeepsItsCapOnAnotherMachine) {
  context_.machine.fingerprint = "ffff";
  context_.budget = 32;
  file_.evidence.stages[1].levels = {{1, 8000}, {2, 8000}, {3, 8000}, {4, 24000}, {5, 30000}};
  for (const bool strict : {false, true}) {
    context_.strict = strict;
    const TunedPlan made = plan();
    ASSERT_EQ(made.action, Action::solved) << made.text;
    // Three workers are the most that help; more of them need more of nobody else.
    if (!strict) {
      EXPECT_EQ(made.allocation->stages[1].cap, 3);
    }
    EXPECT_LE(made.allocation->stages[1].target, 3);
    EXPECT_LE(made.allocation->active, 6);
  }
}

TEST_F(LoadingTable, CapThatTheLevelsDoNotExplainIsKept) {
  context_.machine.fingerprint = "ffff";
  context_.budget = 32;
  file_.stages[1].cap = 3;
  file_.evidence.stages[1].levels = {{1, 8000}, {2.9, 8000}};
  EXPECT_EQ(plan().allocation->stages[1].cap, 3);
  // Levels beyond it say themselves what more workers are good for.
  file_.evidence.stages[1].levels = {{1, 8000}, {3, 8000}, {7.8, 8000}};
  EXPECT_EQ(plan().allocation->stages[1].cap, kNoCap);
  // A cap as high as the file's budget is none.
  file_.evidence.stages[1].levels = {{1, 8000}, {2.9, 8000}};
  file_.stages[1].cap = 8;
  EXPECT_EQ(plan().allocation->stages[1].cap, kNoCap);
}

TEST_F(LoadingTable, OtherMachineWithoutEvidenceIsRefusedWithTheMissingKeys) {
  context_.machine.fingerprint = "ffff";
  file_.evidence.stages.pop_back();
  file_.evidence.stages[0].service_time_us = 0;
  refused_with("evidence.stages.read.service_time_us, evidence.stages.batch.service_time_us");
}

TEST_F(LoadingTable, WorkersAboveTheFilesOwnBudgetAreRefused) {
  file_.stages[1].workers = 7;
  refused_with("its workers add up to 9, its budget is 8");
}

TEST_F(LoadingTable, ActiveAboveTheFilesOwnBudgetIsRefused) {
  file_.budget.active = 9;
  refused_with("'active' is 9, its budget is 8");
}

TEST_F(LoadingTable, SmallerBudgetIsSolvedAgainOrRefused) {
  context_.budget = 4;
  const TunedPlan made = plan();
  ASSERT_EQ(made.action, Action::solved);
  EXPECT_EQ(made.allocation->active, 4);
  EXPECT_THAT(made.text, HasSubstr("tuned for 8 threads, there are 4"));
  file_.evidence.stages.clear();
  refused_with("tuned for 8 threads, there are 4");
}

TEST_F(LoadingTable, LargerBudgetIsSolvedAgain) {
  context_.budget = 16;
  const TunedPlan made = plan();
  ASSERT_EQ(made.action, Action::solved);
  EXPECT_EQ(made.allocation->active, 16);
}

TEST_F(LoadingTable, OtherPipelineIsRefusedWithWhatDiffers) {
  context_.stages[1].name = "resize";
  refused_with("the file lacks the stages resize; the pipeline lacks the stages decode");
}

TEST_F(LoadingTable, OtherParametersAreRefused) {
  context_.pipeline.structure = "0000";
  refused_with("structure 5f1c in the file, 0000 here");
}

TEST_F(LoadingTable, OtherPipelineMayBeIgnored) {
  context_.pipeline.structure = "0000";
  context_.ignore_mismatch = true;
  const TunedPlan made = plan();
  EXPECT_EQ(made.action, Action::ignore);
  EXPECT_FALSE(made.allocation);
  EXPECT_THAT(made.text, HasSubstr("is ignored"));
}

TEST_F(LoadingTable, FileMadeByHandIsTakenAsThisMachines) {
  file_ = parse_tuned_file(
      "weir_tuned: 1\nstages: {read: {workers: 1}, decode: {workers: 3}, batch: {workers: 1}}\n"
      "queues: {decode: {items: 9}}\nbudget: {threads: 5}\n",
      "t.yaml");
  const TunedPlan made = plan();
  ASSERT_EQ(made.action, Action::use) << made.text;
  EXPECT_EQ(made.allocation->active, 5);
  EXPECT_EQ(made.allocation->stages[1].target, 3);
  EXPECT_EQ(made.allocation->stages[1].cap, 3);
  EXPECT_EQ(made.allocation->stages[1].depth_items, 9);
}

TEST_F(LoadingTable, FileMadeByHandForMoreThanThereIsIsRefused) {
  file_ = parse_tuned_file(
      "weir_tuned: 1\nstages: {read: {workers: 4}, decode: {workers: 4}, batch: {workers: 4}}\n",
      "t.yaml");
  refused_with("its workers add up to 12, its budget is 8");
}

TEST_F(LoadingTable, UnknownNamesInQueuesAndGroupsAreRefused) {
  file_.queues.push_back({"decodee", 3});
  refused_with("'queues' has the unknown stage 'decodee'");
  file_.queues.clear();
  file_.groups = {{{"read", "what"}, 1}};
  refused_with("a group has the unknown stage 'what'");
}

TEST_F(LoadingTable, GroupsCountOnceAndAreStrict) {
  context_.budget = 2;
  file_.budget = {2, 2, "", true};
  file_.stages = {{"read", 1, {}, {}, {}}, {"decode", 1, {}, {}, {}}, {"batch", 1, {}, {}, {}}};
  file_.groups = {{{"decode", "batch"}, 1}};
  const TunedPlan made = plan();
  ASSERT_EQ(made.action, Action::use) << made.text;
  EXPECT_EQ(made.allocation->groups, (std::vector<int>{1}));
  EXPECT_EQ(made.allocation->stages[0].group, -1);
  EXPECT_EQ(made.allocation->stages[2].group, 0);
  EXPECT_EQ(made.allocation->active, 2);
}

TEST_F(LoadingTable, WhatIsSetInThePipelineHolds) {
  context_.stages[0].serial = true;
  context_.stages[1].fixed_workers = 2;
  context_.stages[2].hand_cap = 1;
  const TunedPlan made = plan();
  EXPECT_EQ(made.allocation->stages[0].cap, 1);
  EXPECT_EQ(made.allocation->stages[1].target, 2);
  EXPECT_EQ(made.allocation->stages[1].cap, 2);
  EXPECT_EQ(made.allocation->stages[2].cap, 1);
}

const TunedOrigin kOrigin{{"p", "1"}, {"cpu", 8, 8, 1, "none", "1GiB", "f"},
                          0,          "1GiB",
                          {},         "",
                          {},         "2026-11-30T12:00:00Z"};

TEST(TunedOriginAndBack, WhatWasLearntIsUsedAgain) {
  for (const bool strict : {false, true}) {
    TuningOptions options;
    options.strict = strict;
    test::TunerRun run(8, {test::line({4e-3, 8e-3, 32e-3}, 0.1)}, options);
    EXPECT_FALSE(make_tuned_file(run.tuner.status(), kOrigin));  // nothing verified yet
    run.run_until(5);
    const std::optional<TunedFile> made = make_tuned_file(run.tuner.status(), kOrigin);
    ASSERT_TRUE(made);
    const TunedFile file = parse_tuned_file(tuned_file_text(*made), "t.yaml");
    EXPECT_EQ(*file.stages[2].workers, 5);
    EXPECT_EQ(*file.budget.active, 8);
    EXPECT_TRUE(*file.written->settled);
    TunedContext context;
    context.pipeline = {"p", "1"};
    context.machine.fingerprint = "f";
    context.stages = {{"a"}, {"b"}, {"c"}};
    context.budget = 8;
    const TunedPlan plan = plan_tuned(file, context);
    ASSERT_EQ(plan.action, TunedPlan::Action::use) << plan.text;
    EXPECT_EQ(plan.allocation->strict, strict);
    EXPECT_NEAR(plan.allocation->stages[2].target, strict ? 5 : 8 * 32.0 / 44, 0.1);
    // Static, from the first step on.
    test::SimulatedLine loaded_run(test::line({4e-3, 8e-3, 32e-3}, 0.1), 8);
    Allocation loaded = *plan.allocation;
    loaded.structure = loaded_run.plant.snapshot().structure;
    ASSERT_TRUE(loaded_run.plant.apply(loaded));
    loaded_run.run(0.5);
    EXPECT_GE(loaded_run.rate(5), 0.97 * (strict ? 5 / 32e-3 : 8 / 44e-3));
  }
}

// More than three workers at once and each takes three times as long. What was found on 8 workers
// is right for 16, though a solution by mean times would not be.
TEST(TunedOriginAndBack, StageThatGetsSlowerIsRightOnAnotherMachine) {
  detail::ScenarioProcess process = test::line({1e-3, 1e-3, 4e-3}, 0.05);
  process.stages[2].slow_above = 3;
  process.stages[2].slow_factor = 3;
  test::TunerRun run(8, {process});
  run.run_until(30);
  const std::optional<TunedFile> made = make_tuned_file(run.tuner.status(), kOrigin);
  ASSERT_TRUE(made);
  const TunedFile file = parse_tuned_file(tuned_file_text(*made), "t.yaml");
  EXPECT_GE(file.evidence.stages[2].levels.size(), 2u);
  EXPECT_GT(file.evidence.stages[2].samples, 30u);
  TunedContext context;
  context.pipeline = {"p", "1"};
  context.machine.fingerprint = "another";
  context.stages = {{"a"}, {"b"}, {"c"}};
  context.budget = 16;
  const TunedPlan plan = plan_tuned(file, context);
  ASSERT_EQ(plan.action, TunedPlan::Action::solved) << plan.text;
  EXPECT_EQ(plan.allocation->stages[2].cap, 3);
  test::SimulatedLine other(process, 16);
  Allocation loaded = *plan.allocation;
  loaded.structure = other.plant.snapshot().structure;
  ASSERT_TRUE(other.plant.apply(loaded));
  other.run(0.5);
  EXPECT_GE(other.rate(5), 0.97 * 3 / 4e-3);
}

TEST(TunedOriginAndBack, EvidenceIsFromBeforeOthersTookTheCpus) {
  TuningStatus status;
  status.budget = 4;
  status.best_verified = Allocation{};
  status.best_verified->stages.resize(1);
  status.loaders.resize(1);
  status.stages.resize(1);
  status.stages[0].name = "a";
  status.evidence = status.stages;
  status.stages[0].estimate.service_seconds = 9e-3;
  status.evidence[0].estimate.service_seconds = 3e-3;
  status.label = "contended";
  status.label_shares = {{"contended", 0.6}, {"consumer", 0.1}, {"stage:a", 0.3}};
  const std::optional<TunedFile> file = make_tuned_file(status, kOrigin);
  ASSERT_TRUE(file);
  EXPECT_EQ(file->evidence.label, "stage:a");
  EXPECT_DOUBLE_EQ(file->evidence.stages[0].service_time_us, 3000);
}

TEST(TunedOriginAndBack, DiskShareIsWrittenWhereItIsKnown) {
  test::TunerRun run(8, {test::line({4e-3, 8e-3}, 0.1)});
  run.run_until(5);
  TunedOrigin origin = kOrigin;
  EXPECT_FALSE(make_tuned_file(run.tuner.status(), origin)->evidence.disk_share);
  origin.disk_share = 0.25;
  const TunedFile file = *make_tuned_file(run.tuner.status(), origin);
  EXPECT_EQ(parse_tuned_file(tuned_file_text(file), "t.yaml").evidence.disk_share, 0.25);
}

}  // namespace
}  // namespace weir
