// weir run: what it writes, what it returns, and that the data are the same however it runs.
#include <signal.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
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
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Not;
using Words = std::vector<std::string>;

Words joined(Words first, const Words& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

std::set<std::string> keys_of(const json& object) {
  std::set<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.insert(key);
  return keys;
}

std::string text_of(const std::string& path) {
  std::ifstream stream(path);
  std::stringstream text;
  text << stream.rdbuf();
  return text.str();
}

/// Numbers alone: quick, and nothing in it depends on OpenCV.
const std::string& numbers() {
  static const std::string path = temporary_file("numbers.yaml", R"(weir: 1
name: numbers
variables: {count: 200, wait: 100us}
pipeline:
  - range: {count: "${count}"}
  - shuffle: {}
  - emulate: {wait: "${wait}"}
  - batch: {size: 8}
)");
  return path;
}

/// What makes an order hard to keep: costs that vary, a filter, damaged samples, cheap stages to
/// fuse.
const std::string& hard() {
  static const std::string path = temporary_file("hard.yaml", R"(weir: 1
name: hard
seed: 7
variables: {drop: true}
pipeline:
  - photos: {count: 500, width: 96, height: 72, bad: 10%}
  - shuffle: {}
  - decode: {}
  - filter: {keep: 0.9}
  - emulate: {wait: 2ms, cv: 0.5}
  - random_resized_crop: {size: 32}
  - random_horizontal_flip: {}
  - normalize: {mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, 0.225]}
  - hwc_to_chw: {}
  - batch: {size: 32, drop_remainder: "${drop}"}
run: {epochs: 4, on_bad_sample: {action: skip, max: 20%}}
)");
  return path;
}

json run_json(const Words& arguments) {
  const ProgramEnd end = run_program(joined(joined({"run"}, arguments), {"--json", "--quiet"}));
  EXPECT_EQ(end.status, 0) << end.err;
  EXPECT_EQ(end.err, "");
  return json::parse(end.out, nullptr, false);
}

json run_hard(const Words& arguments) {
  return run_json(joined({hard(), "--digest", "--quarantine", "none"}, arguments));
}

TEST(Run, JsonHasWhatScriptsRelyOn) {
  const json document = run_json({numbers(), "--epochs", "2", "--digest"});
  EXPECT_THAT(keys_of(document),
              IsSupersetOf({"pipeline", "items", "batches", "epochs", "seconds",
                            "first_batch_seconds", "items_per_second", "digest", "set_digest",
                            "budget", "peak_workers", "peak_bytes", "memory_bound_bytes",
                            "consumer", "stages", "tuning", "bad_samples"}));
  EXPECT_THAT(keys_of(document["budget"]), IsSupersetOf({"threads", "active", "source"}));
  EXPECT_THAT(keys_of(document["consumer"]),
              IsSupersetOf({"steps", "wait_seconds", "wait_share", "gap_ms", "last_half_gap_ms",
                            "step_ms"}));
  EXPECT_THAT(keys_of(document["consumer"]["gap_ms"]), IsSupersetOf({"mean", "p50", "p95", "p99"}));
  ASSERT_FALSE(document["stages"].empty());
  for (const json& stage : document["stages"]) {
    EXPECT_THAT(keys_of(stage),
                IsSupersetOf({"name", "operators", "running_mean", "target", "cap", "items",
                              "items_per_second", "service_time_us", "wait_input_share",
                              "wait_output_share", "cpu_user_seconds", "cpu_system_seconds",
                              "cpu_wait_share", "blocked_share", "hint", "queue"}));
    EXPECT_THAT(keys_of(stage["service_time_us"]), IsSupersetOf({"mean", "p50", "p95", "p99"}));
    EXPECT_THAT(keys_of(stage["queue"]),
                IsSupersetOf({"capacity", "mean", "low", "high", "empty_share", "full_share"}));
  }
  EXPECT_THAT(
      keys_of(document["tuning"]),
      IsSupersetOf({"policy", "strict", "moves", "settled", "settle_seconds", "label",
                    "active_mean", "last_half_active_mean", "needed_workers", "emitted", "host"}));
  EXPECT_EQ(document["tuning"]["host"], nullptr) << "no controller looked";
  EXPECT_THAT(keys_of(document["bad_samples"]), IsSupersetOf({"count", "quarantine"}));

  EXPECT_EQ(document["pipeline"], "numbers");
  EXPECT_EQ(document["items"], 400);
  EXPECT_EQ(document["batches"], 50);
  EXPECT_EQ(document["epochs"], 2);
  EXPECT_EQ(document["consumer"]["steps"], 50);
  EXPECT_EQ(document["tuning"]["policy"], "share");
  EXPECT_EQ(document["tuning"]["emitted"], nullptr);
  EXPECT_EQ(document["bad_samples"]["quarantine"], nullptr);
  EXPECT_THAT(std::string(document["digest"]), ::testing::StartsWith("xxh3:"));
}

