#include "policies/allotment.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>

namespace weir::detail {
namespace {

constexpr int kNoCap = std::numeric_limits<int>::max();
constexpr double kOverPeak = 0.25;          // levels are means, and seldom whole
constexpr double kTargetChange = 0.5;       // of a worker
constexpr double kTargetChangeShare = 0.2;  // of the target

Allocation blank(const Observation& seen) {
  Allocation made;
  made.structure = seen.current.structure;
  made.stages.resize(seen.stages.size());
  for (std::size_t i = 0; i < seen.stages.size(); ++i) {
    const StageObservation& stage = seen.stages[i];
    StageAllocation& own = made.stages[i];
    if (i < seen.current.stages.size()) {
      own.depth_items = seen.current.stages[i].depth_items;
      own.packet_items = seen.current.stages[i].packet_items;
    }
    if (stage.serial) own.cap = 1;
    if (stage.hand_cap > 0) own.cap = std::min(own.cap, stage.hand_cap);
    if (stage.fixed_workers > 0) own.cap = std::min(own.cap, stage.fixed_workers);
  }
  return made;
}

// Beyond its peak a stage only gets slower, so the peak is its cap; helpers would not know.
int peak_cap(const StageObservation& stage, int budget, double target, double plateau) {
  const CapacityCurve curve =
      CapacityCurve::from_levels(stage.estimate.levels, stage.estimate.service_seconds);
  if (!curve.known() || curve.is_proportional()) return kNoCap;
  const int peak = curve.whole_peak_workers(budget, plateau);
  return peak >= budget ? kNoCap : std::max(peak, static_cast<int>(std::ceil(target - kOverPeak)));
}

}  // namespace

Allocation shared_allotment(const Observation& seen, const std::vector<double>& targets, int active,
                            double stay_slack, double plateau) {
  Allocation made = blank(seen);
  made.active = std::clamp(active, 1, std::max(1, seen.budget));
  made.stay_slack = stay_slack;
  for (std::size_t i = 0; i < made.stages.size(); ++i) {
    const StageObservation& stage = seen.stages[i];
    StageAllocation& own = made.stages[i];
    own.target = stage.fixed_workers > 0 ? own.cap : std::max(0.0, targets[i]);
    own.target = std::min<double>(own.target, own.cap);
    own.cap = std::min(own.cap, peak_cap(stage, seen.budget, own.target, plateau));
  }
  return made;
}

Allocation whole_allotment(const Observation& seen, const Solution& solution) {
  Allocation made = blank(seen);
  made.strict = true;
  made.groups = solution.group_workers;
  for (std::size_t i = 0; i < made.stages.size(); ++i) {
    made.stages[i].target = solution.workers[i];
    if (!solution.group.empty()) made.stages[i].group = solution.group[i];
  }
  made.active =
      std::clamp(static_cast<int>(std::lround(solution.total)), 1, std::max(1, seen.budget));
  return made;
}

Allocation ramp_allotment(const Observation& seen, const std::vector<int>& workers, bool strict) {
  Allocation made = blank(seen);
  made.strict = strict;
  made.helping = false;
  int total = 0;
  for (std::size_t i = 0; i < made.stages.size(); ++i) {
    made.stages[i].target = workers[i];
    total += workers[i];
  }
  made.active = std::clamp(total, 1, std::max(1, seen.budget));
  return made;
}

Allocation dedicated_allotment(const Observation& seen, const std::vector<int>& workers,
                               bool strict, double stay_slack) {
  if (strict && seen.stages.size() > static_cast<std::size_t>(std::max(1, seen.budget)))
    return even_allotment(seen, strict, stay_slack);
  Allocation made = ramp_allotment(seen, workers, strict);
  made.stay_slack = stay_slack;
  made.active = std::accumulate(workers.begin(), workers.end(), 0);
  return made;
}

Allocation even_allotment(const Observation& seen, bool strict, double stay_slack) {
  const std::size_t count = seen.stages.size();
  const int budget = std::max(1, seen.budget);
  if (!strict) {
    const std::vector<double> targets(
        count, static_cast<double>(budget) / static_cast<double>(std::max<std::size_t>(1, count)));
    return shared_allotment(seen, targets, budget, stay_slack);
  }
  Solution even;
  const Allocation limits = blank(seen);
  int left = budget;
  for (std::size_t i = 0; i < count; ++i) {
    const int first = seen.stages[i].fixed_workers > 0 ? limits.stages[i].cap : 1;
    even.workers.push_back(first);
    left -= first;
  }
  if (left < 0) {
    // More stages than workers: runs of stages of nearly one length, one worker each. A stage set
    // by hand keeps a run of its own.
    int fixed = 0;
    int free_stages = 0;
    for (std::size_t i = 0; i < count; ++i)
      (seen.stages[i].fixed_workers > 0 ? fixed : free_stages) +=
          seen.stages[i].fixed_workers > 0 ? limits.stages[i].cap : 1;
    const int groups = std::max(1, budget - fixed);
    const int length = (free_stages + groups - 1) / groups;
    even.group.assign(count, -1);
    int in_run = length;
    for (std::size_t i = 0; i < count; ++i) {
      if (seen.stages[i].fixed_workers > 0) {
        in_run = length;
        continue;
      }
      if (in_run >= length && static_cast<int>(even.group_workers.size()) < groups) {
        even.group_workers.push_back(1);
        in_run = 0;
      }
      even.group[i] = static_cast<int>(even.group_workers.size()) - 1;
      ++in_run;
    }
    even.total = budget;
    return whole_allotment(seen, even);
  }
  for (bool gave = true; left > 0 && gave;) {
    gave = false;
    for (std::size_t i = 0; i < count && left > 0; ++i) {
      if (seen.stages[i].fixed_workers > 0 || even.workers[i] >= limits.stages[i].cap) continue;
      even.workers[i] += 1;
      --left;
      gave = true;
    }
  }
  for (const double n : even.workers) even.total += n;
  return whole_allotment(seen, even);
}

bool differs(const Allocation& a, const Allocation& b) {
  if (a.active != b.active || a.strict != b.strict || a.helping != b.helping ||
      a.groups != b.groups || a.stages.size() != b.stages.size())
    return true;
  for (std::size_t i = 0; i < a.stages.size(); ++i) {
    const StageAllocation& from = a.stages[i];
    const StageAllocation& to = b.stages[i];
    if (from.group != to.group) return true;
    const double change = std::abs(from.target - to.target);
    const double enough =
        a.strict ? 0.5
                 : std::max(kTargetChange, kTargetChangeShare * std::max(from.target, to.target));
    if (change > enough) return true;
    // A cap matters where it binds: at the workers that there are, or below.
    if (std::min(from.cap, a.active) != std::min(to.cap, b.active)) return true;
  }
  return false;
}

}  // namespace weir::detail
