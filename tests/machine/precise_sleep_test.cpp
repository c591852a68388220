#include "machine/precise_sleep.hpp"

#include <chrono>
#include <csignal>
#include <thread>

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/time.h>

namespace weir {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

TEST(PreciseSleep, NeverEndsBeforeItsDeadline) {
  for (int i = 0; i < 5; ++i) {
    const steady_clock::time_point deadline = steady_clock::now() + milliseconds(2);
    sleep_until(deadline);
    EXPECT_GE(steady_clock::now(), deadline);
  }
}

TEST(PreciseSleep, ReturnsFromADeadlineThatHasPassed) {
  sleep_until(steady_clock::now() - std::chrono::hours(1));
  sleep_until(steady_clock::time_point{});
  sleep_until(steady_clock::time_point::min());
}

volatile std::sig_atomic_t signals_seen = 0;

TEST(PreciseSleep, SleepsOnThroughSignals) {
  struct sigaction action {};
  struct sigaction before {};
  action.sa_handler = [](int) { signals_seen = signals_seen + 1; };
  ASSERT_EQ(sigaction(SIGALRM, &action, &before), 0);
  itimerval every_millisecond{{0, 1000}, {0, 1000}};
  ASSERT_EQ(setitimer(ITIMER_REAL, &every_millisecond, nullptr), 0);
  // Deadlines until a signal fell into one of them; a sleep that ends early fails at once.
  while (signals_seen < 3) {
    const steady_clock::time_point deadline = steady_clock::now() + milliseconds(5);
    sleep_until(deadline);
    EXPECT_GE(steady_clock::now(), deadline);
  }
  const itimerval never{};
  ASSERT_EQ(setitimer(ITIMER_REAL, &never, nullptr), 0);
  ASSERT_EQ(sigaction(SIGALRM, &before, nullptr), 0);
}

TEST(PreciseSleep, TimerSlackIsTheSmallestOnTheCallingThread) {
  std::thread([] {
    ASSERT_TRUE(use_smallest_timer_slack());
    EXPECT_EQ(prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0), 1);
  }).join();
  EXPECT_NE(prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0), 1);
}

}  // namespace
}  // namespace weir
