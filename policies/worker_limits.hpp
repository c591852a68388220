#pragma once

#include <algorithm>

#include <weir/observation.hpp>

namespace weir::detail {

/// Whether a policy may choose the workers of a stage at all.
[[nodiscard]] inline bool is_tunable(const StageObservation& stage) {
  return !stage.serial && stage.fixed_workers == 0;
}

/// `workers`, kept to what a stage may have: at least one, at most the budget, one where it is
/// serial, and what was set by hand.
[[nodiscard]] inline int allowed_workers(const StageObservation& stage, int workers, int budget) {
  if (stage.fixed_workers > 0) return stage.serial ? 1 : stage.fixed_workers;
  if (stage.serial) return 1;
  const int most = stage.hand_cap > 0 ? std::min(stage.hand_cap, budget) : budget;
  return std::clamp(workers, 1, std::max(1, most));
}

}  // namespace weir::detail
