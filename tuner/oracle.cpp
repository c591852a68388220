#include "tuner/oracle.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

#include <weir/observation.hpp>

#include "policies/allotment.hpp"
#include "policies/solver.hpp"

namespace weir::detail {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLeastSeconds = 1e-9;  // of a stage that is said to cost nothing

double mean_seconds(const ScenarioStage& stage) {
  const double tail = 1.0 + stage.tail_probability * (stage.tail_factor - 1.0);
  return std::max(stage.seconds * tail / std::max(stage.batch, 1), kLeastSeconds);
}

bool is_linear(const ScenarioStage& stage) {
  return stage.limit <= 0 && stage.contention == 0 && stage.coherence == 0 && stage.plateau <= 0 &&
         stage.slow_above <= 0;
}

// Items a second with n workers in the stage and a core for each that needs one.
double items_per_second(const ScenarioStage& stage, int n) {
  const double served = stage.limit > 0 ? std::min(n, stage.limit) : n;
  double times_as_long =
      1.0 + stage.contention * (served - 1.0) + stage.coherence * served * (served - 1.0);
  if (stage.plateau > 0) times_as_long *= std::max(1.0, served / stage.plateau);
  if (stage.slow_above > 0 && served > stage.slow_above) times_as_long *= stage.slow_factor;
  return served / (mean_seconds(stage) * times_as_long);
}

CapacityCurve true_curve(const ScenarioStage& stage, int workers) {
  if (is_linear(stage)) return CapacityCurve::proportional(mean_seconds(stage));
  std::vector<std::pair<double, double>> points;
  for (int n = 1; n <= workers; ++n) points.emplace_back(n, items_per_second(stage, n));
  return CapacityCurve::through(std::move(points));
}

int most_workers(const ScenarioStage& stage, int workers) {
  int most = workers;
  if (stage.hand_cap > 0) most = std::min(most, stage.hand_cap);
  if (stage.fixed_workers > 0) most = std::min(most, stage.fixed_workers);
  return stage.serial ? 1 : most;
}

Problem true_problem(const ScenarioProcess& process, int workers) {
  Problem problem;
  problem.workers = workers;
  double passed = 1;  // items that enter a stage for each that the source gives
  for (const ScenarioStage& stage : process.stages) {
    StageNeed& need = problem.stages.emplace_back();
    need.curve = true_curve(stage, workers);
    need.visits = passed;
    need.most = most_workers(stage, workers);
    need.fixed = stage.serial ? std::min(stage.fixed_workers, 1) : stage.fixed_workers;
    passed *= stage.keep * stage.split / std::max(stage.batch, 1);
  }
  for (StageNeed& need : problem.stages) need.visits /= passed;
  problem.limits = {kInfinity};
  return problem;
}

// Workers that are busy in the stage on average when it keeps up with `per_second`.
double busy_workers(const StageNeed& need, double per_second) {
  return need.curve.workers_for(per_second * need.visits, need.most);
}

// What the cores alone allow: the workers of all stages that compute have a core each.
double core_bound(const ScenarioProcess& process, const Problem& problem, double cores,
                  double highest) {
  const auto busy = [&](double per_second) {
    double total = 0;
    for (std::size_t i = 0; i < process.stages.size(); ++i)
      if (process.stages[i].kind == ScenarioStage::Kind::cpu)
        total += busy_workers(problem.stages[i], per_second);
    return total;
  };
  if (busy(highest) <= cores) return kInfinity;
  double low = 0;
  double high = highest;
  for (int step = 0; step < 100 && high - low > 1e-12 * high; ++step) {
    const double middle = 0.5 * (low + high);
    (busy(middle) <= cores ? low : high) = middle;
  }
  return low;
}

double rate_of(const Solution& solution) {
  return solution.per_second.empty() ? 0.0 : solution.per_second.front();
}

double limit_of(const ScenarioFlow& flow, double visits) {
  return flow.per_second > 0 ? flow.per_second / visits : kInfinity;
}

// The stages and the budget as a controller first sees them.
Observation unmeasured(const ScenarioProcess& process, int workers) {
  Observation seen;
  seen.budget = seen.active = workers;
  seen.loaders.emplace_back().name = process.name;
  for (const ScenarioStage& stage : process.stages) {
    StageObservation& own = seen.stages.emplace_back();
    own.name = stage.name;
    own.serial = stage.serial;
    own.fixed_workers = stage.fixed_workers;
    own.hand_cap = stage.hand_cap;
  }
  seen.current.stages.resize(seen.stages.size());
  return seen;
}

// Nothing but one worker in each stage, and all others in the first that takes more.
std::vector<double> in_one_stage(const ScenarioProcess& process, int workers, bool strict) {
  const auto free_stage =
      std::find_if(process.stages.begin(), process.stages.end(), [](const ScenarioStage& stage) {
        return !stage.serial && stage.fixed_workers == 0 && stage.hand_cap == 0;
      });
  std::vector<double> targets(process.stages.size(), strict ? 1.0 : 0.0);
  double others = 0;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    if (process.stages[i].fixed_workers > 0) targets[i] = process.stages[i].fixed_workers;
    others += targets[i];
  }
  if (free_stage == process.stages.end()) return targets;
  const auto i = static_cast<std::size_t>(free_stage - process.stages.begin());
  targets[i] = std::max(1.0, workers - (others - targets[i]));
  return targets;
}

}  // namespace

