#include "policies/solver.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>

namespace weir::detail {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kSlack = 1e-9;
constexpr int kHalvings = 60;
constexpr double kRelativeGap = 1e-10;

// A loader cannot pass the peak of its slowest stage, nor its limit, whatever the workers.
std::vector<double> ceilings(const Problem& problem, bool whole) {
  std::vector<double> most = problem.limits;
  for (const StageNeed& stage : problem.stages) {
    if (!stage.curve.known()) continue;
    const double peak = whole ? stage.fixed > 0
                                    ? stage.fixed
                                    : stage.curve.whole_peak_workers(stage.most, problem.plateau)
                              : stage.curve.peak_workers(stage.most, problem.plateau);
    double& own = most[static_cast<std::size_t>(stage.loader)];
    own = std::min(own, stage.curve.at(peak) / stage.visits);
  }
  return most;
}

std::vector<double> rates_at(double x, const std::vector<double>& ceiling) {
  std::vector<double> rates(ceiling.size());
  for (std::size_t l = 0; l < ceiling.size(); ++l) rates[l] = std::min(x, ceiling[l]);
  return rates;
}

double item_rate(const StageNeed& stage, const std::vector<double>& rates) {
  return rates[static_cast<std::size_t>(stage.loader)] * stage.visits;
}

Solution shared_at(const Problem& problem, const std::vector<double>& rates) {
  Solution solution;
  solution.per_second = rates;
  for (const StageNeed& stage : problem.stages) {
    const double n = stage.curve.workers_for(item_rate(stage, rates), stage.most);
    solution.workers.push_back(n);
    solution.total += n;
  }
  return solution;
}

// The whole numbers for `rates` with every stage on its own, or nothing when N do not do.
std::optional<Solution> whole_at(const Problem& problem, const std::vector<double>& rates) {
  Solution solution;
  solution.per_second = rates;
  for (const StageNeed& stage : problem.stages) {
    const double rate = item_rate(stage, rates);
    int n = stage.fixed;
    if (n == 0)
      n = stage.curve.whole_workers_for(rate, stage.most);
    else if (stage.curve.known() && stage.curve.at(n) < rate * (1.0 - kSlack))
      n = 0;
    if (n == 0) return std::nullopt;
    solution.workers.push_back(n);
    solution.total += n;
  }
  if (solution.total > problem.workers) return std::nullopt;
  return solution;
}

// Busy share of one worker that serves `stage` alone at `rates`.
double load_of(const StageNeed& stage, const std::vector<double>& rates) {
  return stage.curve.known() ? item_rate(stage, rates) / stage.curve.at(1.0) : 0.0;
}

// Cuts the line of stages into single stages with whole workers and groups with one worker each,
// with the fewest workers in all: for each prefix the best last piece.
std::optional<Solution> grouped_at(const Problem& problem, const std::vector<double>& rates) {
  const std::size_t count = problem.stages.size();
  std::vector<double> fewest(count + 1, kInfinity);
  std::vector<std::size_t> cut(count + 1, 0);
  std::vector<int> last(count + 1, 0);
  fewest[0] = 0;
  for (std::size_t end = 1; end <= count; ++end) {
    const StageNeed& stage = problem.stages[end - 1];
    const double rate = item_rate(stage, rates);
    const int alone =
        stage.fixed > 0 ? stage.fixed : stage.curve.whole_workers_for(rate, stage.most);
    const bool holds =
        alone > 0 && (!stage.curve.known() || stage.curve.at(alone) >= rate * (1.0 - kSlack));
    if (holds && fewest[end - 1] + alone < fewest[end]) {
      fewest[end] = fewest[end - 1] + alone;
      cut[end] = end - 1;
      last[end] = alone;
    }
    double load = 0;
    for (std::size_t begin = end; begin-- > 0;) {
      const StageNeed& member = problem.stages[begin];
      load += load_of(member, rates);
      if (member.fixed > 0 || load > 1.0 + kSlack) break;
      if (begin + 1 < end && fewest[begin] + 1 < fewest[end]) {
        fewest[end] = fewest[begin] + 1;
        cut[end] = begin;
        last[end] = 1;
      }
    }
  }
  if (fewest[count] > problem.workers) return std::nullopt;
  Solution solution;
  solution.per_second = rates;
  solution.total = fewest[count];
  solution.workers.assign(count, 0.0);
  solution.group.assign(count, -1);
  for (std::size_t end = count; end > 0; end = cut[end]) {
    for (std::size_t i = cut[end]; i < end; ++i) solution.workers[i] = last[end];
    if (end - cut[end] < 2) continue;
    for (std::size_t i = cut[end]; i < end; ++i)
      solution.group[i] = static_cast<int>(solution.group_workers.size());
    solution.group_workers.push_back(last[end]);
  }
  // Groups were found from the sink upwards; number them from the source.
  const int groups = static_cast<int>(solution.group_workers.size());
  for (int& group : solution.group)
    if (group >= 0) group = groups - 1 - group;
  std::reverse(solution.group_workers.begin(), solution.group_workers.end());
  return solution;
}

// X of the loaders that are not at their ceiling, with exactly the workers of `solution`.
double least_held(const Problem& problem, const Solution& solution,
                  const std::vector<double>& ceiling) {
  const std::vector<double> held = held_by(problem, solution);
  double least = kInfinity;
  for (std::size_t l = 0; l < held.size(); ++l)
    if (held[l] < ceiling[l] * (1.0 - kSlack)) least = std::min(least, held[l]);
  return std::isfinite(least) ? least : 0.0;
}

}  // namespace

