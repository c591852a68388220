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

// A loader cannot pass the peak of its slowest stage, nor its limit, whatever the workers.
std::vector<double> ceilings(const Problem& problem, bool whole) {
  std::vector<double> most = problem.limits;
  for (const StageNeed& stage : problem.stages) {
    if (!stage.curve.known()) continue;
    const double peak =
        whole ? stage.fixed > 0 ? stage.fixed : stage.curve.whole_peak_workers(stage.most)
              : stage.curve.peak_workers(stage.most);
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

// Every X at which the fewest workers can change.
std::vector<double> candidates(const Problem& problem, const std::vector<double>& ceiling,
                               bool grouping) {
  std::vector<double> all = ceiling;
  for (std::size_t i = 0; i < problem.stages.size(); ++i) {
    const StageNeed& stage = problem.stages[i];
    if (!stage.curve.known()) continue;
    for (int n = 1; n <= std::min(stage.most, problem.workers); ++n)
      all.push_back(stage.curve.at(n) / stage.visits);
  }
  if (grouping) {
    // A group of one worker is full at 1 / (sum of demands); loaders at their ceiling take a part
    // of it that does not grow with X.
    std::vector<double> levels = ceiling;
    levels.push_back(0.0);
    for (const double level : levels) {
      for (std::size_t begin = 0; begin < problem.stages.size(); ++begin) {
        double fixed_load = 0;
        double demand = 0;
        for (std::size_t i = begin; i < problem.stages.size(); ++i) {
          const StageNeed& stage = problem.stages[i];
          if (!stage.curve.known()) continue;
          const double own = stage.visits / stage.curve.at(1.0);
          const double most = ceiling[static_cast<std::size_t>(stage.loader)];
          if (most <= level)
            fixed_load += most * own;
          else
            demand += own;
          if (demand > 0 && fixed_load < 1.0) all.push_back((1.0 - fixed_load) / demand);
        }
      }
    }
  }
  std::erase_if(all, [](double x) { return !std::isfinite(x) || x <= 0; });
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
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
  for (int step = 0; step < 100 && high - low > 1e-12 * high; ++step) {
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
  const std::vector<double> all = candidates(problem, ceiling, grouping);
  const auto solved = [&](double x) {
    const std::vector<double> rates = rates_at(x, ceiling);
    return grouping ? grouped_at(problem, rates) : whole_at(problem, rates);
  };
  // Feasible at x means feasible below it, so the largest feasible candidate is found by halving.
  std::optional<Solution> best = solved(0.0);
  std::size_t low = 0;
  std::size_t high = all.size();
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (std::optional<Solution> found = solved(all[middle])) {
      best = std::move(found);
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return best ? *best : Solution{};
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