Oracle find_oracle(const ScenarioProcess& process, int workers, double cores, bool strict) {
  Oracle oracle;
  Problem problem = true_problem(process, workers);
  for (const StageNeed& need : problem.stages) oracle.visits.push_back(need.visits);
  const double highest = rate_of(solve_shared(problem));
  problem.limits = {core_bound(process, problem, cores, highest)};
  oracle.shared_capacity_per_second = std::min(highest, problem.limits.front());

  const double first_visits = problem.stages.empty() ? 1.0 : problem.stages.front().visits;
  problem.limits = {std::min({problem.limits.front(), limit_of(process.consumer, 1.0),
                              limit_of(process.source, first_visits)})};
  const Solution shared = solve_shared(problem);
  const Solution whole = solve_whole(problem);
  oracle.shared_per_second = rate_of(shared);
  oracle.whole_per_second = rate_of(whole);

  const Solution& chosen = strict ? whole : shared;
  const double rate = rate_of(chosen);
  oracle.workers = std::max(1, static_cast<int>(std::ceil(chosen.total - 1e-6)));
  oracle.targets = chosen.workers;
  for (std::size_t i = 0; i < problem.stages.size(); ++i) {
    const StageNeed& need = problem.stages[i];
    const double busy = busy_workers(need, rate);
    const double items = rate * need.visits;
    oracle.service_seconds.push_back(items > 0 ? busy / items : mean_seconds(process.stages[i]));
    if (process.stages[i].kind == ScenarioStage::Kind::cpu)
      oracle.cpu_seconds_per_item += oracle.service_seconds.back() * need.visits;
  }
  return oracle;
}

double true_service_seconds(const ScenarioStage& stage, double running) {
  if (is_linear(stage) || running <= 1) return 1 / items_per_second(stage, 1);
  const int below = static_cast<int>(running);
  const double items = std::lerp(items_per_second(stage, below), items_per_second(stage, below + 1),
                                 running - below);
  return running / items;
}

Allocation starting_allocation(const ScenarioStart& start, const ScenarioProcess& process,
                               int workers, double cores, bool strict) {
  const Observation seen = unmeasured(process, workers);
  std::vector<double> targets(process.stages.size(), 1.0);
  switch (start.kind) {
    case ScenarioStart::Kind::policy:
    case ScenarioStart::Kind::even:
      return even_allotment(seen, strict, 1.0);
    case ScenarioStart::Kind::optimum: {
      const Oracle oracle = find_oracle(process, workers, cores, strict);
      if (strict) {
        Problem problem = true_problem(process, workers);
        problem.limits = {oracle.whole_per_second};
        return whole_allotment(seen, solve_whole(problem));
      }
      Allocation best = shared_allotment(seen, oracle.targets, oracle.workers, 1.0);
      for (std::size_t i = 0; i < process.stages.size(); ++i) {
        if (is_linear(process.stages[i])) continue;
        const int peak = true_curve(process.stages[i], workers).whole_peak_workers(workers);
        best.stages[i].cap = std::min(
            best.stages[i].cap, std::max(peak, static_cast<int>(std::ceil(oracle.targets[i]))));
      }
      return best;
    }
    case ScenarioStart::Kind::one_stage:
      targets = in_one_stage(process, workers, strict);
      break;
    case ScenarioStart::Kind::by_hand:
      for (std::size_t i = 0; i < process.stages.size(); ++i) {
        const auto named = start.workers.find(process.stages[i].name);
        if (named != start.workers.end()) targets[i] = named->second;
      }
      break;
  }
  double total = 0;
  for (double& target : targets) {
    if (strict) target = std::max(1.0, std::round(target));
    total += target;
  }
  if (!strict)
    return shared_allotment(seen, targets, static_cast<int>(std::ceil(total - 1e-6)), 1.0);
  if (total > workers) return even_allotment(seen, true, 1.0);
  Solution by_hand;
  by_hand.workers = targets;
  by_hand.total = total;
  return whole_allotment(seen, by_hand);
}

}  // namespace weir::detail
