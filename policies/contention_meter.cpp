#include "policies/contention_meter.hpp"

#include <algorithm>

namespace weir::detail {
namespace {

// Below this share of slot time, waiting for a CPU changes no service time that matters: stages
// that mostly sleep wait for a CPU nearly as long as they use it, and are not contended.
constexpr double kContendedSlotShare = 0.1;
constexpr double kThrottledPeriods = 2;
constexpr double kBaselineSeconds = 2.0;  // of CPU time, before it says anything
constexpr double kLeastSwitches = 10;     // a CPU second: below that, nobody is pushed out
constexpr double kMoreThanCores = 1.05;

}  // namespace

CpuWaits cpu_waits(const WorkTime& work) {
  // Threads that the quota stops stay runnable, so their wait is mostly counted in both.
  const double waits = std::max(work.run_queue_seconds, work.throttled_seconds);
  CpuWaits result;
  if (waits <= 0) return result;
  result.share = waits / (work.cpu_seconds + waits);
  result.slot_share = std::min(1.0, waits / std::max(work.slot_seconds, waits));
  return result;
}

bool ContentionMeter::many_switches(const WorkTime& window, const WorkTime& second) {
  if (window.run_queue_seconds > 0) waits_are_counted_ = true;
  if (waits_are_counted_ || second.cpu_seconds <= 0) return false;
  const double now = second.involuntary_switches / second.cpu_seconds;
  const bool many = baseline_seconds_ >= kBaselineSeconds && now > kLeastSwitches &&
                    now > settings_.contention_switches * switches_baseline_;
  if (!many && window.cpu_seconds > 0) {
    const double own = window.involuntary_switches / window.cpu_seconds;
    const double weight = baseline_seconds_ > 0 ? settings_.alpha_slow : 1.0;
    switches_baseline_ += weight * (own - switches_baseline_);
    baseline_seconds_ += window.cpu_seconds;
  }
  return many;
}

void ContentionMeter::add(const WorkTime& window, const HostObservation& host) {
  last_.add(window);
  const WorkTime second = last_.sum();
  const CpuWaits waits = cpu_waits(second);
  const bool waiting = waits.share > settings_.contention && waits.slot_share > kContendedSlotShare;
  const bool throttled = second.throttled_periods >= kThrottledPeriods;
  const bool switches = many_switches(window, second);
  by_.clear();
  if (throttled) {
    by_ = "quota";
  } else if (waiting || switches) {
    const double running = second.running_seconds / std::max(second.seconds, 1e-9);
    by_ = host.cores > 0 && running > kMoreThanCores * host.cores ? "own" : "others";
  }
}

}  // namespace weir::detail
