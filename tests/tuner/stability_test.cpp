#include "tuner/stability.hpp"

#include <gtest/gtest.h>

namespace weir::detail {
namespace {

Scenario scenario_of(double duration) {
  Scenario scenario;
  scenario.workers = {8};
  scenario.duration_seconds = duration;
  scenario.processes.emplace_back().stages.resize(2);
  scenario.processes[0].stages[0].name = "a";
  scenario.processes[0].stages[1].name = "b";
  return scenario;
}

void add_event(Scenario& scenario, double at) {
  ScenarioEvent& event = scenario.events.emplace_back();
  event.at_seconds = at;
  event.stage = 0;
  event.changes[StageField::seconds] = 2e-3;
}

/// Looks every 100 ms, in which allocations change at given times.
class Looks {
 public:
  explicit Looks(double duration) {
    for (int i = 0; 0.1 * i < duration; ++i) {
      TrialLook& look = looks_.emplace_back();
      look.seconds = 0.1 * i;
      look.window_seconds = 0.1;
      look.first = i == 0;
      look.label = "stage:b";
      look.allocation.active = 8;
      look.allocation.stages.resize(2);
    }
  }

  Looks& change(double at, double target, int active = 8, MoveKind kind = MoveKind::move) {
    bool first = true;
    for (TrialLook& look : looks_) {
      if (look.seconds < at - 1e-9) continue;
      look.allocation.stages[0].target = target;
      look.allocation.active = active;
      if (first) {
        look.changed = true;
        look.kind = kind;
      }
      first = false;
    }
    return *this;
  }
  Looks& label(double from, const std::string& label) {
    for (TrialLook& look : looks_)
      if (look.seconds >= from - 1e-9) look.label = label;
    return *this;
  }
  [[nodiscard]] const std::vector<TrialLook>& all() const { return looks_; }