TEST(Run, EndsAfterOneEpochUnlessToldOtherwise) {
  EXPECT_EQ(run_json({numbers()})["batches"], 25);
  EXPECT_EQ(run_json({numbers(), "--epochs", "3"})["batches"], 75);
  EXPECT_EQ(run_json({numbers(), "--steps", "40"})["batches"], 40);
  EXPECT_EQ(run_json({numbers(), "--steps", "40", "--epochs", "1"})["batches"], 25);
}

TEST(Run, SecondsEndARunThatWouldGoOn) {
  const json document = run_json({numbers(), "--seconds", "0.3"});
  EXPECT_GE(document["seconds"], 0.29);
}

TEST(Run, SecondsEndARunThatGivesNothing) {
  const ProgramEnd end =
      run_program({"run", numbers(), "--set", "wait=1h", "--seconds", "0.1", "--json"});
  EXPECT_EQ(end.status, 0) << end.err;
  EXPECT_EQ(json::parse(end.out)["batches"], 0);
}

TEST(Run, StepTimeIsEmulated) {
  const json document = run_json({numbers(), "--steps", "10", "--step-time", "20ms"});
  // Nine steps lie between the first batch and the last.
  EXPECT_GE(document["seconds"], 0.18);
}

TEST(Run, InlineNeedsNoWorkers) {
  const ProgramEnd end =
      run_program({"run", numbers(), "--inline", "--progress", "always", "--json"});
  EXPECT_EQ(end.status, 0) << end.err;
  EXPECT_EQ(json::parse(end.out)["items"], 200);
}

TEST(Run, MemoryBelowOneItemStillPasses) {
  EXPECT_EQ(run_hard({"--epochs", "1", "--memory", "1KiB"})["digest"],
            run_hard({"--epochs", "1"})["digest"]);
}

TEST(Run, PipelineWithoutBatchGivesSamples) {
  const std::string file = temporary_file(
      "samples.yaml",
      "weir: 1\nname: samples\npipeline: [range: {count: 30}, emulate: {cpu: 1us}]\n");
  const json document = run_json({file});
  EXPECT_EQ(document["items"], 30);
  EXPECT_EQ(document["batches"], 30);
}

TEST(Run, EmptyEpochsEnd) {
  const std::string file = temporary_file(
      "few.yaml",
      "weir: 1\npipeline: [range: {count: 3}, batch: {size: 8, drop_remainder: true}]\n");
  EXPECT_EQ(run_json({file, "--seconds", "60"})["batches"], 0);
}

TEST(Run, TableIsAResultAndProgressIsNot) {
  const ProgramEnd end = run_program({"run", numbers()});
  EXPECT_EQ(end.status, 0);
  EXPECT_EQ(end.err, "");
  EXPECT_THAT(end.out, HasSubstr("numbers: 200 items in 25 batches, 1 epoch"));
  EXPECT_THAT(end.out, HasSubstr("emulate"));
  const ProgramEnd always =
      run_program({"run", numbers(), "--progress", "always", "--seconds", "0.5", "--json"});
  EXPECT_THAT(always.err, HasSubstr("items/s, gap"));
  EXPECT_TRUE(json::accept(always.out));
}