Solution solve_shared(const Problem& problem) {
  const std::vector<double> ceiling = ceilings(problem, false);
  double high = 0;
  for (const double most : ceiling)
    if (std::isfinite(most)) high = std::max(high, most);
  const double budget = problem.workers * (1.0 + kSlack);
  Solution best = shared_at(problem, rates_at(high, ceiling));
  if (best.total <= budget) return best;
  double low = 0;
  for (int step = 0; step < kHalvings && high - low > kRelativeGap * high; ++step) {
    const double middle = 0.5 * (low + high);
    if (shared_at(problem, rates_at(middle, ceiling)).total <= budget)
      low = middle;
    else
      high = middle;
  }
  return shared_at(problem, rates_at(low, ceiling));
}

Solution solve_whole(const Problem& problem) {
  double least = 0;
  for (const StageNeed& stage : problem.stages) least += stage.fixed > 0 ? stage.fixed : 1;
  const bool grouping = least > problem.workers;
  const std::vector<double> ceiling = ceilings(problem, true);
  const auto solved = [&](double x) {
    const std::vector<double> rates = rates_at(x, ceiling);
    return grouping ? grouped_at(problem, rates) : whole_at(problem, rates);
  };
  std::optional<Solution> best = solved(0.0);
  if (!best) return Solution{};
  double high = 0;
  for (const double most : ceiling)
    if (std::isfinite(most)) high = std::max(high, most);
  if (std::optional<Solution> all = solved(high)) return *all;
  // What is feasible at X is feasible below it. What a solution's workers hold is the largest X of
  // its kind, one of a finite set, so that each step either lands on such an X or halves the rest.
  double low = 0;
  const auto take = [&](double x) {
    std::optional<Solution> found = solved(x);
    if (!found) return false;
    best = std::move(found);
    low = x;
    return true;
  };
  for (int step = 0; step < kHalvings && high - low > kRelativeGap * high; ++step) {
    const double middle = 0.5 * (low + high);
    if (!take(middle)) {
      high = middle;
      continue;
    }
    const double held = least_held(problem, *best, ceiling);
    if (held > low && held <= high && !take(held)) high = held;
  }
  const double held = least_held(problem, *best, ceiling);
  if (held > low) take(held);
  return *best;
}

std::vector<double> held_by(const Problem& problem, const Solution& allotted) {
  std::vector<double> rates = problem.limits;
  std::vector<double> demand(allotted.group_workers.size(), 0.0);
  const auto group_of = [&](std::size_t i) {
    return allotted.group.empty() ? -1 : allotted.group[i];
  };
  for (std::size_t i = 0; i < problem.stages.size(); ++i) {
    const StageNeed& stage = problem.stages[i];
    const int group = group_of(i);
    if (stage.curve.known() && group >= 0)
      demand[static_cast<std::size_t>(group)] += stage.visits / stage.curve.at(1.0);
  }
  for (std::size_t i = 0; i < problem.stages.size(); ++i) {
    const StageNeed& stage = problem.stages[i];
    if (!stage.curve.known()) continue;
    const int group = group_of(i);
    const auto g = static_cast<std::size_t>(std::max(group, 0));
    const double x =
        group >= 0
            ? allotted.group_workers[g] / demand[g]
            : stage.curve.at(std::min<double>(allotted.workers[i], stage.most)) / stage.visits;
    double& own = rates[static_cast<std::size_t>(stage.loader)];
    own = std::min(own, x);
  }
  return rates;
}

}  // namespace weir::detail
