#include "policies/wanted_allocation.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace weir::detail {
namespace {

bool same(const Allocation& a, const Allocation& b, int budget) {
  if (std::min(a.active, budget) != std::min(b.active, budget) || a.strict != b.strict ||
      a.helping != b.helping || a.stay_slack != b.stay_slack || a.groups != b.groups ||
      a.stages.size() != b.stages.size())
    return false;
  for (std::size_t i = 0; i < a.stages.size(); ++i)
    if (a.stages[i].target != b.stages[i].target || a.stages[i].group != b.stages[i].group ||
        a.stages[i].depth_items != b.stages[i].depth_items)
      return false;
  return true;
}

}  // namespace

void WantedAllocation::set(Allocation wanted) {
  wanted_ = std::move(wanted);
  before_.reset();
}

std::optional<Allocation> WantedAllocation::next(const Observation& seen) {
  if (!wanted_) return std::nullopt;
  if (same(seen.current, *wanted_, seen.budget) ||
      (before_ && same(seen.current, *before_, seen.budget))) {
    wanted_.reset();
    return std::nullopt;
  }
  before_ = seen.current;
  return wanted_;
}

}  // namespace weir::detail
