#include "policies/hill_climb_policy.hpp"

#include "policies/allotment.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include <fmt/format.h>

namespace weir::detail {
namespace {

// The mean of .NET's samples, which last from 10 to 200 ms; the windows bring their own jitter.
constexpr double kSampleSeconds = 0.105;

// The setting never rests; it counts as settled when it has not moved by a worker for so long: two
// histories of the climber.
constexpr double kSettledSeconds = 64 * kSampleSeconds;

// The last of those that cost most.
const StageObservation& costliest_stage(const Observation& seen) {
  std::size_t costliest = 0;
  for (std::size_t i = 0; i < seen.stages.size(); ++i)
    if (seen.stages[i].estimate.demand_seconds >= seen.stages[costliest].estimate.demand_seconds)
      costliest = i;
  return seen.stages[costliest];
}

}  // namespace

HillClimbPolicy::HillClimbPolicy(bool strict, const PolicySettings& settings)
    : strict_(strict), settings_(settings), verified_(settings, strict) {}

Allocation HillClimbPolicy::with_workers(const Observation& seen, int workers) const {
  Observation fewer = seen;
  fewer.budget = workers;
  return even_allotment(fewer, strict_, strict_ ? settings_.stay_slack : Allocation::kUnlimited);
}

Decision HillClimbPolicy::start(const Observation& first, const std::optional<Allocation>& start) {
  const int budget = std::max(1, first.budget);
  climber_.emplace(1, budget);
  const int workers = start ? std::clamp(start->active, 1, budget) : budget;
  settled_setting_ = workers;
  standing_.settled_at_seconds = first.time_seconds;
  Decision decision;
  decision.kind = MoveKind::start;
  decision.phase = "climb";
  decision.allocation = with_workers(first, workers);
  decision.reason = start ? "as many workers as were loaded, shared freely" : "all workers";
  decision.look_again_seconds = kSampleSeconds;
  return decision;
}

Decision HillClimbPolicy::decide(const Observation& seen) {
  verified_.note(seen, standing_);
  const double items = costliest_stage(seen).items_per_second * seen.window_seconds;
  const int workers = climber_->add(seen.active, seen.window_seconds, items);
  const double setting = climber_->setting();
  if (std::abs(setting - settled_setting_) >= 1) {
    settled_setting_ = setting;
    standing_.settled_at_seconds = seen.time_seconds;
  }
  standing_.settled = seen.time_seconds - standing_.settled_at_seconds >= kSettledSeconds;

  Decision decision;
  decision.phase = "climb";
  decision.look_again_seconds = kSampleSeconds * climber_->patience();
  if (workers == seen.active) {
    decision.reason = "the wave stays";
    return decision;
  }
  ++standing_.moves;
  decision.kind = MoveKind::move;
  decision.allocation = with_workers(seen, workers);
  decision.reason = fmt::format("the wave goes from {} to {} workers around {:.2f}", seen.active,
                                workers, setting);
  return decision;
}

}  // namespace weir::detail
