#pragma once

#include <vector>

#include <weir/export.hpp>

#include "policies/capacity_curve.hpp"

namespace weir::detail {

/// One stage of a problem.
struct StageNeed {
  CapacityCurve curve;  ///< in its own items a second
  double visits = 1;    ///< its items for one consumer item
  int most = 1;         ///< workers that may run in it: 1 where serial, else its cap or the budget
  int fixed = 0;        ///< whole mode: exactly so many, set by hand; 0: free
  int loader = 0;
};

/// How many workers, shared out how, give the most.
struct Problem {
  int workers = 1;     ///< N
  double plateau = 0;  ///< share of a stage's peak given up for fewer workers where it is flat
  std::vector<StageNeed> stages;  ///< loader by loader, upstream first
  std::vector<double>
      limits;  ///< per loader: no use in more consumer items a second; may be infinite
};

/// The most, and the fewest workers that give it.
struct Solution {
  std::vector<double> per_second;  ///< X of each loader, in consumer items
  std::vector<double> workers;     ///< n of each stage; whole ones from solve_whole
  double total = 0;                ///< workers in all
  std::vector<int> group;          ///< whole, more stages than workers: the group of a stage, or -1
  std::vector<int> group_workers;

  [[nodiscard]] bool grouped() const { return !group_workers.empty(); }
};

/// Maximises the least X over the loaders, and then the others', with workers shared: n are real
/// numbers and their sum is at most N.
[[nodiscard]] WEIR_EXPORT Solution solve_shared(const Problem& problem);

/// The same with whole workers, each of which belongs to one stage. With more stages than workers,
/// adjacent stages form groups that share one worker each, cut so that the least X is largest.
/// Exact, for curves that are not monotone as well.
[[nodiscard]] WEIR_EXPORT Solution solve_whole(const Problem& problem);

/// X of each loader when every stage has exactly the workers, or its group's, that `allotted` says.
[[nodiscard]] WEIR_EXPORT std::vector<double> held_by(const Problem& problem,
                                                      const Solution& allotted);

}  // namespace weir::detail
