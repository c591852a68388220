#include "policies/failed_moves.hpp"
#include "policies/need_memory.hpp"
#include "policies/ramp.hpp"
#include "policies/verification.hpp"

#include "tests/policies/observation_maker.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace weir::detail {
namespace {

using test::known_line;

TEST(FailedMoves, MarksLastTwiceAsLongEachTime) {
  FailedMoves failed{PolicySettings{}};
  Allocation to;
  to.stages = {{.target = 2.0}, {.target = 6.0}};
  EXPECT_FALSE(failed.marked(to, 0));
  failed.mark(to, 0);
  EXPECT_TRUE(failed.marked(to, 29));
  EXPECT_FALSE(failed.marked(to, 31));
  failed.mark(to, 31);
  EXPECT_TRUE(failed.marked(to, 31 + 59));
  EXPECT_FALSE(failed.marked(to, 31 + 61));
  for (int i = 0; i < 20; ++i) failed.mark(to, 100);
  EXPECT_FALSE(failed.marked(to, 100 + 601));
}

TEST(FailedMoves, NearlyTheSameTargetsAreTheSameMove) {
  FailedMoves failed{PolicySettings{}};
  Allocation to;
  to.stages = {{.target = 2.1}, {.target = 5.9}};
  failed.mark(to, 0);
  to.stages[0].target = 1.9;
  EXPECT_TRUE(failed.marked(to, 1));
  to.stages[0].target = 3.9;
  EXPECT_FALSE(failed.marked(to, 1));
  to.stages[0].target = 2.1;
  failed.clear();
  EXPECT_FALSE(failed.marked(to, 1));
}

TEST(NeedMemory, SaysNothingUntilItReachesBack) {
  NeedMemory needs(15);
  needs.add(3, 0);
  needs.add(3, 10);
  EXPECT_EQ(needs.largest(10), 0);
  needs.add(3, 15);
  EXPECT_EQ(needs.largest(15), 3);
}

TEST(NeedMemory, OnePeakKeepsWorkersForItsLength) {
  NeedMemory needs(15);
  for (int t = 0; t <= 60; ++t) {
    needs.add(t == 20 ? 7 : 3, t);
    EXPECT_EQ(needs.largest(t), t < 15 ? 0 : t >= 20 && t <= 35 ? 7 : 3) << t;
  }
}

class VerificationTest : public testing::Test {
 protected:
  Verification::Promise promise(double gain, bool required = true) {
    Verification::Promise made;
    made.binding = 1;
    made.predicted_gain = gain;
    made.before = {100, 0.01};
    made.gain_required = required;
    return made;
  }
  // Windows in which the binding stage does so many items a second, until there is an outcome.
  std::optional<Outcome> run(Verification& verification, double per_second, bool excused = false) {
    for (int i = 0; i < 40; ++i) {
      Observation seen = known_line(8, {4e-3, 32e-3});
      seen.stages[1].items_per_second = per_second;
      seen.stages[1].completions = static_cast<std::uint64_t>(per_second * 0.1);
      if (std::optional<Outcome> outcome = verification.judge(seen, excused)) return outcome;
    }
    return std::nullopt;
  }
};

TEST_F(VerificationTest, PromiseKept) {
  Verification verification(promise(0.3), PolicySettings{});
  const std::optional<Outcome> outcome = run(verification, 128);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->verdict, Outcome::Verdict::kept);
  EXPECT_NEAR(outcome->realised_gain, 0.28, 0.02);
}

TEST_F(VerificationTest, TooLittleOfThePromiseFails) {
  Verification verification(promise(0.3), PolicySettings{});
  EXPECT_EQ(run(verification, 105)->verdict, Outcome::Verdict::rolled_back);
}

TEST_F(VerificationTest, LossFailsWithoutAPromise) {
  Verification held(promise(0, false), PolicySettings{});
  EXPECT_NE(run(held, 98)->verdict, Outcome::Verdict::rolled_back);
  Verification lost(promise(0, false), PolicySettings{});
  EXPECT_EQ(run(lost, 80)->verdict, Outcome::Verdict::rolled_back);
}

TEST_F(VerificationTest, AnotherLimitExcuses) {
  Verification verification(promise(0.3), PolicySettings{});
  EXPECT_NE(run(verification, 60, true)->verdict, Outcome::Verdict::rolled_back);
}

