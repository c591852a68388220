// What the default policy does with windows that are made by hand: when it moves, when it does not,
// and what it does with a move that failed. Whole runs are in tests/tuner/scenarios_test.cpp.

#include "policies/balance_policy.hpp"

#include "tests/policies/policy_drive.hpp"

#include <gtest/gtest.h>

namespace weir::detail {
namespace {

constexpr double kBest = 8 / 36e-3;  // items a second that sharing gives

/// Eight workers, stages of 4 and 32 ms, begun with even targets; what the model would choose is
/// 0.9 and 7.1.
class BalanceTest : public testing::Test {
 protected:
  BalanceTest() : seen_(test::known_line(8, {4e-3, 32e-3})) {
    seen_.label = "stage:b";
    // Few workers were seen, and both stages are linear: nothing is worth a probe.
    for (StageObservation& stage : seen_.stages)
      for (const double n : {1.0, 2.0, 4.0, 7.0})
        stage.estimate.levels.push_back({n, stage.estimate.service_seconds, 0.001, 1000});
    Observation first = seen_;
    const Decision decision = policy_.start(first, seen_.current);
    EXPECT_EQ(decision.kind, MoveKind::start);
  }
  /// A window with that rate; what is decided is in force in the next one.
  Decision window(double per_second) {
    seen_.time_seconds += seen_.window_seconds;
    for (StageObservation& stage : seen_.stages) {
      stage.items_per_second = per_second;
      stage.completions = static_cast<std::uint64_t>(per_second * seen_.window_seconds);
    }
    Decision decision = policy_.decide(seen_);
    test::put_in_force(decision.allocation, seen_);
    return decision;
  }
  /// The kind of the first change within so many windows, or hold.
  Decision change_within(int windows, double per_second) {
    Decision decision;
    for (int i = 0; i < windows; ++i) {
      decision = window(per_second);
      if (decision.allocation) break;
    }
    return decision;
  }
  [[nodiscard]] double target_of_b() const { return seen_.current.stages[1].target; }

