// What the rules of other systems reach on a line of three stages, costs 1:2:8, in virtual time.

#include "tests/support/simulated_line.hpp"
#include "tuner/tuner.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace weir::test {
namespace {

struct Reached {
  double efficiency = 0;  // of the shared bound
  TuningStatus status;
};

Reached reached(const std::string& policy, bool strict, int workers, double seconds) {
  SimulatedLine run(line({1e-3, 2e-3, 8e-3}, 0.1), workers);
  TuningOptions options;
  options.policy = policy;
  options.strict = strict;
  detail::Tuner tuner(run.plant, options);
  const auto tune_until = [&](double end) {
    while (run.machine.now() < end) run.run(std::min(tuner.step(), end - run.machine.now()));
  };
  tune_until(0.6 * seconds);
  const std::uint64_t before = run.items();
  const double from = run.machine.now();
  tune_until(seconds);
  EXPECT_EQ(run.plant.budget_violations(), 0u);
  return {static_cast<double>(run.items() - before) / (run.machine.now() - from) * 11e-3 / workers,
          tuner.status()};
}

// One worker a stage at first, 11 rounds without a gain, and back to where it had given two more.
TEST(ReferencePolicies, MindsporeAsCodedEndsNearItsStart) {
  for (const int workers : {8, 16, 32}) {
    const Reached reached_now = reached("mindspore", false, workers, 60);
    EXPECT_NEAR(reached_now.efficiency, 3 / 8e-3 * 11e-3 / workers, 0.02) << workers;
  }
}

TEST(ReferencePolicies, MindsporeAsMeantEndsAtItsBest) {
  EXPECT_GE(reached("mindspore_meant", false, 8, 60).efficiency, 0.95);
  EXPECT_GE(reached("mindspore_meant", true, 8, 60).efficiency, 0.65);
}

TEST(ReferencePolicies, HillClimbGivesUpAWorkerHalfOfTheTime) {
  const Reached shared = reached("hill_climb", false, 8, 30);
  EXPECT_NEAR(shared.efficiency, 7.5 / 8, 0.02);
  EXPECT_NEAR(shared.status.last_half_active_mean, 7.5, 0.2);
  // Evenly shared out, whole: the costly stage has two or three of eight.
  EXPECT_NEAR(reached("hill_climb", true, 8, 30).efficiency, 0.34, 0.03);
}

TEST(ReferencePolicies, TfdataFindsTheCostlyStage) {
  EXPECT_GE(reached("tfdata", false, 8, 20).efficiency, 0.97);
  EXPECT_GE(reached("tfdata", true, 8, 20).efficiency, 0.83);
}

TEST(ReferencePolicies, StaticOnesAreWhatTheyAreCalled) {
  for (const char* name : {"fixed", "even", "share"}) {
    const Reached shared = reached(name, false, 8, 5);
    EXPECT_GE(shared.efficiency, 0.97) << name;
    EXPECT_EQ(shared.status.current.active, 8) << name;
    EXPECT_FALSE(shared.status.current.strict) << name;
    const Reached strict = reached(name, true, 8, 5);
    EXPECT_TRUE(strict.status.current.strict) << name;
    EXPECT_NEAR(strict.efficiency, 2 / 8e-3 * 11e-3 / 8, 0.02) << name;
  }
}

}  // namespace
}  // namespace weir::test
