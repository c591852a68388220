// What decision_parts_test.cpp leaves open: when a verdict comes, and what excuses.

#include "policies/verification.hpp"

#include "tests/policies/observation_maker.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

namespace weir::detail {
namespace {

Observation window_at(double per_second, double seconds = 0.1, double cv = 0) {
  Observation seen = test::known_line(8, {4e-3, 32e-3});
  seen.window_seconds = seconds;
  seen.stages[1].estimate.cv = cv;
  seen.stages[1].items_per_second = per_second;
  seen.stages[1].completions = static_cast<std::uint64_t>(per_second * seconds);
  return seen;
}

Verification::Promise promise(double gain, RateMeter::Rate before, bool required = true) {
  Verification::Promise made;
  made.binding = 1;
  made.predicted_gain = gain;
  made.before = before;
  made.gain_required = required;
  return made;
}

using Verdict = Outcome::Verdict;

TEST(VerdictTime, ComesWhenTheErrorIsAThirdOfThePromise) {
  // 100 items a window, no spread: the error of the count is 1 in all of them.
  Verification verification(promise(0.10, {1000, 0.002}), PolicySettings{});
  const std::optional<Outcome> outcome = verification.judge(window_at(1080), false);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->verdict, Verdict::kept);
  EXPECT_EQ(outcome->kind, MoveKind::move);
  EXPECT_NEAR(outcome->realised_gain, 0.08, 1e-9);
  EXPECT_NEAR(outcome->standard_error, 1.08 * std::hypot(1.0 / 108, 0.002), 1e-6);
}

TEST(VerdictTime, MoreWindowsAreAwaitedWhileItIsUnclear) {
  // Spread like the mean: 108 items have an error of a tenth.
  Verification verification(promise(0.10, {1000, 0.002}), PolicySettings{});
  int windows = 1;
  while (!verification.judge(window_at(1080, 0.1, 1.0), false)) ++windows;
  EXPECT_GT(windows, 8);   // (1 / 0.033)^2 = 918 items
  EXPECT_LE(windows, 20);  // two seconds
}

TEST(VerdictTime, EndsAtTheLimitAndKeepsWhatIsUndecided) {
  Verification verification(promise(0.06, {100, 0.01}), PolicySettings{});
  std::optional<Outcome> outcome;
  int windows = 0;
  while (!outcome && windows < 100) {
    ++windows;
    outcome = verification.judge(window_at(100, 0.1, 3.0), false);
  }
  EXPECT_EQ(windows, 20);
  EXPECT_EQ(outcome->verdict, Verdict::undecided);
}

TEST(VerdictTime, NothingIsAwaitedThatCannotMakeUpForWhatWasLittleKnownBefore) {
  Verification verification(promise(0.06, {1000, 0.2}), PolicySettings{});
  const std::optional<Outcome> outcome = verification.judge(window_at(1000), false);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->verdict, Verdict::undecided);
}

TEST(Verdict, WithNothingToCompareWithIsUndecided) {
  Verification verification(promise(0.3, {0, 1}), PolicySettings{});
  EXPECT_FALSE(verification.judge(window_at(50), false));  // five items say too little
  const std::optional<Outcome> outcome = verification.judge(window_at(1000), false);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->verdict, Verdict::undecided);
}

TEST(Verdict, NothingCompletedIsNoProofOfALossButTimeEnds) {
  Verification verification(promise(0.3, {100, 0.01}), PolicySettings{});
  std::optional<Outcome> outcome;
  int windows = 0;
  while (!outcome && windows < 100) {
    ++windows;
    outcome = verification.judge(window_at(0), false);
  }
  EXPECT_EQ(windows, 20);
  EXPECT_NE(outcome->verdict, Verdict::kept);
}

TEST(Verdict, AShareOfThePromiseIsEnough) {
  // verify_share is 0.3: of +50 % at least +15 %.
  Verification enough(promise(0.5, {1000, 0.001}), PolicySettings{});
  EXPECT_EQ(enough.judge(window_at(1160, 1), false)->verdict, Verdict::kept);
  Verification less(promise(0.5, {1000, 0.001}), PolicySettings{});
  EXPECT_EQ(less.judge(window_at(1140, 1), false)->verdict, Verdict::rolled_back);
}

TEST(Verdict, ALossWithinTheDeadBandOrTheErrorIsNone) {
  Verification band(promise(0, {1000, 0.001}, false), PolicySettings{});
  EXPECT_EQ(band.judge(window_at(955, 1), false)->verdict, Verdict::kept);
  Verification lost(promise(0, {1000, 0.001}, false), PolicySettings{});
  EXPECT_EQ(lost.judge(window_at(940, 1), false)->verdict, Verdict::rolled_back);
  Verification blurred(promise(0, {1000, 0.06}, false), PolicySettings{});
  EXPECT_EQ(blurred.judge(window_at(940, 1), false)->verdict, Verdict::undecided);
}

}  // namespace
}  // namespace weir::detail
