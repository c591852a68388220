// What a pipeline file means: the stream, the options and the stage settings that it is read into.
#include <weir/load_pipeline.hpp>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <weir/error.hpp>
#include <weir/step.hpp>

#include "tests/program/photo_folder.hpp"

namespace weir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// The steps of a pipeline, source first.
std::vector<const detail::Step*> steps_of(const Pipeline& pipeline) {
  std::vector<const detail::Step*> steps;
  const auto last = std::visit([](const auto& stream) { return stream.step(); }, pipeline.stream);
  for (const detail::Step* at = last.get(); at != nullptr; at = at->previous.get())
    steps.insert(steps.begin(), at);
  return steps;
}

Pipeline parse(const std::string& text, const std::map<std::string, std::string>& variables = {},
               const std::vector<std::string>& stop_before = {}) {
  return parse_pipeline(text, "folder/train.yaml", variables, stop_before);
}

const detail::Step* step_named(const Pipeline& pipeline, const std::string& name) {
  for (const detail::Step* step : steps_of(pipeline))
    if (step->name == name) return step;
  ADD_FAILURE() << "no stage " << name;
  return nullptr;
}

const std::string kWhole = R"(
weir: 1
name: train
variables: {size: 224, keep: 50%, columns: [image, mask], count: 12}
seed: 7
pipeline:
  - range: {count: "${count}"}
  - shuffle
  - decode: {}
    columns: "${columns}"
    workers: 3
    queue: 8
    on_bad_sample: {action: replace, max: 3}
  - emulate: {wait: 16ms, cv: 0.2}
  - emulate: {wait: "${count}us"}
    cap: 2
  - filter: {keep: "${keep}"}
    name: half
  - hwc_to_chw:
    serial: true
  - batch: {size: 4, drop_remainder: true}
  - repeat: {times: 2}
  - take: {count: 5}
  - skip: {count: 1}
  - prefetch: {batches: 4}
consumer: {step_time: 18ms}
run:
  epochs: 3
  steps: 20
  seconds: 1.5
  workers: 2
  memory: 512MiB
  oversubscribe: true
  order: any
  fuse: all
  image_path: plain
  pin: none
  reserve: 1
  nested_threads: keep
  on_bad_sample: {action: skip, max: 1%, quarantine: bad.txt}
device: {kind: none, index: 0, depth: 3, sink_size: 1, normalize: auto}
tuning: {autotune: true, policy: balance, strict: true, settings: {window: 200ms, confirm: 3}}
)";

TEST(PipelineFile, StagesAreNamedAsWrittenAndNumberedWhereTheyRecur) {
  const Pipeline pipeline = parse(kWhole);
  std::vector<std::string> names;
  std::vector<std::string> written;
  for (const detail::Step* step : steps_of(pipeline)) {
    names.push_back(step->name);
    written.push_back(step->written);
  }
  EXPECT_THAT(names, ElementsAre("range", "shuffle", "decode", "emulate", "emulate_2", "half",
                                 "hwc_to_chw", "batch", "repeat", "take", "skip", "prefetch"));
  EXPECT_THAT(written, ElementsAre("range", "shuffle", "decode", "emulate", "emulate", "filter",
                                   "hwc_to_chw", "batch", "repeat", "take", "skip", "prefetch"));
  EXPECT_TRUE(pipeline.has_batches());
}

TEST(PipelineFile, OperatorsKeepTheirPlaces) {
  const Pipeline pipeline = parse(kWhole);
  ASSERT_EQ(pipeline.operators.size(), 12U);
  EXPECT_EQ(pipeline.operators[0].location.text(), "folder/train.yaml:7:5");
  EXPECT_EQ(pipeline.operators[5].op, "filter");
  EXPECT_EQ(pipeline.operators[5].stage, "half");
  EXPECT_EQ(pipeline.operators[5].location.line, 17);
}

