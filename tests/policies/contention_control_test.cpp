#include "policies/contention_control.hpp"

#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/policies/observation_maker.hpp"

namespace weir::detail {
namespace {

using Advice = ContentionControl::Advice;

/// A window of a tenth of a second in which `running` workers held a slot, each on a CPU for
/// `cpu_share` of the time and waiting for one for `wait_share` of it.
Observation window(int active, double running, double cpu_share, double wait_share) {
  Observation seen = test::known_line(8, {1e-3, 2e-3});
  seen.active = active;
  seen.label = "stage:b";
  seen.work.seconds = 0.1;
  seen.work.running_seconds = seen.work.slot_seconds = 0.1 * running;
  seen.work.cpu_seconds = cpu_share * seen.work.slot_seconds;
  seen.work.run_queue_seconds = wait_share * seen.work.slot_seconds;
  seen.contended = wait_share / (cpu_share + wait_share) > 0.1 && wait_share > 0.1;
  seen.contended_by = seen.contended ? "others" : "";
  if (seen.contended) seen.label = "contended";
  seen.host.known = true;
  seen.host.cores = 8;
  return seen;
}

class Contention : public testing::Test {
 protected:
  /// The first advice within `seconds` of such windows.
  std::optional<Advice> after(double seconds, Observation seen) {
    for (int i = 0; i < static_cast<int>(seconds * 10 + 0.5); ++i) {
      now_ += 0.1;
      seen.time_seconds = now_;
      if (std::optional<Advice> advice = control_.advise(seen)) {
        control_.changed();
        return advice;
      }
    }
    return std::nullopt;
  }

  double now_ = 10;
  ContentionControl control_{PolicySettings{}};
};

TEST_F(Contention, LeavesThoseWorkersThatHadACpu) {
  // Four busy threads beside eight workers on eight cores: each gets two thirds of a CPU.
  const std::optional<Advice> advice = after(1.0, window(8, 8, 2.0 / 3, 1.0 / 3));
  ASSERT_TRUE(advice);
  EXPECT_TRUE(advice->fewer);
  EXPECT_EQ(advice->workers, 5);
  EXPECT_EQ(control_.workers(8), 5);
}

TEST_F(Contention, SaysNothingBeforeASecondHasPassed) {
  EXPECT_FALSE(after(0.9, window(8, 8, 0.5, 0.5)));
}

TEST_F(Contention, ReducesNothingTwice) {
  ASSERT_TRUE(after(1.0, window(8, 8, 2.0 / 3, 1.0 / 3)));
  // Five workers have a CPU each; the waits are over.
  EXPECT_FALSE(after(0.9, window(5, 5, 1.0, 0.0)));
  EXPECT_EQ(control_.workers(8), 5);
}

// Three and six workers on eight cores: the rounding decides who goes, and it must be the larger.
TEST_F(Contention, WhoHasFewerWorkersKeepsThem) {
  EXPECT_FALSE(after(1.5, window(3, 3, 8.0 / 9, 1.0 / 9)));
}

TEST_F(Contention, WhoHasMoreWorkersGivesOneUp) {
  const std::optional<Advice> advice = after(1.0, window(6, 6, 8.0 / 9, 1.0 / 9));
  ASSERT_TRUE(advice);
  EXPECT_EQ(advice->workers, 5);
}

TEST_F(Contention, HalfAWorkerTooManyIsParkedWhenNobodyElseGivesWay) {
  EXPECT_FALSE(after(2.0, window(3, 3, 8.0 / 9, 1.0 / 9)));
  const std::optional<Advice> advice = after(1.5, window(3, 3, 8.0 / 9, 1.0 / 9));
  ASSERT_TRUE(advice);
  EXPECT_EQ(advice->workers, 2);
}

TEST_F(Contention, NeverParksTheLastWorker) {
  const std::optional<Advice> advice = after(1.0, window(8, 8, 0.06, 0.94));
  ASSERT_TRUE(advice);
  EXPECT_EQ(advice->workers, 1);
}

TEST_F(Contention, KeepsWorkersThatHardlyUseACpu) {
  // They sleep, and wait in turn whenever they wake: fewer of them would wait as long.
  EXPECT_FALSE(after(5.0, window(8, 8, 0.02, 0.6)));
  EXPECT_FALSE(control_.holds_back());
}

TEST_F(Contention, TakesTheWorkersBackOneASecond) {
  ASSERT_TRUE(after(1.0, window(8, 8, 0.75, 0.25)));
  const int held = control_.workers(8);
  const Observation calm = window(held, held, 1.0, 0.0);
  const std::optional<Advice> back = after(2.0, calm);
  ASSERT_TRUE(back);
  EXPECT_FALSE(back->fewer);
  EXPECT_EQ(back->workers, held + 1);
}

TEST_F(Contention, PutsOffATryThatBroughtTheWaitsBack) {
  ASSERT_TRUE(after(1.0, window(8, 8, 0.75, 0.25)));
  const int held = control_.workers(8);
  ASSERT_TRUE(after(2.0, window(held, held, 1.0, 0.0)));
  ASSERT_TRUE(after(1.0, window(held + 1, held + 1, 0.86, 0.14)));
  EXPECT_EQ(control_.workers(8), held);
  // The second try waits for two seconds instead of one.
  EXPECT_FALSE(after(1.9, window(held, held, 1.0, 0.0)));
  EXPECT_TRUE(after(0.3, window(held, held, 1.0, 0.0)));
}

TEST_F(Contention, DoesNotComeBackWhileTheConsumerIsTheLimit) {
  ASSERT_TRUE(after(1.0, window(8, 8, 0.75, 0.25)));
  Observation calm = window(6, 3, 1.0, 0.0);
  calm.label = "consumer";
  EXPECT_FALSE(after(5.0, calm));
}

}  // namespace
}  // namespace weir::detail
