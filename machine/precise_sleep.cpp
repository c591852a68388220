#include "machine/precise_sleep.hpp"

#include <cerrno>

#include <sys/prctl.h>
#include <time.h>

namespace weir {

bool use_smallest_timer_slack() { return ::prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL) == 0; }

void sleep_until(std::chrono::steady_clock::time_point deadline) {
  // libstdc++'s steady clock is CLOCK_MONOTONIC, with the same origin.
  const std::chrono::nanoseconds since_origin = deadline.time_since_epoch();
  if (since_origin.count() <= 0) return;
  const std::chrono::seconds whole = std::chrono::duration_cast<std::chrono::seconds>(since_origin);
  timespec time{};
  time.tv_sec = static_cast<time_t>(whole.count());
  time.tv_nsec = static_cast<long>((since_origin - whole).count());
  while (::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr) == EINTR) {
  }
}

}  // namespace weir
