#include "policies/rate_meter.hpp"

#include <algorithm>
#include <cmath>

namespace weir::detail {
namespace {

constexpr double kItemsToCompare = 10;

}  // namespace

void RateMeter::add(const Observation& seen) {
  const double keep =
      std::isinf(memory_seconds_) ? 1.0 : std::exp(-seen.window_seconds / memory_seconds_);
  items_.resize(seen.stages.size(), 0.0);
  completions_.resize(seen.stages.size(), 0.0);
  seconds_ = seconds_ * keep + seen.window_seconds;
  for (std::size_t i = 0; i < seen.stages.size(); ++i) {
    items_[i] = items_[i] * keep + seen.stages[i].items_per_second * seen.window_seconds;
    completions_[i] = completions_[i] * keep + static_cast<double>(seen.stages[i].completions);
  }
}

void RateMeter::clear() {
  seconds_ = 0;
  items_.clear();
  completions_.clear();
}

RateMeter::Rate RateMeter::rate(const Observation& seen, std::size_t stage) const {
  Rate result;
  if (seconds_ <= 0 || stage >= items_.size()) return result;
  const StageEstimate& known = seen.stages[stage].estimate;
  const double count = completions_[stage];
  result.items_per_second = items_[stage] / seconds_;
  // The count of a renewal process, and one item more or less at the window's edges.
  if (count >= 1)
    result.relative_error = std::min(1.0, std::hypot(known.cv / std::sqrt(count), 1.0 / count));
  return result;
}

RateMeter::Rate RateMeter::lasting_rate(const Observation& seen, std::size_t stage) const {
  Rate least = rate(seen, stage);
  const StageObservation& own = seen.stages[stage];
  for (std::size_t i = 0; i < seen.stages.size(); ++i) {
    const StageObservation& other = seen.stages[i];
    if (i == stage || other.loader != own.loader || !other.estimate.visits_known ||
        other.estimate.visits <= 0 || completions(i) < kItemsToCompare)
      continue;
    Rate there = rate(seen, i);
    there.items_per_second *= own.estimate.visits / other.estimate.visits;
    if (there.items_per_second < least.items_per_second) least = there;
  }
  return least;
}

double RateMeter::completions(std::size_t stage) const {
  return stage < completions_.size() ? completions_[stage] : 0.0;
}

}  // namespace weir::detail
