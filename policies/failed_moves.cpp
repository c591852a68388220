#include "policies/failed_moves.hpp"

#include <algorithm>
#include <cmath>

namespace weir::detail {
namespace {

std::string shape_of(const Allocation& allocation) {
  std::string shape = std::to_string(allocation.active) + (allocation.strict ? "s" : "h");
  for (const StageAllocation& stage : allocation.stages)
    shape += ' ' + std::to_string(std::lround(std::min(stage.target, 1e6))) + '/' +
             std::to_string(stage.group);
  return shape;
}

}  // namespace

void FailedMoves::mark(const Allocation& to, double now_seconds) {
  Mark& own = marks_[shape_of(to)];
  own.lasts_seconds = own.lasts_seconds == 0
                          ? settings_.failed_mark_seconds
                          : std::min(2 * own.lasts_seconds, settings_.failed_mark_most_seconds);
  own.until_seconds = now_seconds + own.lasts_seconds;
}

bool FailedMoves::marked(const Allocation& to, double now_seconds) const {
  const auto found = marks_.find(shape_of(to));
  return found != marks_.end() && now_seconds < found->second.until_seconds;
}

}  // namespace weir::detail