TEST_F(VerificationTest, TooFewItemsEndUndecidedAndAreKept) {
  Verification verification(promise(0.06), PolicySettings{});
  const std::optional<Outcome> outcome = run(verification, 10.5);
  ASSERT_TRUE(outcome);
  Verification slow(promise(0.06, true), PolicySettings{});
  Observation seen = known_line(8, {4e-3, 32e-3});
  seen.window_seconds = 2.0;
  seen.stages[1].items_per_second = 100;
  seen.stages[1].completions = 3;  // a rate with a large error
  EXPECT_EQ(slow.judge(seen, false)->verdict, Outcome::Verdict::undecided);
}

TEST(Ramp, DoublesTheLineAndThenUsesAllWorkers) {
  Observation seen = known_line(8, {4e-3, 8e-3, 32e-3});
  Ramp ramp{PolicySettings{}};
  ramp.begin(seen);
  EXPECT_EQ(ramp.workers(), (std::vector<int>{1, 1, 1}));
  std::vector<std::vector<int>> levels;
  for (int step = 0; step < 10; ++step) {
    double x = 1e9;
    for (std::size_t i = 0; i < 3; ++i)
      x = std::min(x, ramp.workers()[i] / seen.stages[i].estimate.service_seconds);
    seen.window_seconds = 20 / x;
    for (StageObservation& stage : seen.stages) {
      stage.items_per_second = x;
      stage.completions = 20;
    }
    const Ramp::Advice advice = ramp.advance(seen);
    if (advice == Ramp::Advice::done) break;
    ASSERT_EQ(advice, Ramp::Advice::step);
    levels.push_back(ramp.workers());
  }
  EXPECT_EQ(levels, (std::vector<std::vector<int>>{{1, 1, 2}, {1, 1, 4}, {1, 2, 5}}));
  EXPECT_EQ(ramp.why_done(), "all workers are in use");
}

TEST(Ramp, EndsWhenAStepGainsLittle) {
  Observation seen = known_line(32, {1e-3, 32e-3});
  Ramp ramp{PolicySettings{}};
  ramp.begin(seen);
  Ramp::Advice advice = Ramp::Advice::step;
  for (int step = 0; step < 3 && advice == Ramp::Advice::step; ++step) {
    seen.window_seconds = 1;
    for (StageObservation& stage : seen.stages) {
      stage.items_per_second = 31;  // whatever the workers
      stage.completions = 31;
    }
    advice = ramp.advance(seen);
  }
  EXPECT_EQ(advice, Ramp::Advice::done);
  EXPECT_EQ(ramp.workers(), (std::vector<int>{1, 2}));
}

TEST(Ramp, StageThatCostsNothingIsKnown) {
  Observation seen = known_line(2, {0.0, 32e-3});
  Ramp ramp{PolicySettings{}};
  ramp.begin(seen);
  seen.window_seconds = 1;
  for (StageObservation& stage : seen.stages) {
    stage.items_per_second = 31;
    stage.completions = 31;
  }
  EXPECT_EQ(ramp.advance(seen), Ramp::Advice::done);
  seen.stages[0].estimate.completions = 0;
  seen.stages[0].completions = 0;
  ramp.begin(seen);
  EXPECT_EQ(ramp.advance(seen), Ramp::Advice::measure);
}

TEST(Ramp, WaitsForItems) {
  Observation seen = known_line(8, {4e-3, 32e-3});
  Ramp ramp{PolicySettings{}};
  ramp.begin(seen);
  seen.window_seconds = 0.05;
  for (StageObservation& stage : seen.stages) stage.completions = 1;
  EXPECT_EQ(ramp.advance(seen), Ramp::Advice::measure);
}

TEST(Ramp, KeepsWhatWasSetByHandAndSerialStages) {
  Observation seen = known_line(8, {4e-3, 32e-3, 16e-3});
  seen.stages[0].serial = true;
  seen.stages[2].fixed_workers = 3;
  Ramp ramp{PolicySettings{}};
  ramp.begin(seen);
  EXPECT_EQ(ramp.workers(), (std::vector<int>{1, 1, 3}));
  seen.window_seconds = 1;
  for (int step = 0; step < 6; ++step)
    if (ramp.advance(seen) == Ramp::Advice::done) break;
  EXPECT_EQ(ramp.workers()[0], 1);
  EXPECT_EQ(ramp.workers()[2], 3);
}

}  // namespace
}  // namespace weir::detail