// One stream of bytes, whatever runs it. The conditions under which that says something are
// asserted: several bad samples in a batch, a filter that dropped, a tuner that moved.
TEST(Digest, IsOneForAnyWayToRun) {
  const json one = run_hard({"--workers", "1"});
  const std::string digest = one["digest"];
  EXPECT_GE(one["bad_samples"]["count"].get<int>(), 4 * 30);
  EXPECT_LT(one["items"].get<int>() + one["bad_samples"]["count"].get<int>(), 4 * 480);

  const std::vector<Words> ways{
      {"--workers", "2"},
      {"--workers", "8", "--oversubscribe"},
      {"--workers", "8", "--oversubscribe", "--strict"},
      {"--workers", "4", "--oversubscribe", "--fuse", "all"},
      {"--workers", "4", "--oversubscribe", "--fuse", "off"},
      {"--workers", "8", "--oversubscribe", "--memory", "1MiB"},
      {"--image-path", "plain"},
  };
  for (const Words& way : ways) EXPECT_EQ(run_hard(way)["digest"], digest) << way.back();

  const std::string tuned = fresh_path("hard.tuned.yaml");
  const Words eight{"--workers", "8", "--oversubscribe"};
  const json moved = run_hard(joined(eight, {"--autotune", "--emit", tuned}));
  EXPECT_EQ(moved["digest"], digest);
  EXPECT_GE(moved["tuning"]["moves"].get<int>(), 1);
  const json strict = run_hard(joined(eight, {"--autotune", "--strict"}));
  EXPECT_EQ(strict["digest"], digest);
  if (std::filesystem::exists(tuned)) {
    const json again = run_hard(joined(eight, {"--tuned", tuned}));
    EXPECT_EQ(again["digest"], digest);
    EXPECT_EQ(again["tuning"]["moves"], 0);
  }
}

TEST(Digest, IsThatOfTheWholeRunAfterResumes) {
  const json whole = run_hard({});
  const std::string position = fresh_path("hard.position");
  const json first = run_hard({"--steps", "17", "--save-position", position});
  EXPECT_NE(first["digest"], whole["digest"]);
  // Into the second epoch, then to the end.
  const json second = run_hard({"--resume", position, "--steps", "9", "--save-position", position,
                                "--workers", "6", "--oversubscribe"});
  const json last = run_hard({"--resume", position});
  EXPECT_EQ(last["digest"], whole["digest"]);
  EXPECT_EQ(last["set_digest"], whole["set_digest"]);
  EXPECT_EQ(first["batches"].get<int>() + second["batches"].get<int>() + last["batches"].get<int>(),
            whole["batches"].get<int>());
}

TEST(Digest, IsAnotherForAnotherSeed) {
  EXPECT_NE(run_hard({"--epochs", "1"})["digest"],
            run_hard({"--epochs", "1", "--seed", "8"})["digest"]);
}

TEST(Digest, AnyOrderHoldsTheSameSamples) {
  const Words keep{"--set", "drop=false", "--workers", "8", "--oversubscribe", "--epochs", "2"};
  const json ordered = run_hard(keep);
  const json any = run_hard(joined(keep, {"--order", "any"}));
  EXPECT_EQ(any["items"], ordered["items"]);
  EXPECT_EQ(any["set_digest"], ordered["set_digest"]);
}

class Folders : public ::testing::Test {
 protected:
  Folders() : root_(fresh_path("folders")) { std::filesystem::create_directories(root_); }

  [[nodiscard]] ProgramEnd run(const std::string& pattern = "none") const {
    const std::string file = temporary_file("folders.yaml", R"(weir: 1
name: folders
variables: {data: photos, pattern: none}
pipeline:
  - files: {root: "${data}", pattern: "${pattern}"}
  - read: {}
  - decode: {}
  - resize: {size: [8, 8]}
  - batch: {size: 4}
)");
    return run_program({"run", file, "--data", root_, "--set", "pattern=" + pattern, "--json"});
  }

  std::string root_;
};

TEST_F(Folders, MissingEmptyAndWithoutAMatchAreUsageErrors) {
  ProgramEnd end = run();
  EXPECT_EQ(end.status, 2);
  EXPECT_THAT(end.err, HasSubstr("folders.yaml:5:5: files: "));
  std::ofstream(root_ + "/a.jpg") << "x";
  end = run("*.png");
  EXPECT_EQ(end.status, 2);
  EXPECT_THAT(end.err, HasSubstr("*.png"));
  std::filesystem::remove_all(root_);
  end = run();
  EXPECT_EQ(end.status, 2);
  EXPECT_THAT(end.err, HasSubstr("no such folder"));
}

