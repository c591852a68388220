#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <weir/export.hpp>

namespace weir {

/// What one stage is allotted.
struct StageAllocation {
  double target = 1.0;  ///< share of workers, a real number; whole in strict mode
  int cap = std::numeric_limits<int>::max();  ///< most workers at once
  std::int64_t depth_items = 0;               ///< of the output edge; 0: by the rule of the runtime
  std::int64_t packet_items = 0;  ///< 0: by the rule of the runtime (about 100 us of work)
  int group = -1;                 ///< strict with more stages than workers: index into groups
};

/// How the workers are shared out. Immutable once published; the pool and the simulator read the
/// same.
struct Allocation {
  static constexpr double kUnlimited = std::numeric_limits<double>::infinity();

  int active = 1;                       ///< A: workers unparked, at most the budget
  bool strict = false;                  ///< whole targets, no helping
  bool helping = true;                  ///< false: no stage gets more than ceil(target) workers
  double stay_slack = 1.0;              ///< a worker stays while running < target + stay_slack
  std::vector<StageAllocation> stages;  ///< in the order of Snapshot::stages
  std::vector<int> groups;              ///< workers of each group (strict); its stages share them
  std::uint64_t structure = 0;          ///< Snapshot::structure that it was made for
};

/// One stage as a choosing worker sees it; `running` does not count the chooser.
struct StageView {
  int running = 0;
  bool runnable = false;  ///< input present and room behind; caps are choose()'s business
};

/// The stage of `views` that a worker takes its next packet from, or -1: none, go to sleep.
/// `last` is the stage of its previous packet, or -1.
///
/// Algorithm: stay with `last` while it is runnable and has fewer than target + stay_slack others;
/// otherwise the runnable stage below its cap with the largest (target - running) / target, the
/// most downstream first on ties; if all of those are at or over their target, `last` when it is
/// runnable. A target of 0 counts as 0.01. Without helping a stage takes at most ceil(target)
/// workers; in strict mode a group at most its own.
///
/// Pure: no clock, lock or state, so that the pool and the simulator share it and recorded inputs
/// replay to the same choices. Requires: views.size() == allocation.stages.size().
[[nodiscard]] WEIR_EXPORT int choose(const Allocation& allocation, std::span<const StageView> views,
                                     int last);

/// The first rule of choose() alone: true when a worker of `stage` takes its next packet there too.
/// Reads nothing but the stage's own view, so that staying costs one line; a stage in a group may
/// not be judged by it.
[[nodiscard]] WEIR_EXPORT bool stays(const Allocation& allocation, const StageView& view,
                                     int stage);

/// The most workers that `stage` may have running at once under `allocation`, its group apart.
[[nodiscard]] WEIR_EXPORT int most_running(const Allocation& allocation, int stage);

}  // namespace weir
