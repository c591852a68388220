#include "policies/tuning_round.hpp"

#include <algorithm>
#include <limits>

namespace weir::detail {

void TuningRound::clear() {
  seconds_ = 0;
  items_ = 0;
  stages_.clear();
}

void TuningRound::add(const Observation& seen) {
  const double dt = seen.window_seconds;
  seconds_ += dt;
  for (const LoaderObservation& loader : seen.loaders) items_ += static_cast<double>(loader.items);
  stages_.resize(seen.stages.size());
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    stages_[i].item_seconds += dt * seen.stages[i].queue_mean;
    stages_[i].capacity_seconds += dt * static_cast<double>(seen.stages[i].queue_capacity);
    stages_[i].cpu_seconds += dt * seen.stages[i].cpus_mean;
  }
}

double TuningRound::step_seconds() const {
  return items_ > 0 ? seconds_ / items_ : std::numeric_limits<double>::infinity();
}

double TuningRound::filling(std::size_t stage) const {
  const Stage& own = stages_[stage];
  return own.capacity_seconds > 0 ? std::min(1.0, own.item_seconds / own.capacity_seconds) : 0.0;
}

double TuningRound::input_filling(const Observation& seen, std::size_t stage) const {
  const bool first = stage == 0 || seen.stages[stage - 1].loader != seen.stages[stage].loader;
  return first ? 1.0 : filling(stage - 1);
}

double TuningRound::cpus(std::size_t stage) const {
  return seconds_ > 0 ? stages_[stage].cpu_seconds / seconds_ : 0.0;
}

}  // namespace weir::detail
