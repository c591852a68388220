#include "policies/plan.hpp"

#include "policies/allotment.hpp"
#include "policies/problem.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace weir::detail {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Stages within this share of the largest demand count as binding, too.
constexpr double kBindingShare = 0.5;

// A stage at its peak gets no more: it would only get slower.
double with_headroom(const StageNeed& stage, double workers, double scale, double plateau) {
  double most = stage.most;
  if (stage.curve.known() && !stage.curve.is_proportional())
    most = std::max(workers, stage.curve.peak_workers(most, plateau));
  return std::min(workers * scale, most);
}

bool loaders_below(const std::vector<double>& rates, const std::vector<double>& limits) {
  bool any = false;
  for (std::size_t l = 0; l < rates.size(); ++l) {
    if (limits[l] <= 0) continue;
    if (rates[l] < limits[l] * (1.0 - 1e-6)) return false;
    any = true;
  }
  return any;
}

}  // namespace

Plan make_plan(const Observation& seen, const PolicySettings& settings, bool strict, double margin,
               Pace pace) {
  Plan plan;
  Problem problem = make_problem(seen, margin, strict, pace);
  problem.plateau = settings.plateau;
  Solution solution = strict ? solve_whole(problem) : solve_shared(problem);
  if (solution.workers.size() != seen.stages.size()) {  // by hand more workers than there are
    plan.allocation = seen.current;
    return plan;
  }
  plan.consumer_limited = loaders_below(solution.per_second, problem.limits);
  double spare = 0;
  if (!plan.consumer_limited && solution.total < problem.workers && !strict) {
    // A serial stage or a cap is the limit. The others get the same headroom over it as over a
    // consumer, up to one worker, so that their variance does not starve it.
    spare = std::min({1.0, (margin - 1.0) * solution.total, problem.workers - solution.total});
    const double scale = solution.total > 0 ? (solution.total + spare) / solution.total : 1.0;
    for (std::size_t i = 0; i < solution.workers.size(); ++i)
      solution.workers[i] =
          with_headroom(problem.stages[i], solution.workers[i], scale, settings.plateau);
    solution.total += spare;
  }
  int active = static_cast<int>(std::ceil(solution.total - 1e-6));
  // Half a worker to spare is not worth a whole one.
  if (spare > 0)
    active = std::max(static_cast<int>(std::ceil(solution.total - spare - 1e-6)),
                      static_cast<int>(std::lround(solution.total)));
  plan.allocation = strict ? whole_allotment(seen, solution)
                           : shared_allotment(seen, solution.workers, active, settings.stay_slack,
                                              settings.plateau);
  plan.binding = limiting_stage(seen);
  plan.known = true;
  plan.trusted = true;
  plan.relative_error = 0;
  bool some_known = false;
  const double largest = seen.stages[plan.binding].estimate.demand_seconds;
  for (std::size_t i = 0; i < seen.stages.size(); ++i) {
    const StageObservation& stage = seen.stages[i];
    if (!takes_part(seen.loaders[static_cast<std::size_t>(stage.loader)])) continue;
    if (still_unknown(stage)) plan.known = plan.trusted = false;
    if (stage.estimate.service_seconds > 0) some_known = true;
    if (!matters(seen, i, settings.matters)) continue;
    plan.trusted = plan.trusted && (stage.estimate.trusted || ran_ahead(stage));
    if (stage.estimate.demand_seconds >= kBindingShare * largest)
      plan.relative_error = std::max(plan.relative_error, stage.estimate.relative_error);
  }
  plan.known = plan.known && some_known;
  plan.trusted = plan.trusted && some_known;
  if (plan.known) {
    const auto loader = static_cast<std::size_t>(seen.stages[plan.binding].loader);
    const bool comparable = seen.stages[plan.binding].estimate.visits_known;
    plan.per_second = std::min(solution.per_second[loader],
                               comparable ? consumer_rate(seen.loaders[loader], pace) : kInfinity);
  }
  return plan;
}

std::size_t limiting_stage(const Observation& seen) {
  if (!seen.current.strict || seen.current.stages.size() != seen.stages.size())
    return binding_stage(seen);
  std::size_t limiting = seen.stages.size();
  double least = kInfinity;
  for (std::size_t i = 0; i < seen.stages.size(); ++i) {
    const StageObservation& stage = seen.stages[i];
    const StageAllocation& own = seen.current.stages[i];
    if (own.group >= 0) return binding_stage(seen);
    if (!takes_part(seen.loaders[static_cast<std::size_t>(stage.loader)])) continue;
    const CapacityCurve curve =
        CapacityCurve::from_levels(stage.estimate.levels, stage.estimate.service_seconds);
    if (!curve.known() || !(stage.estimate.visits > 0)) continue;
    const double holds = curve.at(std::min<double>(own.target, own.cap)) / stage.estimate.visits;
    if (holds < least) {
      least = holds;
      limiting = i;
    }
  }
  return limiting < seen.stages.size() ? limiting : binding_stage(seen);
}

double modelled_rate(const Observation& seen, const Allocation& allocation, std::size_t binding) {
  const Problem problem = make_problem(seen, 1.0, true);
  Solution now;
  now.group_workers = allocation.groups;
  for (const StageAllocation& stage : allocation.stages) {
    now.workers.push_back(std::ceil(stage.target));
    now.group.push_back(stage.group);
  }
  return held_by(problem, now)[static_cast<std::size_t>(seen.stages[binding].loader)];
}

std::string described(const Allocation& allocation, const Observation& seen) {
  std::string text;
  for (std::size_t i = 0; i < allocation.stages.size() && i < seen.stages.size(); ++i)
    text +=
        fmt::format("{}{} {}", text.empty() ? "" : ", ", seen.stages[i].name,
                    fmt::format("{:.{}f}", allocation.stages[i].target, allocation.strict ? 0 : 1));
  return fmt::format("{} on {} of {} workers", text, allocation.active, seen.budget);
}

}  // namespace weir::detail