 private:
  std::vector<TrialLook> looks_;
};

Stability judged(const Looks& looks, const Scenario& scenario, bool given_start = false) {
  return judge_stability(looks.all(), Timetable(scenario, 8, false), given_start);
}

TEST(Stability, SettlesWithTheLastChangeBeforeThreeQuietSeconds) {
  const Stability calm = judged(Looks(30), scenario_of(30));
  EXPECT_EQ(calm.settle_seconds, 0);
  EXPECT_EQ(calm.moves, 0);
  const Stability one = judged(
      Looks(30).change(0.1, 2, 8, MoveKind::ramp).change(0.5, 3, 8, MoveKind::jump).change(2.9, 4),
      scenario_of(30));
  EXPECT_NEAR(one.settle_seconds, 2.9, 1e-9);
  EXPECT_EQ(one.moves, 2);
  EXPECT_EQ(one.moves_after_settling, 0);
}

TEST(Stability, CountsAMoveAfterTheQuiet) {
  const Stability late = judged(Looks(30).change(0.5, 3).change(4, 4), scenario_of(30));
  EXPECT_NEAR(late.settle_seconds, 0.5, 1e-9);
  EXPECT_EQ(late.moves_after_settling, 1);
}

TEST(Stability, LetsAColdStartTakeItsTimeButNotAGivenOne) {
  Looks looks(30);
  looks.change(5, 3);
  EXPECT_NEAR(judged(looks, scenario_of(30)).settle_seconds, 5, 1e-9);
  EXPECT_EQ(judged(looks, scenario_of(30)).moves_after_settling, 0);
  EXPECT_EQ(judged(looks, scenario_of(30), true).settle_seconds, 0);
  EXPECT_EQ(judged(looks, scenario_of(30), true).moves_after_settling, 1);
}

TEST(Stability, CountsAMoveThatIsTakenBackAsTwoMoves) {
  Looks looks(60);
  looks.change(0.5, 3).change(20, 4).change(20.4, 3);
  const Stability moved = judged(looks, scenario_of(60));
  EXPECT_EQ(moved.probes, 0);
  EXPECT_EQ(moved.moves_after_settling, 2);
}

TEST(Stability, CountsProbesApartButOnlyThoseThatAreTakenBack) {
  Looks looks(60);
  looks.change(0.5, 3).change(20, 4, 8, MoveKind::probe).change(20.4, 3, 8, MoveKind::probe);
  const Stability calm = judged(looks, scenario_of(60));
  EXPECT_EQ(calm.probes, 1);
  EXPECT_EQ(calm.moves, 1);
  EXPECT_EQ(calm.moves_after_settling, 0);
  looks.change(40, 4, 8, MoveKind::probe);  // and stays
  const Stability kept = judged(looks, scenario_of(60));
  EXPECT_EQ(kept.probes, 1);
  EXPECT_EQ(kept.moves_after_settling, 1);
  looks.change(55, 3, 8, MoveKind::probe);  // back, but too late
  EXPECT_EQ(judged(looks, scenario_of(60)).moves_after_settling, 2);
}

TEST(Stability, DoesNotExcuseWhoNeverRests) {
  Looks looks(30);
  for (int i = 1; i < 29; ++i) looks.change(i, i % 2 == 0 ? 3 : 4);
  const Stability restless = judged(looks, scenario_of(30));
  EXPECT_NEAR(restless.settle_seconds, 28, 1e-9);
  EXPECT_EQ(restless.moves_after_settling, 13);  // those of the second half
  EXPECT_NEAR(restless.reversals_per_minute, 60.0 * 12 / 15, 1e-9);
}

TEST(Stability, ExcusesTheFirstBurstAfterAnEvent) {
  Scenario scenario = scenario_of(30);
  add_event(scenario, 10);
  Looks looks(30);
  looks.change(0.5, 3).change(10.4, 4).change(11, 5);
  EXPECT_EQ(judged(looks, scenario).moves_after_settling, 0);
  looks.change(18, 6);
  EXPECT_EQ(judged(looks, scenario).moves_after_settling, 1);
}

TEST(Stability, ExcusesWorkersParkedLateAfterAnEvent) {
  Scenario scenario = scenario_of(60);
  add_event(scenario, 10);
  Looks looks(60);
  looks.change(0.5, 3).change(10.4, 4).change(26, 4, 6);
  EXPECT_EQ(judged(looks, scenario).moves_after_settling, 0);
  looks.change(40, 4, 5);
  EXPECT_EQ(judged(looks, scenario).moves_after_settling, 1);
}

TEST(Stability, CountsTargetsThatTurnRoundButNotThoseThatAnEventTurns) {
  Scenario scenario = scenario_of(60);
  EXPECT_EQ(
      judged(Looks(60).change(0.5, 3).change(40, 4).change(50, 5), scenario).reversals_per_minute,
      0);
  EXPECT_NEAR(
      judged(Looks(60).change(0.5, 3).change(40, 4).change(50, 3), scenario).reversals_per_minute,
      60 / 59.5, 1e-6);
  add_event(scenario, 45);
  EXPECT_EQ(
      judged(Looks(60).change(0.5, 3).change(40, 4).change(50, 3), scenario).reversals_per_minute,
      0);
}

TEST(Stability, ReactsWithAChangeOrAnotherLabel) {
  Scenario scenario = scenario_of(30);
  add_event(scenario, 10);
  add_event(scenario, 20);
  Looks looks(30);
  looks.change(10.4, 4).label(20.8, "contended");
  EXPECT_NEAR(judged(looks, scenario).reaction_seconds, 0.8, 1e-9);
}

TEST(Stability, CountsAnEventThatNothingFollowsUntilTheNext) {
  Scenario scenario = scenario_of(30);
  add_event(scenario, 10);
  add_event(scenario, 17);
  EXPECT_NEAR(judged(Looks(30).change(17.2, 4), scenario).reaction_seconds, 7, 1e-9);
}

}  // namespace
}  // namespace weir::detail
