#pragma once

#include <deque>

#include <weir/observation.hpp>

namespace weir::detail {

inline WorkTime& operator+=(WorkTime& total, const WorkTime& part) {
  total.seconds += part.seconds;
  total.running_seconds += part.running_seconds;
  total.slot_seconds += part.slot_seconds;
  total.cpu_seconds += part.cpu_seconds;
  total.run_queue_seconds += part.run_queue_seconds;
  total.throttled_seconds += part.throttled_seconds;
  total.throttled_periods += part.throttled_periods;
  total.involuntary_switches += part.involuntary_switches;
  return total;
}

/// What happened in the windows of about the last second.
///
/// Thread safety: a value.
class LastSecond {
 public:
  void add(const WorkTime& window) {
    windows_.push_back(window);
    double rest = 0;
    for (const WorkTime& each : windows_) rest += each.seconds;
    while (windows_.size() > 1 && rest - windows_.front().seconds >= kSeconds - 1e-9) {
      rest -= windows_.front().seconds;
      windows_.pop_front();
    }
  }
  void clear() { windows_.clear(); }
  [[nodiscard]] WorkTime sum() const {
    WorkTime total;
    for (const WorkTime& each : windows_) total += each;
    return total;
  }
  /// Whether it reaches back a whole second.
  [[nodiscard]] bool full() const { return sum().seconds >= kSeconds - 1e-9; }

 private:
  static constexpr double kSeconds = 1.0;

  std::deque<WorkTime> windows_;
};

}  // namespace weir::detail
