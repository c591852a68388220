#include "tuner/window_lengths.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace weir::detail {
namespace {

constexpr double kServicesToEnd = 1.5;

// The finaliser of splitmix64: a counter in, evenly spread bits out.
std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

}  // namespace

double WindowLengths::next(const Observation& seen, double asked_seconds, bool changed) {
  double demand = 0;
  for (const StageObservation& stage : seen.stages) demand += stage.estimate.demand_seconds;
  double slowest_service = 0;
  double slowest_rate = 0;
  for (const StageObservation& stage : seen.stages) {
    if (stage.estimate.demand_seconds < settings_.matters * demand) continue;
    slowest_service = std::max(slowest_service, stage.estimate.service_seconds);
    const double rate = seen.window_seconds > 0
                            ? static_cast<double>(stage.completions) / seen.window_seconds
                            : 0.0;
    if (rate > 0 && (slowest_rate == 0 || rate < slowest_rate)) slowest_rate = rate;
  }
  double seconds = asked_seconds > 0 ? asked_seconds : settings_.window_seconds;
  if (changed)
    seconds = std::max(settings_.window_least_seconds, kServicesToEnd * slowest_service);
  else if (asked_seconds <= 0 && slowest_rate > 0)
    seconds = std::max(seconds, settings_.window_completions / slowest_rate);
  seconds = std::clamp(seconds, settings_.window_least_seconds, settings_.window_most_seconds);
  const double unit = static_cast<double>(mixed(seed_ + count_++) >> 11) * 0x1.0p-53;
  return seconds * (1.0 + settings_.jitter * (2.0 * unit - 1.0));
}

}  // namespace weir::detail