TEST_F(Folders, BadFileIsNamedWithItsPathAndReason) {
  std::ofstream(root_ + "/a.jpg") << "this is no image";
  const ProgramEnd end = run();
  EXPECT_EQ(end.status, 1);
  EXPECT_THAT(end.err, HasSubstr(root_ + "/a.jpg"));
  EXPECT_THAT(end.err, HasSubstr("decode"));
}

TEST_F(Folders, ColdRunDropsPagesFirst) {
  const PhotoFolder photos("cold_photos", 8, 0);
  const ProgramEnd end =
      run_program({"run", std::string(WEIR_TEST_SOURCE_DIR) + "/configs/demo.yaml", "--data",
                   photos.path(), "--set", "batch=4", "--cold"});
  EXPECT_EQ(end.status, 0) << end.err;
  EXPECT_THAT(end.err, HasSubstr("drop the pages of 8 files"));
}

TEST(Position, OfAnotherPipelineIsRefused) {
  const std::string position = fresh_path("numbers.position");
  ASSERT_EQ(run_program({"run", numbers(), "--steps", "2", "--save-position", position}).status, 0);
  const ProgramEnd end = run_program({"run", hard(), "--resume", position, "--quarantine", "none"});
  EXPECT_EQ(end.status, 2);
  EXPECT_THAT(end.err, HasSubstr("position"));
}

TEST(BadSamples, FailARunThatDoesNotAllowThem) {
  const std::string file = temporary_file(
      "bad.yaml",
      "weir: 1\nname: bad\npipeline: [photos: {count: 50, width: 64, height: 48, bad: "
      "20%}, decode: {}, resize: {size: [8, 8]}, batch: {size: 4}]\n");
  const ProgramEnd end = run_program({"run", file, "--json"});
  EXPECT_EQ(end.status, 1);
  EXPECT_THAT(end.err, HasSubstr("decode"));
  EXPECT_THAT(end.err, HasSubstr("generated photograph"));
  const json document = json::parse(end.out);
  EXPECT_EQ(document["error"]["kind"], "data");
  EXPECT_TRUE(document.contains("batches"));
}

TEST(BadSamples, AreListedWhereTheyAreSkipped) {
  const std::string list = fresh_path("bad.txt");
  const json document = run_json({hard(), "--epochs", "1", "--quarantine", list});
  EXPECT_EQ(document["bad_samples"]["quarantine"], list);
  const std::string text = text_of(list);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'),
            document["bad_samples"]["count"].get<int>());
  EXPECT_THAT(text, HasSubstr("generated photograph"));
}

TEST(BadSamples, BeyondTheLimitFailTheRun) {
  const std::string file = temporary_file(
      "many.yaml",
      "weir: 1\nname: many\npipeline: [photos: {count: 200, width: 64, height: 48, bad: 20%}, "
      "decode: {}, resize: {size: [8, 8]}, batch: {size: 4}]\n"
      "run: {on_bad_sample: {action: skip, max: 5}}\n");
  const ProgramEnd end = run_program({"run", file, "--quarantine", "none"});
  EXPECT_EQ(end.status, 1);
}

TEST(Signals, EndARunCleanlyWithItsSummary) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    const std::string position = fresh_path("signal.position");
    const ProgramEnd end = interrupt_program({"run", numbers(), "--seconds", "1000", "--progress",
                                              "always", "--json", "--save-position", position},
                                             {number});
    EXPECT_EQ(end.status, 128 + number);
    const json document = json::parse(end.out);
    EXPECT_EQ(document["signal"], number);
    EXPECT_TRUE(document.contains("batches"));
    EXPECT_THAT(text_of(position), HasSubstr("weir_position"));
  }
}

TEST(Signals, InterruptALongStep) {
  const ProgramEnd end =
      interrupt_program({"run", numbers(), "--step-time", "1h", "--progress", "always"}, {SIGINT});
  EXPECT_EQ(end.status, 128 + SIGINT);
  EXPECT_THAT(end.out, HasSubstr("numbers: "));
}

