#include "policies/probe.hpp"

#include "tests/policies/observation_maker.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <vector>

namespace weir::detail {
namespace {

using Step = Probe::Step;

/// A line of two on 16 workers whose second stage has `now` of them and is named by the label. What
/// it does with n workers is `rate_`.
class ProbeTest : public testing::Test {
 protected:
  ProbeTest() : seen_(test::known_line(16, {1e-3, 10e-3})) {
    seen_.label = "stage:b";
    seen_.time_seconds = 0;
    settle(8);
    with_levels({8});
  }
  void settle(int now) {
    seen_.current.stages[0].target = 1;
    seen_.current.stages[1].target = now;
    seen_.work.running_seconds = 0.1 * 16 * seen_.window_seconds;  // the others idle
    put(now);
  }
  void put(int workers) {
    StageObservation& own = seen_.stages[1];
    own.running_mean = workers;
    own.items_per_second = rate_(workers);
    own.completions = static_cast<std::uint64_t>(rate_(workers) * seen_.window_seconds);
  }
  void with_levels(const std::vector<double>& running) {
    seen_.stages[1].estimate.levels.clear();
    for (const double n : running)
      seen_.stages[1].estimate.levels.push_back({n, n / rate_(static_cast<int>(n)), 0.001, 1000});
  }
  std::optional<Allocation> window(bool doubtful) {
    seen_.time_seconds += seen_.window_seconds;
    return probe_.begin(seen_, doubtful);
  }
  /// Windows until a probe begins, at most 200.
  std::optional<Allocation> begun(bool doubtful, int* windows = nullptr) {
    for (int i = 1; i <= 200; ++i)
      if (std::optional<Allocation> made = window(doubtful)) {
        if (windows != nullptr) *windows = i;
        return made;
      }
    return std::nullopt;
  }
  static int workers_in(const Allocation& made) {
    return made.strict ? static_cast<int>(made.stages[1].target) : made.stages[1].cap;
  }
  /// What is tried until the probe is over, and its last step.
  std::vector<int> survey(const Allocation& first, Step* last) {
    std::vector<int> tried = {workers_in(first)};
    put(tried.back());
    for (int i = 0; i < 100; ++i) {
      seen_.time_seconds += seen_.window_seconds;
      *last = probe_.advance(seen_);
      if (*last == Step::next) {
        tried.push_back(workers_in(probe_.probed()));
        put(tried.back());
      } else if (*last == Step::back) {
        put(static_cast<int>(seen_.current.stages[1].target));
      } else if (*last != Step::wait) {
        break;
      }
    }
    return tried;
  }

