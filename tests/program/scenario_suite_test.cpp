// The scenarios of configs/scenarios: each loads, and runs for a moment.
#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/scenario_reader.hpp"
#include "tuner/simulation.hpp"

namespace weir::detail {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> scenario_files() {
  std::vector<fs::path> files;
  for (const auto& entry :
       fs::directory_iterator(fs::path(WEIR_TEST_SOURCE_DIR) / "configs/scenarios"))
    if (entry.path().extension() == ".yaml") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

TEST(ScenarioSuite, EachFileLoadsAndIsNamedLikeItsFile) {
  std::set<std::string> names;
  for (const fs::path& file : scenario_files()) {
    const std::string stem = file.stem().string();
    for (const Scenario& scenario : load_scenarios(file.string())) {
      EXPECT_TRUE(names.insert(scenario.name).second) << scenario.name << " is there twice";
      EXPECT_EQ(stem.substr(3), scenario.name.substr(0, scenario.name.find('/'))) << file;
      EXPECT_FALSE(scenario.must.empty()) << file;
    }
  }
}

TEST(ScenarioSuite, HasEachNumberOnce) {
  std::set<std::string> numbers;
  for (const fs::path& file : scenario_files()) numbers.insert(file.stem().string().substr(0, 2));
  EXPECT_EQ(numbers.size(), 20U);
  EXPECT_EQ(*numbers.begin(), "00");
  EXPECT_EQ(*numbers.rbegin(), "19");
}

/// Timed waits stand in for work, and a short wait takes longer than asked for.
TEST(ScenarioSuite, LiveStagesWaitLongEnoughToBeEmulated) {
  for (const fs::path& file : scenario_files()) {
    for (const Scenario& scenario : load_scenarios(file.string())) {
      if (!scenario.live) continue;
      for (const ScenarioStage& stage : scenario.processes.front().stages)
        EXPECT_TRUE(stage.batch > 1 || stage.seconds >= 2.8e-3)
            << scenario.name << " " << stage.name;
    }
  }
}

/// The first two seconds, events that come later left out: what they are about is tested in tuner/.
TEST(ScenarioSuite, EachRuns) {
  for (const fs::path& file : scenario_files()) {
    for (Scenario scenario : load_scenarios(file.string())) {
      scenario.duration_seconds = std::min(scenario.duration_seconds, 2.0);
      std::erase_if(scenario.events,
                    [](const ScenarioEvent& event) { return event.at_seconds >= 2; });
      TrialOptions options;
      options.workers = scenario.workers.front();
      const Measures measures = simulate(scenario, options).measures;
      EXPECT_GT(measures.oracle_per_second, 0) << scenario.name;
      EXPECT_GT(measures.steady_per_second, 0) << scenario.name;
      EXPECT_EQ(measures.budget_violations, 0U) << scenario.name;
    }
  }
}

}  // namespace
}  // namespace weir::detail
