#include "policies/headroom.hpp"

#include <algorithm>

#include "policies/problem.hpp"

namespace weir::detail {

double most_wait(const Observation& seen) {
  double wait = 0;
  for (const LoaderObservation& loader : seen.loaders)
    if (takes_part(loader)) wait = std::max(wait, loader.wait_share);
  return wait;
}

void Headroom::note(const Observation& seen, int need) {
  needs_.add(need, seen.time_seconds);
  held_ = held_ || seen.label == "consumer";
  waiting_ = most_wait(seen) > settings_.consumer_rearm ? waiting_ + 1 : 0;
}

}  // namespace weir::detail
