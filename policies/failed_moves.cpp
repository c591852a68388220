#include "policies/failed_moves.hpp"

#include <algorithm>

#include "policies/allotment.hpp"

namespace weir::detail {

void FailedMoves::mark(const Allocation& to, double now_seconds) {
  // What is long past counts as new, so that the marks of a long run stay few.
  std::erase_if(marks_, [&](const Mark& mark) {
    return now_seconds > mark.until_seconds + settings_.failed_mark_most_seconds;
  });
  auto own = std::find_if(marks_.begin(), marks_.end(),
                          [&](const Mark& mark) { return !differs(mark.to, to); });
  if (own == marks_.end()) own = marks_.insert(own, Mark{to});
  own->lasts_seconds = own->lasts_seconds == 0
                           ? settings_.failed_mark_seconds
                           : std::min(2 * own->lasts_seconds, settings_.failed_mark_most_seconds);
  own->until_seconds = now_seconds + own->lasts_seconds;
}

bool FailedMoves::marked(const Allocation& to, double now_seconds) const {
  return std::any_of(marks_.begin(), marks_.end(), [&](const Mark& mark) {
    return now_seconds < mark.until_seconds && !differs(mark.to, to);
  });
}

}  // namespace weir::detail
