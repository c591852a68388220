// weir check: what would run, and what a tuned file would do to it.
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
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Words = std::vector<std::string>;

/// Three stages on four workers.
class CheckTuned : public ::testing::Test {
 protected:
  CheckTuned()
      : pipeline_(temporary_file("checked.yaml",
                                 "weir: 1\nname: checked\npipeline:\n  - range: {count: 64}\n"
                                 "  - emulate: {wait: 1ms}\n    name: load\n"
                                 "  - emulate: {wait: 3ms}\n    name: decode\n"
                                 "  - batch: {size: 8}\n"
                                 "run: {workers: 4, oversubscribe: true}\n")) {}

  std::string tuned(const std::string& text) const { return temporary_file("c.tuned.yaml", text); }
  ProgramEnd check(const std::string& tuned, const Words& more = {}) const {
    Words words{"check", pipeline_, "--tuned", tuned};
    words.insert(words.end(), more.begin(), more.end());
    return run_program(words);
  }

  const std::string by_hand_ =
      "weir_tuned: 1\nbudget: {threads: 4, active: 3}\n"
      "stages: {load: {target: 0.6}, decode: {target: 2.3, cap: 3}, batch: {target: 0.1}}\n"
      "queues: {decode: {items: 12}}\n";
  const std::string evidence_ =
      "evidence:\n  stages:\n"
      "    load: {service_time_us: 1000, cv: 0.1, samples: 900, visits: 8, levels: [], "
      "bytes_out: 0}\n"
      "    decode: {service_time_us: 3000, cv: 0.1, samples: 900, visits: 8, levels: [], "
      "bytes_out: 0}\n"
      "    batch: {service_time_us: 1, cv: 0.1, samples: 90, visits: 1, levels: [], "
      "bytes_out: 0}\n";
  const std::string pipeline_;
};

TEST_F(CheckTuned, SaysThatTheFileWouldBeUsed) {
  const ProgramEnd end = check(tuned(by_hand_));
  EXPECT_EQ(end.status, 0) << end.err;
  EXPECT_THAT(end.out, HasSubstr("would be used as it is, controller off"));
  EXPECT_THAT(end.out, HasSubstr("3 of 4 workers awake"));
  EXPECT_THAT(end.out, ::testing::ContainsRegex("decode +2\\.30 +3 +12"));

  const json document = json::parse(check(tuned(by_hand_), {"--json"}).out);
  EXPECT_EQ(document["tuned"]["action"], "use");
  EXPECT_EQ(document["tuned"]["active"], 3);
  EXPECT_EQ(document["tuned"]["stages"]["decode"]["target"], 2.3);
  EXPECT_EQ(document["tuned"]["stages"]["decode"]["queue"], 12);
  EXPECT_EQ(document["tuned"]["stages"]["load"]["cap"], nullptr);
}

TEST_F(CheckTuned, SaysThatTheFileWouldBeOnProbation) {
  EXPECT_THAT(check(tuned(by_hand_), {"--autotune"}).out, HasSubstr("on probation"));
  EXPECT_EQ(json::parse(check(tuned(by_hand_), {"--autotune", "--json"}).out)["tuned"]["action"],
            "probation");
}

TEST_F(CheckTuned, SaysWhatWouldBeSolvedAgain) {
  const ProgramEnd end = check(tuned(by_hand_ + evidence_), {"--workers", "8"});
  EXPECT_EQ(end.status, 0) << end.err;
  EXPECT_THAT(end.out, HasSubstr("it was tuned for 4 threads, there are 8: solved again"));
}

TEST_F(CheckTuned, RefusesAsTheRunWould) {
  const std::string other = tuned("weir_tuned: 1\nstages: {load: {workers: 1}}\n");
  for (const char* verb : {"check", "run"}) {
    const ProgramEnd end = run_program({verb, pipeline_, "--tuned", other});
    EXPECT_EQ(end.status, 2);
    EXPECT_EQ(end.out, "");
    EXPECT_THAT(end.err, HasSubstr("the file lacks the stages decode, batch"));
  }
  const ProgramEnd ignored = check(other, {"--tuned-mismatch", "ignore"});
  EXPECT_EQ(ignored.status, 0);
  EXPECT_THAT(ignored.out, HasSubstr("is ignored, it is another pipeline's"));
  EXPECT_EQ(check("/no/such/file.yaml").status, 2);
  EXPECT_EQ(check(tuned("weir_tuned: [\n")).status, 2);
}

TEST_F(CheckTuned, WithoutAFileSaysNothingOfOne) {
  const ProgramEnd end = run_program({"check", pipeline_});
  EXPECT_THAT(end.out, Not(HasSubstr("tuned file")));
  EXPECT_EQ(json::parse(run_program({"check", pipeline_, "--json"}).out)["tuned"], nullptr);
}

// A tuned file needs whole names, and here is where they are copied from.
TEST(Check, ShowsWholeStageNames) {
  const PhotoFolder photos("check_photos", 8, 0);
  const ProgramEnd end =
      run_program({"check", std::string(WEIR_TEST_SOURCE_DIR) + "/configs/resnet50.yaml", "--data",
                   photos.path(), "--image-path", "plain"});
  EXPECT_EQ(end.status, 0) << end.err;
  const json document = json::parse(
      run_program({"check", std::string(WEIR_TEST_SOURCE_DIR) + "/configs/resnet50.yaml", "--data",
                   photos.path(), "--image-path", "plain", "--json"})
          .out);
  bool joined = false;
  for (const json& stage : document["stages"]) {
    const std::string name = stage["name"];
    joined = joined || name.size() > 40;
    EXPECT_THAT(end.out, HasSubstr("\n" + name + " "));
  }
  EXPECT_TRUE(joined) << "no long name to test with";
}

}  // namespace
}  // namespace weir::test
