// Each promise of the guard, against a policy that breaks it.

#include "tuner/guard.hpp"

#include "tests/policies/observation_maker.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <numeric>
#include <random>

namespace weir::detail {
namespace {

class GuardTest : public testing::Test {
 protected:
  GuardTest() : seen_(test::known_line(8, {1e-3, 2e-3, 4e-3})) {
    seen_.current.structure = 7;
    guard_.begin(seen_);
  }
  // A decision that a careless policy might make.
  Decision wanting(MoveKind kind = MoveKind::move) {
    Decision decision;
    decision.kind = kind;
    decision.allocation = seen_.current;
    for (StageAllocation& stage : decision.allocation->stages) stage.target = 1;
    return decision;
  }
  Allocation passed(const Decision& decision) {
    Guard::Verdict verdict = guard_.pass(decision, seen_);
    corrections_ = verdict.corrections;
    EXPECT_TRUE(verdict.allocation);
    return verdict.allocation.value_or(Allocation{});
  }
  void dropped(const Decision& decision, const std::string& why) {
    const Guard::Verdict verdict = guard_.pass(decision, seen_);
    EXPECT_FALSE(verdict.allocation);
    EXPECT_THAT(verdict.corrections, testing::Contains(testing::HasSubstr(why)));
  }

  Observation seen_;
  Guard guard_{0.01};
  std::vector<std::string> corrections_;
};

TEST_F(GuardTest, WhatIsRightPassesUnchanged) {
  const Allocation made = passed(wanting());
  EXPECT_TRUE(corrections_.empty());
  EXPECT_EQ(made.structure, 7u);
  EXPECT_FALSE(guard_.pass(Decision{}, seen_).allocation);
}

TEST_F(GuardTest, ActiveStaysWithinTheBudget) {
  Decision decision = wanting(MoveKind::start);
  decision.allocation->active = 9;
  EXPECT_EQ(passed(decision).active, 8);
  EXPECT_THAT(corrections_, testing::ElementsAre("active 9 became 8"));
  decision.allocation->active = 0;
  EXPECT_EQ(passed(decision).active, 1);
}

TEST_F(GuardTest, SerialStagesHaveOneWorker) {
  seen_.stages[1].serial = true;
  Decision decision = wanting();
  decision.allocation->stages[1].target = 2;
  const Allocation made = passed(decision);
  EXPECT_EQ(made.stages[1].cap, 1);
  EXPECT_EQ(made.stages[1].target, 1);
}

TEST_F(GuardTest, HandSettingsHold) {
  seen_.stages[0].fixed_workers = 3;
  seen_.stages[1].hand_cap = 2;
  Decision decision = wanting(MoveKind::start);
  decision.allocation->stages[0].target = 7;
  decision.allocation->stages[1].target = 7;
  const Allocation made = passed(decision);
  EXPECT_EQ(made.stages[0].target, 3);
  EXPECT_EQ(made.stages[0].cap, 3);
  EXPECT_EQ(made.stages[1].target, 2);
  EXPECT_EQ(made.stages[1].cap, 2);
}

TEST_F(GuardTest, SenselessNumbersAreCorrected) {
  Decision decision = wanting(MoveKind::start);
  decision.allocation->stages[0].target = std::numeric_limits<double>::quiet_NaN();
  decision.allocation->stages[1].target = -3;
  decision.allocation->stages[2].cap = -1;
  decision.allocation->stages[2].depth_items = -5;
  decision.allocation->stay_slack = std::numeric_limits<double>::quiet_NaN();
  const Allocation made = passed(decision);
  EXPECT_TRUE(std::isfinite(made.stages[0].target));
  EXPECT_EQ(made.stages[1].target, 0);
  EXPECT_EQ(made.stages[2].cap, 1);
  EXPECT_EQ(made.stages[2].depth_items, 0);
  EXPECT_GE(made.stay_slack, 0);
}

TEST_F(GuardTest, StrictSumsFitTheBudget) {
  Decision decision = wanting(MoveKind::start);
  decision.allocation->strict = true;
  for (StageAllocation& stage : decision.allocation->stages) stage.target = 4;
  const Allocation made = passed(decision);
  double total = 0;
  for (const StageAllocation& stage : made.stages) total += stage.target;
  EXPECT_EQ(total, 8);
  EXPECT_EQ(made.active, 8);
}

TEST_F(GuardTest, StrictTargetsAreWholeAndActiveCoversThem) {
  Decision decision = wanting();
  decision.allocation->strict = true;
  decision.allocation->active = 1;
  decision.allocation->stages[0].target = 0.2;
  decision.allocation->stages[2].target = 1.5;
  const Allocation made = passed(decision);
  EXPECT_EQ(made.stages[0].target, 1);
  EXPECT_EQ(made.stages[2].target, 2);
  EXPECT_EQ(made.active, 4);
}

TEST_F(GuardTest, StrictSumsOfHandSettingsThatCannotFitAreDropped) {
  for (StageObservation& stage : seen_.stages) stage.fixed_workers = 4;
  Decision decision = wanting(MoveKind::start);
  decision.allocation->strict = true;
  dropped(decision, "12 whole workers are wanted, there are 8");
}

TEST_F(GuardTest, GroupsMustExist) {
  Decision decision = wanting();
  decision.allocation->strict = true;
  decision.allocation->stages[0].group = 0;
  dropped(decision, "group 0 of 0");
  decision.allocation->groups = {0};
  dropped(decision, "a group has no worker");
  decision.allocation->groups = {1};
  decision.allocation->strict = false;
  dropped(decision, "group 0 of 0");
}

TEST_F(GuardTest, AnotherNumberOfStagesIsDropped) {
  Decision decision = wanting();
  decision.allocation->stages.pop_back();
  dropped(decision, "it is for 2 stages, there are 3");
}

TEST_F(GuardTest, StepsAreAtMostTwiceTheHighestLevel) {
  seen_.stages[2].running_mean = 1.5;
  guard_.note(seen_);
  Decision decision = wanting();
  decision.allocation->stages[2].target = 7;
  EXPECT_EQ(passed(decision).stages[2].target, 4);
  EXPECT_THAT(corrections_, testing::Contains(testing::HasSubstr("step of c")));
  seen_.time_seconds += 1;
  EXPECT_EQ(passed(decision).stages[2].target, 7);
}

TEST_F(GuardTest, RollbackIsFreeOfStepAndCoolDown) {
  EXPECT_TRUE(guard_.pass(wanting(), seen_).allocation);
  Decision decision = wanting(MoveKind::rollback);
  decision.allocation->stages[2].target = 7;
  EXPECT_EQ(passed(decision).stages[2].target, 7);
}

TEST_F(GuardTest, ChangesAreACoolDownApart) {
  (void)passed(wanting());
  seen_.time_seconds += 0.005;
  dropped(wanting(), "after the last change");
  seen_.time_seconds += 0.006;
  (void)passed(wanting());
}

TEST_F(GuardTest, WhateverIsWantedThePromisesHold) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 5000; ++round) {
    seen_.time_seconds += 1;
    Decision decision = wanting(MoveKind::move);
    Allocation& wanted = *decision.allocation;
    const auto any = [&](int low, int high) {
      return std::uniform_int_distribution<int>(low, high)(random);
    };
    wanted.strict = any(0, 1) == 1;
    wanted.active = any(-5, 30);
    if (any(0, 2) == 0) wanted.groups = {any(0, 3), any(0, 9)};
    for (std::size_t i = 0; i < 3; ++i) {
      wanted.stages[i].target = 0.37 * any(-10, 60);
      wanted.stages[i].cap = any(-2, 20);
      wanted.stages[i].group = any(-1, 2);
      seen_.stages[i].serial = any(0, 4) == 0;
      seen_.stages[i].fixed_workers = any(0, 4) == 0 ? any(1, 9) : 0;
      seen_.stages[i].hand_cap = any(0, 3) == 0 ? any(1, 9) : 0;
    }
    const std::optional<Allocation> made = guard_.pass(decision, seen_).allocation;
    if (!made) continue;
    ASSERT_GE(made->active, 1);
    ASSERT_LE(made->active, 8);
    int whole = std::accumulate(made->groups.begin(), made->groups.end(), 0);
    for (std::size_t i = 0; i < 3; ++i) {
      const StageAllocation& own = made->stages[i];
      ASSERT_GE(own.target, 0);
      ASSERT_GE(own.cap, 1);
      if (seen_.stages[i].serial) {
        ASSERT_EQ(own.cap, 1);
      }
      if (own.group < 0) {
        ASSERT_LE(own.target, own.cap);
        whole += static_cast<int>(own.target);
      }
    }
    if (made->strict) {
      ASSERT_LE(whole, 8);
      ASSERT_GE(made->active, whole);
    }
  }
}

}  // namespace
}  // namespace weir::detail