TEST(PipelineFile, OptionsComeFromTheSections) {
  const Pipeline pipeline = parse(kWhole);
  const Options& options = pipeline.options;
  EXPECT_EQ(pipeline.name, "train");
  EXPECT_EQ(options.name, "train");
  EXPECT_EQ(options.seed, 7U);
  EXPECT_EQ(options.epochs, 3U);
  EXPECT_EQ(pipeline.length.steps, 20U);
  EXPECT_EQ(pipeline.length.seconds, 1.5);
  EXPECT_EQ(options.workers, 2);
  EXPECT_EQ(options.memory_bytes, 512U << 20U);
  EXPECT_TRUE(options.oversubscribe);
  EXPECT_EQ(options.order, Order::any);
  EXPECT_EQ(options.fuse, Fuse::all);
  EXPECT_EQ(options.reserve, 1);
  EXPECT_EQ(options.nested_threads, NestedThreads::keep);
  EXPECT_EQ(options.on_bad_sample.action, BadSamplePolicy::Action::skip);
  EXPECT_DOUBLE_EQ(options.on_bad_sample.max_rate, 0.01);
  EXPECT_LT(options.on_bad_sample.max_count, 0);
  EXPECT_EQ(options.quarantine, "bad.txt");
  EXPECT_TRUE(options.autotune);
  EXPECT_EQ(options.policy, "balance");
  EXPECT_TRUE(options.strict);
  EXPECT_THAT(options.settings,
              ElementsAre(std::pair{"confirm", "3"}, std::pair{"window", "200ms"}));
  EXPECT_EQ(pipeline.consumer.step_time, std::chrono::milliseconds(18));
}

TEST(PipelineFile, WhatIsNotWrittenHasItsDefault) {
  const Pipeline pipeline = parse("weir: 1\npipeline: [range: {count: 8}]\n");
  EXPECT_EQ(pipeline.name, "train");  // from the file's name
  EXPECT_EQ(pipeline.options.seed, 0U);
  EXPECT_FALSE(pipeline.options.epochs);
  EXPECT_FALSE(pipeline.options.workers);
  EXPECT_FALSE(pipeline.options.memory_bytes);
  EXPECT_EQ(pipeline.options.on_bad_sample.action, BadSamplePolicy::Action::fail);
  EXPECT_FALSE(pipeline.options.autotune);
  EXPECT_FALSE(pipeline.consumer.step_time);
  EXPECT_FALSE(pipeline.has_batches());
}

TEST(PipelineFile, SettingsByHandReachTheirStage) {
  const Pipeline pipeline = parse(kWhole);
  const StageOptions& decode = step_named(pipeline, "decode")->options;
  EXPECT_EQ(decode.workers, 3);
  EXPECT_EQ(decode.queue, 8);
  ASSERT_TRUE(decode.on_bad_sample);
  EXPECT_EQ(decode.on_bad_sample->action, BadSamplePolicy::Action::replace);
  EXPECT_EQ(decode.on_bad_sample->max_count, 3);
  EXPECT_LT(decode.on_bad_sample->max_rate, 0);
  EXPECT_EQ(step_named(pipeline, "emulate_2")->options.cap, 2);
  EXPECT_TRUE(step_named(pipeline, "hwc_to_chw")->options.serial);
  EXPECT_FALSE(step_named(pipeline, "emulate")->options.set_by_hand());
}

TEST(PipelineFile, ShapeOperatorsCarryTheirCounts) {
  const Pipeline pipeline = parse(kWhole);
  EXPECT_EQ(step_named(pipeline, "batch")->count, 4U);
  EXPECT_TRUE(step_named(pipeline, "batch")->drop_remainder);
  EXPECT_EQ(step_named(pipeline, "repeat")->count, 2U);
  EXPECT_EQ(step_named(pipeline, "take")->count, 5U);
  EXPECT_EQ(step_named(pipeline, "skip")->count, 1U);
  EXPECT_EQ(step_named(pipeline, "prefetch")->count, 4U);
}

