#include "policies/diagnosis.hpp"

#include "policies/problem.hpp"
#include "policies/solver.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace weir::detail {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kMemoryShare = 0.85;  // where sources stop being admitted
constexpr double kSourceIdleShare = 0.2;
constexpr double kStageBusyShare = 0.9;
constexpr double kWorkersBusyShare = 0.85;
constexpr double kBlockedShare = 0.5;  // of slot time, not on a CPU and not waiting for one

double sum_of(const std::vector<double>& values) {
  double total = 0;
  for (const double value : values) total += value;
  return total;
}

bool limited_by_device(const StageObservation& stage, int budget, const PolicySettings& settings) {
  if (stage.blocked_share < kBlockedShare || stage.serial) return false;
  const CapacityCurve curve =
      CapacityCurve::from_levels(stage.estimate.levels, stage.estimate.service_seconds);
  if (!curve.known() || curve.is_proportional()) return false;
  const double peak = curve.peak_workers(budget, settings.plateau);
  // At its peak, and more would bring nothing.
  return peak < budget && stage.items_per_second >= kStageBusyShare * curve.at(peak) &&
         stage.running_mean >= kStageBusyShare * peak &&
         curve.at(std::min<double>(budget, 2 * peak)) < (1.0 + settings.ramp_gain) * curve.at(peak);
}

bool measured(const Observation& seen) {
  return std::any_of(seen.stages.begin(), seen.stages.end(), [](const StageObservation& stage) {
    return stage.estimate.service_seconds > 0 && stage.estimate.visits_known;
  });
}

}  // namespace

Bounds find_bounds(const Observation& seen) {
  Bounds bounds;
  if (!measured(seen)) return bounds;
  const Problem free = make_problem(seen, kInfinity, false);
  bounds.shared_per_second = sum_of(solve_shared(free).per_second);
  bounds.whole_per_second = sum_of(solve_whole(free).per_second);
  const Problem asked = make_problem(seen, 1.0, seen.current.strict, Pace::present);
  const Solution need = seen.current.strict ? solve_whole(asked) : solve_shared(asked);
  bounds.needed_workers =
      std::clamp(static_cast<int>(std::ceil(need.total - 1e-6)), 1, std::max(1, seen.budget));
  return bounds;
}

std::string diagnose(const Observation& seen, const PolicySettings& settings, bool strict) {
  double wait = 0;
  bool held = false;
  bool all_held = true;
  for (const LoaderObservation& loader : seen.loaders) {
    if (!takes_part(loader)) continue;
    held = true;
    wait = std::max(wait, loader.wait_share);
    all_held = all_held && loader.held_seconds >= settings.consumer_hold_seconds - 1e-9;
  }
  if (seen.memory_bound_bytes > 0 && wait > settings.consumer_hold &&
      static_cast<double>(seen.memory_bytes) >=
          kMemoryShare * static_cast<double>(seen.memory_bound_bytes))
    return "memory";
  if (seen.contended) return "contended";
  if (held && all_held) return "consumer";

  std::vector<char> first_of_loader(seen.loaders.size(), 1);
  for (const StageObservation& stage : seen.stages) {
    const auto loader = static_cast<std::size_t>(stage.loader);
    if (first_of_loader[loader] && takes_part(seen.loaders[loader]) &&
        stage.estimate.service_seconds > 0 && stage.wait_input_share >= kSourceIdleShare)
      return "source";
    first_of_loader[loader] = 0;
  }

  for (const StageObservation& stage : seen.stages)
    if (stage.serial && stage.running_mean >= kStageBusyShare) return "serial:" + stage.name;

  // More running workers than the device takes at once only wait in front of it.
  for (const StageObservation& stage : seen.stages)
    if (limited_by_device(stage, seen.budget, settings)) return "device:" + stage.name;

  // A stage that is always at the most it may have binds, whatever the others do.
  const bool split = strict || !seen.current.helping;
  double running = 0;
  double fullest_share = 0;
  std::size_t fullest = 0;
  for (std::size_t i = 0; i < seen.stages.size(); ++i) {
    running += seen.stages[i].running_mean;
    if (i >= seen.current.stages.size() || seen.current.stages[i].group >= 0) continue;
    const int most = most_running(seen.current, static_cast<int>(i));
    if (!split && most >= seen.active) continue;
    const double share = seen.stages[i].running_mean / std::max(1, most);
    if (share > fullest_share) {
      fullest_share = share;
      fullest = i;
    }
  }
  if (fullest_share >= kStageBusyShare) return "stage:" + seen.stages[fullest].name;
  if (!seen.stages.empty() && running >= kWorkersBusyShare * seen.active)
    return "stage:" + seen.stages[binding_stage(seen)].name;
  return "none";
}

}  // namespace weir::detail
