#include "tuner/host_totals.hpp"

#include <algorithm>
#include <cmath>

#include "policies/contention_meter.hpp"
#include "policies/last_second.hpp"

namespace weir::detail {
namespace {

constexpr double kLeastSeconds = 1e-9;
constexpr int kLeastHints = 10;  // windows, and a quarter of all
// Of the little CPU time of a stage that sleeps more than this, the kernel always has much.
constexpr double kAsleepShare = 0.5;

}  // namespace

void HostTotals::add(const Observation& window) {
  const double seconds = window.window_seconds;
  if (!std::isfinite(seconds) || seconds <= 0) return;
  work_ += window.work;
  seconds_ += seconds;
  ++windows_;
  for (const StageObservation& seen : window.stages) {
    if (!(seen.running_mean > 0)) continue;
    Stage& stage = stages_[seen.name];
    stage.running_seconds += seconds * seen.running_mean;
    stage.blocked_seconds += seconds * seen.running_mean * seen.blocked_share;
    if (!seen.hint.empty() && seen.blocked_share < kAsleepShare) ++stage.hints[seen.hint];
  }
  if (!window.contended_by.empty()) contended_seconds_[window.contended_by] += seconds;
  if (!window.host.known) return;
  host_seconds_ += seconds;
  throttled_ += seconds * window.host.throttled_share;
  others_ += seconds * window.host.others_cores;
  idle_ += seconds * window.host.idle_cores;
  pressure_ += seconds * window.host.cpu_pressure;
}

HostFigures HostTotals::figures() const {
  HostFigures figures;
  figures.cpu_wait_share = cpu_waits(work_).share;
  figures.switches_per_cpu_second =
      work_.cpu_seconds > kLeastSeconds ? work_.involuntary_switches / work_.cpu_seconds : 0.0;
  const double host_seconds = std::max(host_seconds_, kLeastSeconds);
  figures.throttled_share = throttled_ / host_seconds;
  figures.others_cores = others_ / host_seconds;
  figures.idle_cores = idle_ / host_seconds;
  figures.cpu_pressure = pressure_ / host_seconds;
  for (const auto& [name, stage] : stages_) {
    figures.blocked_shares[name] =
        stage.blocked_seconds / std::max(stage.running_seconds, kLeastSeconds);
    for (const auto& [hint, windows] : stage.hints)
      if (windows >= kLeastHints && 4 * windows >= windows_) figures.hints[name] = hint;
  }
  for (const auto& [by, seconds] : contended_seconds_)
    figures.contended_shares[by] = seconds / std::max(seconds_, kLeastSeconds);
  return figures;
}

HostFigures host_figures(const Observation& window) {
  HostTotals totals;
  totals.add(window);
  return totals.figures();
}

}  // namespace weir::detail
