// Each pipeline in configs/ is loaded and run.
#include <filesystem>
#include <set>
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

std::string config(const std::string& name) {
  return std::string(WEIR_TEST_SOURCE_DIR) + "/configs/" + name;
}

json run_config(const std::string& name, const std::vector<std::string>& more) {
  std::vector<std::string> words{"run", config(name), "--json", "--quiet", "--quarantine", "none"};
  words.insert(words.end(), more.begin(), more.end());
  const ProgramEnd end = run_program(words);
  EXPECT_EQ(end.status, 0) << end.err;
  return json::parse(end.out, nullptr, false);
}

TEST(Configs, EachHasATestHere) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(config("")))
    if (entry.path().extension() == ".yaml") names.insert(entry.path().filename().string());
  EXPECT_THAT(names, ::testing::ElementsAre("demo.yaml", "emulated_4_8_32.yaml",
                                            "emulated_4_8_32_strict.yaml", "resnet50.yaml",
                                            "resnet50_case.yaml", "resnet50_case_auto.yaml",
                                            "resnet50_recipe.yaml"));
}

TEST(Configs, Resnet50) {
  const PhotoFolder photos("resnet50_photos", 96, 0);
  const json document =
      run_config("resnet50.yaml", {"--data", photos.path(), "--step-time", "0ms", "--digest"});
  EXPECT_EQ(document["pipeline"], "resnet50_train");
  EXPECT_EQ(document["batches"], 3);
  EXPECT_EQ(document["digest"],
            run_config("resnet50.yaml",
                       {"--data", photos.path(), "--step-time", "0ms", "--digest", "--workers", "4",
                        "--oversubscribe", "--fuse", "off"})["digest"]);
}

TEST(Configs, Resnet50Recipe) {
  const PhotoFolder photos("resnet50_recipe_photos", 64, 0);
  const auto digest_with = [&](const char* workers) {
    const json document =
        run_config("resnet50_recipe.yaml", {"--data", photos.path(), "--set", "size=64", "--digest",
                                            "--workers", workers, "--oversubscribe"});
    EXPECT_EQ(document["batches"], 2);
    return document["digest"];
  };
  EXPECT_EQ(digest_with("1"), digest_with("4"));
}

TEST(Configs, Demo) {
  const PhotoFolder photos("demo_photos", 200, 4);
  const json document = run_config("demo.yaml", {"--data", photos.path()});
  EXPECT_EQ(document["bad_samples"]["count"], photos.bad_count());
  EXPECT_EQ(document["batches"], (200 - photos.bad_count()) / 32);
}

TEST(Configs, Resnet50CaseIsStarvedAsWritten) {
  // 32 images of 2.8 ms on one worker, less the step of 18 ms: a wait is never shorter than asked
  // for.
  const json document = run_config("resnet50_case.yaml", {"--steps", "6"});
  EXPECT_GE(document["consumer"]["step_ms"]["mean"], 80);
  EXPECT_EQ(document["budget"]["source"], "forced");
  EXPECT_EQ(document["stages"][0]["name"], "map");
  EXPECT_EQ(document["stages"][0]["cap"], 1);
}

TEST(Configs, Resnet50CaseAuto) {
  EXPECT_EQ(run_config("resnet50_case_auto.yaml", {"--steps", "6", "--autotune"})["batches"], 6);
}

TEST(Configs, EmulatedWaits) {
  EXPECT_EQ(run_config("emulated_4_8_32.yaml", {"--steps", "6"})["batches"], 6);
  const json strict = run_config("emulated_4_8_32_strict.yaml", {"--steps", "6"});
  EXPECT_EQ(strict["batches"], 6);
  EXPECT_EQ(strict["tuning"]["strict"], true);
}

TEST(Tune, FindsASplitAndWritesItForTheNextRun) {
  const std::string tuned = fresh_path("case.tuned.yaml");
  const ProgramEnd end = run_program(
      {"tune", config("resnet50_case_auto.yaml"), "--emit", tuned, "--json", "--quiet"});
  ASSERT_EQ(end.status, 0) << end.err;
  const json document = json::parse(end.out);
  EXPECT_EQ(document["emitted"], tuned);
  for (const char* side : {"before", "after"}) {
    EXPECT_GT(document[side]["items_per_second"], 0) << side;
    EXPECT_TRUE(document[side]["gap_ms"].contains("p50")) << side;
    EXPECT_TRUE(document[side]["stages"].contains("map")) << side;
  }
  const json again = run_config("resnet50_case_auto.yaml", {"--tuned", tuned, "--steps", "10"});
  EXPECT_EQ(again["tuning"]["autotune"], false);
  EXPECT_EQ(again["tuning"]["moves"], 0);
}

}  // namespace
}  // namespace weir::test