  std::function<double(int)> rate_ = [](int n) { return 100.0 * n; };
  Observation seen_;
  Probe probe_{PolicySettings{}};
};

TEST_F(ProbeTest, WaitsForHalfASecondOfQuiet) {
  probe_.allow_fewer();
  int windows = 0;
  ASSERT_TRUE(begun(true, &windows));
  EXPECT_EQ(windows, 5);
  probe_.abandon();
  probe_.reset();
  for (int i = 0; i < 4; ++i) EXPECT_FALSE(window(true));
  EXPECT_TRUE(window(true));
}

TEST_F(ProbeTest, NeverBeginsWhereItsResultWouldMeanNothing) {
  probe_.allow_fewer();
  const Observation good = seen_;
  seen_.contended = true;
  EXPECT_FALSE(begun(true)) << "others take the CPUs";
  for (const char* label : {"none", "consumer", "source", "memory", "serial:b", "stage:gone"}) {
    seen_ = good;
    seen_.label = label;
    EXPECT_FALSE(begun(true)) << label;
  }
  seen_ = good;
  seen_.stages[1].estimate.trusted = false;
  EXPECT_FALSE(begun(true)) << "little is known of it";
  seen_ = good;
  seen_.current.strict = true;
  seen_.current.groups = {8};
  seen_.current.stages[1].group = 0;
  EXPECT_FALSE(begun(true)) << "in a group";
  seen_ = good;
  seen_.stages[1].serial = true;
  EXPECT_FALSE(begun(true)) << "serial";
  seen_ = good;
  seen_.stages[1].fixed_workers = 8;
  EXPECT_FALSE(begun(true)) << "set by hand";
  seen_ = good;
  EXPECT_TRUE(begun(true));
}

TEST_F(ProbeTest, OwnAllocationsOfALinearStageAreNotDoubted) {
  with_levels({1, 2, 4, 8});
  EXPECT_FALSE(begun(true));
  probe_.allow_fewer();
  EXPECT_FALSE(begun(true)) << "one worker was seen";
}

TEST_F(ProbeTest, SurveyHalvesDownToOneAndLooksAroundTheBest) {
  // Best with three, half of that with eight.
  rate_ = [](int n) { return n <= 3 ? 100.0 * n : 300.0 - 30.0 * (n - 3); };
  settle(8);
  with_levels({8});
  probe_.allow_fewer();
  const std::optional<Allocation> first = begun(true);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->stages[1].cap, 4);
  EXPECT_LE(first->stages[1].target, 4);
  Step last = Step::wait;
  const std::vector<int> tried = survey(*first, &last);
  ASSERT_GE(tried.size(), 3u);
  EXPECT_EQ((std::vector<int>{tried.begin(), tried.begin() + 3}), (std::vector<int>{4, 2, 1}));
  EXPECT_EQ(std::count(tried.begin(), tried.end(), 3), 1);
  EXPECT_LE(tried.size(), 12u);
  EXPECT_EQ(last, Step::over);
  EXPECT_FALSE(probe_.running());
  EXPECT_EQ(probe_.original().stages[1].target, 8);
  EXPECT_FALSE(begun(true)) << "one survey is enough";
}

TEST_F(ProbeTest, NothingIsSurveyedWhereTheModelAgreesWithWhatIsInForce) {
  probe_.allow_fewer();
  EXPECT_FALSE(begun(false));
}

TEST_F(ProbeTest, ACliffBetweenTwoLevelsIsLookedInto) {
  // As the ramp has seen it: 1, 2, 4, and the jump to 13.
  rate_ = [](int n) { return n <= 6 ? 100.0 * n : 15.0 * n; };
  settle(13);
  with_levels({1, 2, 4, 13});
  const std::optional<Allocation> first = begun(false);
  ASSERT_TRUE(first);
  Step last = Step::wait;
  const std::vector<int> tried = survey(*first, &last);
  int best = 4;
  for (const int n : tried) {
    EXPECT_GE(n, 1);
    EXPECT_LE(n, 12);
    best = rate_(n) > rate_(best) ? n : best;
  }
  EXPECT_EQ(best, 6);
  EXPECT_EQ(last, Step::over);
}

class OneMore : public ProbeTest {
 protected:
  OneMore() {
    settle(4);
    with_levels({1, 2, 4});
    seen_.current.stages[1].cap = 4;
  }
};

TEST_F(OneMore, IsTriedAtACapWhileOthersIdle) {
  const std::optional<Allocation> first = begun(false);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->stages[1].cap, 5);
  EXPECT_EQ(first->stages[1].target, 4);
}

TEST_F(OneMore, IsAdoptedWhereItPays) {
  const std::optional<Allocation> first = begun(false);
  ASSERT_TRUE(first);
  Step last = Step::wait;
  EXPECT_EQ(survey(*first, &last), (std::vector<int>{5}));
  EXPECT_EQ(last, Step::adopt);
  EXPECT_EQ(probe_.probed().stages[1].cap, 5);
}

TEST_F(OneMore, IsTakenBackWhereItBringsLittle) {
  rate_ = [](int n) { return n <= 4 ? 100.0 * n : 405.0; };
  const std::optional<Allocation> first = begun(false);
  ASSERT_TRUE(first);
  Step last = Step::wait;
  (void)survey(*first, &last);
  EXPECT_EQ(last, Step::over);
  EXPECT_EQ(probe_.original().stages[1].cap, 4);
}

TEST_F(OneMore, IsNotTriedAboveWhatMayBeNorWhereItWasSeen) {
  const Observation good = seen_;
  seen_.stages[1].hand_cap = 4;
  EXPECT_FALSE(begun(false)) << "a cap set by hand";
  seen_ = good;
  seen_.budget = seen_.active = 4;
  EXPECT_FALSE(begun(false)) << "no more workers";
  seen_ = good;
  seen_.work.running_seconds = 16 * seen_.window_seconds;
  EXPECT_FALSE(begun(false)) << "all workers are busy";
  seen_ = good;
  seen_.current.stages[1].cap = 16;
  EXPECT_FALSE(begun(false)) << "it has no cap";
  seen_ = good;
  with_levels({1, 2, 4, 5});
  EXPECT_FALSE(begun(false)) << "five were seen";
}

TEST_F(OneMore, ComesEveryTenSecondsAndNeverInStep) {
  rate_ = [](int n) { return n <= 4 ? 100.0 * n : 400.0; };
  std::vector<int> gaps;
  for (int i = 0; i < 4; ++i) {
    settle(4);
    int windows = 0;
    const std::optional<Allocation> first = begun(false, &windows);
    ASSERT_TRUE(first);
    Step last = Step::wait;
    (void)survey(*first, &last);
    if (i > 0) gaps.push_back(windows);
  }
  for (const int windows : gaps) {
    EXPECT_GE(windows, 75);
    EXPECT_LE(windows, 126);
  }
  EXPECT_NE(gaps[0], gaps[1]);
  EXPECT_NE(gaps[1], gaps[2]);
}

}  // namespace
}  // namespace weir::detail
