#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include <weir/allocation.hpp>
#include <weir/observation.hpp>

#include "tests/policies/observation_maker.hpp"

namespace weir::test {

inline std::vector<double> targets_of(const Allocation& allocation) {
  std::vector<double> targets;
  for (const StageAllocation& stage : allocation.stages) targets.push_back(stage.target);
  return targets;
}

/// What a policy asks for is in force at once, as far as the budget allows.
inline void put_in_force(const std::optional<Allocation>& wanted, Observation& seen) {
  if (!wanted) return;
  seen.current = *wanted;
  seen.current.active = seen.active = std::clamp(wanted->active, 1, seen.budget);
}

}  // namespace weir::test
