#include "policies/problem.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace weir::detail {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

int most_workers(const Observation& seen, const StageObservation& stage) {
  int most = std::max(1, seen.budget);
  if (stage.hand_cap > 0) most = std::min(most, stage.hand_cap);
  if (stage.fixed_workers > 0) most = std::min(most, stage.fixed_workers);
  return stage.serial ? 1 : most;
}

}  // namespace

bool takes_part(const LoaderObservation& loader) {
  return (loader.asked || loader.services > 0) && !loader.paused;
}

double consumer_rate(const LoaderObservation& loader, Pace pace) {
  if (!takes_part(loader)) return 0.0;
  const double rate = pace == Pace::peak ? loader.peak_per_second : loader.present_per_second;
  return rate > 0 ? rate : kInfinity;
}

bool still_unknown(const StageObservation& stage) {
  return stage.estimate.service_seconds <= 0 && stage.running_mean > 0;
}

bool ran_ahead(const StageObservation& stage) { return stage.wait_output_share > 0.5; }

Problem make_problem(const Observation& seen, double margin, bool strict, Pace pace) {
  Problem problem;
  problem.workers = std::max(1, seen.budget);
  for (const LoaderObservation& loader : seen.loaders) {
    const double rate = consumer_rate(loader, pace);
    problem.limits.push_back(rate <= 0 ? 0.0 : std::isinf(margin) ? kInfinity : margin * rate);
  }
  for (const StageObservation& stage : seen.stages) {
    // Until an item has come out, rates in consumer items are unknown and cannot be compared with
    // what the consumer takes.
    if (!stage.estimate.visits_known && stage.estimate.service_seconds > 0) {
      double& limit = problem.limits[static_cast<std::size_t>(stage.loader)];
      if (limit > 0) limit = kInfinity;
    }
    StageNeed need;
    need.curve = CapacityCurve::from_levels(stage.estimate.levels, stage.estimate.service_seconds);
    need.visits = std::max(stage.estimate.visits, 1e-12);
    need.most = most_workers(seen, stage);
    need.fixed =
        strict ? (stage.serial ? std::min(stage.fixed_workers, 1) : stage.fixed_workers) : 0;
    need.loader = stage.loader;
    problem.stages.push_back(std::move(need));
  }
  return problem;
}

bool matters(const Observation& seen, std::size_t stage, double share) {
  double total = 0;
  for (const StageObservation& each : seen.stages) total += each.estimate.demand_seconds;
  return seen.stages[stage].estimate.demand_seconds >= share * total;
}

std::size_t binding_stage(const Observation& seen) {
  std::size_t binding = 0;
  double largest = -1;
  for (std::size_t i = 0; i < seen.stages.size(); ++i) {
    const StageObservation& stage = seen.stages[i];
    if (!takes_part(seen.loaders[static_cast<std::size_t>(stage.loader)])) continue;
    // A stage that may use fewer than an even part of the workers binds sooner.
    const double most = most_workers(seen, stage);
    const double demand = stage.estimate.demand_seconds / most;
    if (demand > largest) {
      largest = demand;
      binding = i;
    }
  }
  return binding;
}

}  // namespace weir::detail
