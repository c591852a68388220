#include "src/consumer.hpp"

#include <numeric>

#include "machine/precise_sleep.hpp"

namespace weir::program {

void WaitWindow::begin(Clock::time_point now) {
  began_ = now;
  items_ = 0;
  waits_.clear();
}

void WaitWindow::add(double wait_seconds, std::uint64_t items) {
  items_ += items;
  waits_.push_back(wait_seconds);
}

double WaitWindow::seconds(Clock::time_point now) const {
  return std::chrono::duration<double>(now - began_).count();
}

double WaitWindow::items_per_second(Clock::time_point now) const {
  const double seconds_so_far = seconds(now);
  return seconds_so_far > 0 ? static_cast<double>(items_) / seconds_so_far : 0;
}

double WaitWindow::mean_wait_seconds() const {
  if (waits_.empty()) return 0;
  return std::accumulate(waits_.begin(), waits_.end(), 0.0) / static_cast<double>(waits_.size());
}

double WaitWindow::median_wait_seconds() const {
  if (waits_.empty()) return 0;
  std::vector<double> sorted = waits_;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return *middle;
}

void sleep_step(std::chrono::steady_clock::time_point deadline, const SignalWatch& signals) {
  constexpr std::chrono::milliseconds kLook{50};
  while (signals.signal() == 0) {
    const auto now = std::chrono::steady_clock::now();
    if (now >= deadline) return;
    // The last stretch goes to the deadline itself, so that looking costs no precision.
    sleep_until(deadline - now > 2 * kLook ? now + kLook : deadline);
  }
}

}  // namespace weir::program