TEST(Signals, WriteTheTunedFileThatWasAskedFor) {
  const std::string file = temporary_file("waits.yaml", R"(weir: 1
name: waits
pipeline:
  - range: {count: 1000000}
  - emulate: {wait: 2ms}
  - batch: {size: 4}
run: {workers: 4, oversubscribe: true}
)");
  const std::string tuned = fresh_path("waits.tuned.yaml");
  const ProgramEnd end = interrupt_program(
      {"tune", file, "--emit", tuned, "--progress", "always", "--json"}, {SIGTERM});
  EXPECT_EQ(end.status, 128 + SIGTERM);
}

TEST(Signals, TheSecondEndsAtOnce) {
  // A worker that computes for an hour cannot be stopped: only the second signal ends the program,
  // without a summary.
  const std::string file =
      temporary_file("stuck.yaml", "weir: 1\npipeline: [range: {count: 8}, emulate: {cpu: 1h}]\n");
  const ProgramEnd end =
      interrupt_program({"run", file, "--progress", "always"}, {SIGINT, SIGTERM});
  EXPECT_EQ(end.status, 128 + SIGTERM);
}

TEST(Output, OfARunThatNobodyReadsEndsQuietly) {
  const ProgramEnd end = run_program({"run", numbers(), "--json"}, Output::broken);
  EXPECT_EQ(end.status, 0);
  EXPECT_EQ(end.err, "");
}

TEST(Output, OfARunThatCannotBeWrittenIsSaid) {
  EXPECT_EQ(run_program({"run", numbers()}, Output::full).status, 3);
  EXPECT_EQ(run_program({"run", numbers()}, Output::closed).status, 3);
}

TEST(Check, WhatCannotRunIsNamedWithItsPlaceInTheFile) {
  const std::string file = temporary_file(
      "late.yaml",
      "weir: 1\npipeline:\n  - range: {count: 10}\n  - filter: {keep: 0.5}\n    name: half\n"
      "  - shuffle: {}\n  - batch: {size: 2}\n");
  for (const char* verb : {"check", "run", "preview"}) {
    const ProgramEnd end = run_program({verb, file});
    EXPECT_EQ(end.status, 2) << verb;
    EXPECT_THAT(end.err, ::testing::StartsWith(file + ":6:5: shuffle: ")) << verb;
  }
  const std::string many = temporary_file(
      "many_workers.yaml", "weir: 1\npipeline: [range: {count: 10}]\nrun: {workers: 1000}\n");
  EXPECT_THAT(run_program({"run", many}).err, ::testing::StartsWith(many + ":3:16: workers: "));
}

TEST(Check, PrintsThePlanAndRunsNothing) {
  const ProgramEnd end = run_program({"check", hard(), "--set", "drop=false"});
  EXPECT_EQ(end.status, 0) << end.err;
  EXPECT_THAT(end.out, HasSubstr("decode"));
  EXPECT_THAT(end.out, HasSubstr("at most"));
  const json document = json::parse(run_program({"check", hard(), "--json", "--fuse", "off"}).out);
  std::vector<std::string> names;
  for (const json& stage : document["stages"]) names.push_back(stage["name"]);
  EXPECT_THAT(names,
              ::testing::ElementsAre("decode", "filter", "emulate", "random_resized_crop",
                                     "random_horizontal_flip", "normalize", "hwc_to_chw", "batch"));
  EXPECT_EQ(document["operators"].size(), 10U);
}

TEST(Preview, DrawsASheetOfWhatComesBeforeTheNumbers) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "GDAL, which some builds of OpenCV load, takes its locks in both orders";
#endif
  const std::string sheet = fresh_path("sheet.png");
  const ProgramEnd end = run_program({"preview", hard(), "--count", "5", "--out", sheet, "--json"});
  EXPECT_EQ(end.status, 0) << end.err;
  const json document = json::parse(end.out);
  EXPECT_EQ(document["pictures"].size(), 5U);
  EXPECT_EQ(document["pictures"][0]["width"], 32);
  EXPECT_THAT(std::string(document["pictures"][0]["label"]), ::testing::StartsWith("class"));
  EXPECT_THAT(text_of(sheet), ::testing::StartsWith("\x89PNG"));
}

}  // namespace
}  // namespace weir::test