  Observation seen_;
  BalancePolicy policy_{false, PolicySettings{}};
};

TEST_F(BalanceTest, GainWithinTheDeadBandMovesNobody) {
  EXPECT_EQ(change_within(100, kBest / 1.04).kind, MoveKind::hold);
  EXPECT_EQ(policy_.standing().moves, 0);
  EXPECT_TRUE(policy_.standing().settled);
}

TEST_F(BalanceTest, GainMustBeConfirmedOnce) {
  for (int i = 0; i < 4; ++i) EXPECT_EQ(window(kBest / 1.1).phase, "probation");
  EXPECT_FALSE(window(kBest / 1.1).allocation);  // the fifth window: the gain is seen
  const Decision decision = window(kBest / 1.1);
  EXPECT_EQ(decision.kind, MoveKind::move);
  EXPECT_NEAR(decision.predicted_gain, 0.1, 0.01);
  EXPECT_NEAR(target_of_b(), 8 * 32.0 / 36, 0.01);
}

TEST_F(BalanceTest, LargeGainEndsTheProbation) {
  EXPECT_FALSE(window(kBest / 1.5).allocation);
  EXPECT_EQ(window(kBest / 1.5).kind, MoveKind::move);
}

TEST_F(BalanceTest, UncertainCostsWidenTheDeadBand) {
  seen_.stages[1].estimate.relative_error = 0.1;  // 2 * 0.1 / 0.9: a gain of 22 % at least
  EXPECT_EQ(change_within(50, kBest / 1.15).kind, MoveKind::hold);
  EXPECT_EQ(change_within(50, kBest / 1.28).kind, MoveKind::move);
}

TEST_F(BalanceTest, CostsThatAreNotTrustedMoveNobody) {
  seen_.stages[1].estimate.trusted = false;
  EXPECT_EQ(change_within(100, kBest / 1.2).kind, MoveKind::hold);
}

TEST_F(BalanceTest, WindowsThatDoNotCountAreNotJudged) {
  seen_.first_after_change = true;
  EXPECT_EQ(change_within(50, kBest / 1.5).kind, MoveKind::hold);
  seen_.first_after_change = false;
  seen_.valid = false;
  seen_.invalid_reason = "the clock jumped";
  const Decision decision = change_within(50, kBest / 1.5);
  EXPECT_EQ(decision.kind, MoveKind::hold);
  EXPECT_EQ(decision.reason, "left out: the clock jumped");
}

TEST_F(BalanceTest, NobodyIsMovedWhileSomethingElseIsTheLimit) {
  seen_.loaders[0].wait_share = 0.01;  // the consumer has what it wants
  EXPECT_EQ(change_within(50, kBest / 1.5).kind, MoveKind::hold);
  seen_.loaders[0].wait_share = 0.9;
  for (const char* label : {"source", "memory"}) {
    seen_.label = label;
    EXPECT_EQ(change_within(50, kBest / 1.5).kind, MoveKind::hold) << label;
  }
}

TEST_F(BalanceTest, CostsThatMayBeChangingAreWaitedFor) {
  seen_.stages[0].suspect = true;
  EXPECT_EQ(change_within(50, kBest / 1.2).kind, MoveKind::hold);
  seen_.stages[0].suspect = false;
  EXPECT_EQ(change_within(2, kBest / 1.2).kind, MoveKind::move);
}

TEST_F(BalanceTest, MoveThatFailedIsTakenBackAndNotTriedForHalfAMinute) {
  ASSERT_EQ(change_within(10, kBest / 1.1).kind, MoveKind::move);
  const double moved = seen_.time_seconds;
  const Decision back = change_within(20, kBest / 1.5);
  EXPECT_EQ(back.kind, MoveKind::rollback);
  ASSERT_TRUE(back.outcome);
  EXPECT_EQ(back.outcome->verdict, Outcome::Verdict::rolled_back);
  EXPECT_EQ(target_of_b(), 4);
  const Decision again = change_within(1000, kBest / 1.1);
  EXPECT_EQ(again.kind, MoveKind::move);
  EXPECT_GE(seen_.time_seconds - moved, 30);
  EXPECT_LE(seen_.time_seconds - moved, 65);
}

TEST_F(BalanceTest, MoveThatPaidIsKept) {
  ASSERT_EQ(change_within(10, kBest / 1.1).kind, MoveKind::move);
  EXPECT_EQ(change_within(100, kBest).kind, MoveKind::hold);
  EXPECT_EQ(policy_.standing().moves, 1);
  EXPECT_TRUE(policy_.standing().settled);
  EXPECT_NEAR(policy_.standing().best_per_second, kBest, 1);
}

TEST_F(BalanceTest, LossThatOnlyShowsLaterIsRegretted) {
  ASSERT_EQ(change_within(10, kBest / 1.1).kind, MoveKind::move);
  // So noisy that two seconds do not tell: the move stays, undecided.
  seen_.stages[1].estimate.cv = 3;
  for (int i = 0; i < 22; ++i) EXPECT_FALSE(window(kBest / 1.3).allocation) << i;
  seen_.stages[1].estimate.cv = 0;
  const Decision decision = change_within(3, kBest / 1.3);
  EXPECT_EQ(decision.kind, MoveKind::rollback);
  EXPECT_EQ(target_of_b(), 4);
}

TEST_F(BalanceTest, DriftVoidsWhatWasKnownAndSharesFreely) {
  ASSERT_EQ(change_within(10, kBest / 1.1).kind, MoveKind::move);
  (void)change_within(30, kBest);
  seen_.stages[1].drifted = true;
  const Decision decision = window(kBest);
  EXPECT_EQ(decision.kind, MoveKind::relearn);
  EXPECT_EQ(seen_.current.stay_slack, Allocation::kUnlimited);
  EXPECT_EQ(seen_.current.active, 8);
  EXPECT_FALSE(policy_.standing().settled);
  seen_.stages[1].drifted = false;
  seen_.stages[1].estimate.trusted = false;
  EXPECT_EQ(change_within(10, kBest).kind, MoveKind::hold);
  seen_.stages[1].estimate.trusted = true;
  EXPECT_EQ(window(kBest).kind, MoveKind::jump);
  EXPECT_EQ(seen_.current.stay_slack, 1);
}

TEST_F(BalanceTest, WhatSomebodyElseSetsIsOnProbation) {
  ASSERT_EQ(change_within(10, kBest / 1.1).kind, MoveKind::move);
  ASSERT_EQ(change_within(100, kBest).kind, MoveKind::hold);
  seen_.current.stages[0].target = seen_.current.stages[1].target = 4;
  seen_.by_hand = seen_.first_after_change = true;
  EXPECT_EQ(window(kBest / 1.1).kind, MoveKind::hold);
  EXPECT_FALSE(policy_.standing().settled);
  seen_.by_hand = seen_.first_after_change = false;
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(window(kBest / 1.1).allocation) << i;
  EXPECT_EQ(window(kBest / 1.1).kind, MoveKind::move);
}

/// The consumer takes 60 items a second: with a tenth more 2.4 workers, so three.
class SlowConsumerTest : public BalanceTest {
 protected:
  SlowConsumerTest() {
    seen_.label = "consumer";
    seen_.loaders[0].wait_share = 0;
    takes(60);
  }
  void takes(double per_second) {
    seen_.loaders[0].peak_per_second = seen_.loaders[0].present_per_second = per_second;
    for (std::size_t i = 0; i < 2; ++i)
      seen_.stages[i].running_mean = 60 * seen_.stages[i].estimate.service_seconds;
  }
};

TEST_F(SlowConsumerTest, WorkersAreParkedAfterTheShrinkMemory) {
  EXPECT_EQ(change_within(149, 60).kind, MoveKind::hold);
  const Decision decision = change_within(10, 60);
  EXPECT_EQ(decision.kind, MoveKind::release);
  EXPECT_EQ(seen_.current.active, 3);
}

TEST_F(SlowConsumerTest, OnePeakKeepsTheWorkersThatItNeeded) {
  (void)change_within(100, 60);
  takes(120);  // 4.8 workers, for one window
  (void)window(60);
  takes(60);
  const Decision decision = change_within(100, 60);
  EXPECT_EQ(decision.kind, MoveKind::release);
  EXPECT_EQ(seen_.current.active, 5);
}

TEST_F(SlowConsumerTest, WorkersComeBackAtTheFirstWait) {
  ASSERT_EQ(change_within(200, 60).kind, MoveKind::release);
  ASSERT_EQ(change_within(40, 60).kind, MoveKind::hold);  // it is verified, and held
  seen_.label = "none";
  seen_.loaders[0].wait_share = 0.1;
  EXPECT_EQ(window(60).kind, MoveKind::rearm);
  EXPECT_GT(seen_.current.active, 3);
}

TEST_F(SlowConsumerTest, NothingIsParkedWhileOthersTakeTheCpus) {
  (void)change_within(140, 60);
  seen_.contended = true;
  EXPECT_NE(change_within(40, 60).kind, MoveKind::release);
}

}  // namespace
}  // namespace weir::detail
