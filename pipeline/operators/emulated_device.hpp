#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <vector>

#include <weir/mutex.hpp>

namespace weir::detail {

/// A device that serves at most so many at once: each place is free from a moment on, and a request
/// takes the place that is free first.
///
/// Thread safety: all members from any thread.
class EmulatedDevice {
 public:
  using Clock = std::chrono::steady_clock;

  explicit EmulatedDevice(std::size_t places) : free_from_(places) {}

  /// Reserves a place for `length` from `now` or later; returns when that service begins.
  [[nodiscard]] Clock::time_point reserve(Clock::time_point now, Clock::duration length)
      WEIR_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    const auto place = std::min_element(free_from_.begin(), free_from_.end());
    const Clock::time_point begin = std::max(now, *place);
    *place = begin + length;
    return begin;
  }

  /// What is reserved stays so; of fewer places those remain that are free first. Requires: > 0.
  void set_places(std::size_t places) WEIR_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    std::sort(free_from_.begin(), free_from_.end());
    free_from_.resize(places);
  }

 private:
  Mutex mutex_;
  std::vector<Clock::time_point> free_from_ WEIR_GUARDED_BY(mutex_);
};

}  // namespace weir::detail