TEST(PipelineFile, VariablesTakeTheirTypeOrAreSpeltOut) {
  const Pipeline pipeline = parse(kWhole);
  EXPECT_EQ(step_named(pipeline, "range")->source->size(), 12U);
  EXPECT_THAT(step_named(pipeline, "emulate_2")->options.identity, HasSubstr("wait=12us"));
  EXPECT_THAT(step_named(pipeline, "decode")->options.identity, HasSubstr("columns=image,mask"));
}

TEST(PipelineFile, GivenVariablesReplaceTheFilesOwn) {
  const Pipeline pipeline = parse(kWhole, {{"count", "40"}, {"columns", "[image, depth]"}});
  EXPECT_EQ(step_named(pipeline, "range")->source->size(), 40U);
  EXPECT_THAT(step_named(pipeline, "emulate_2")->options.identity, HasSubstr("wait=40us"));
  EXPECT_THAT(step_named(pipeline, "decode")->options.identity, HasSubstr("columns=image,depth"));
}

TEST(PipelineFile, DollarSignTwiceIsNoVariable) {
  const std::string text =
      "weir: 1\nvariables: {a: 1}\npipeline: [files: {root: \"x$${a}y${a}\"}, read: {}]\n";
  try {
    static_cast<void>(parse(text));
    FAIL() << "there is no such folder";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("folder/x${a}y1"));
  }
}

TEST(PipelineFile, IdentityIsTheSameWhetherDefaultsAreWrittenOutOrNot) {
  const auto identity = [](const std::string& entry) {
    return step_named(parse("weir: 1\npipeline:\n  - range: {count: 8}\n  - " + entry + "\n"),
                      "decode")
        ->options.identity;
  };
  const Pipeline batches =
      parse("weir: 1\npipeline: [range: {count: 8}, filter: {keep: 0.5}, batch: {size: 2}]\n");
  EXPECT_EQ(identity("decode"), identity("decode: {}"));
  EXPECT_NE(identity("decode"), identity("{decode: {}, columns: mask}"));
  EXPECT_THAT(step_named(batches, "filter")->options.identity, HasSubstr("keep=0.5"));
}

TEST(PipelineFile, StopBeforeLeavesTheRestOut) {
  const Pipeline pipeline = parse(kWhole, {}, {"hwc_to_chw", "batch"});
  EXPECT_FALSE(pipeline.has_batches());
  EXPECT_EQ(steps_of(pipeline).back()->name, "half");
  EXPECT_EQ(pipeline.operators.size(), 6U);
}

TEST(PipelineFile, StartWithoutBatchIsRefused) {
  const Pipeline pipeline = parse("weir: 1\npipeline: [range: {count: 8}]\n");
  try {
    static_cast<void>(pipeline.start());
    FAIL() << "started";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_THAT(error.what(), HasSubstr("has no 'batch'"));
  }
}

class PipelinePaths : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = test::fresh_path("pipeline_paths");
    std::filesystem::create_directories(root_ / "configs" / "photos" / "cat");
    std::filesystem::create_directories(root_ / "photos" / "dog");
    std::ofstream(root_ / "configs" / "photos" / "cat" / "a.jpg") << "x";
    std::ofstream(root_ / "photos" / "dog" / "b.jpg") << "x";
    std::ofstream(root_ / "configs" / "train.yaml")
        << "weir: 1\nvariables: {data: photos}\npipeline:\n"
           "  - files: {root: \"${data}\", labels: parent_folder}\n  - read: {}\n";
    file_ = (root_ / "configs" / "train.yaml").string();
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  std::filesystem::path root_;
  std::string file_;
};

TEST_F(PipelinePaths, AreRelativeToTheFile) {
  EXPECT_THAT(steps_of(load_pipeline(file_)).front()->source->classes(), ElementsAre("cat"));
}

TEST_F(PipelinePaths, OfGivenVariablesAreTheCallers) {
  const auto here = std::filesystem::current_path();
  std::filesystem::current_path(root_);
  const Pipeline pipeline = load_pipeline("configs/train.yaml", {{"data", "photos"}});
  std::filesystem::current_path(here);
  EXPECT_THAT(steps_of(pipeline).front()->source->classes(), ElementsAre("dog"));
}

}  // namespace
}  // namespace weir
