#include "machine/worker_places.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

namespace weir {

void WorkerPlaces::set(PlacementPlan plan, CpuSet mask) {
  const MutexLock lock(mutex_);
  plan_ = std::move(plan);
  mask_ = std::move(mask);
  bound_.resize(std::max(bound_.size(), plan_.places.size()));
}

std::optional<std::string> WorkerPlaces::bind(int worker) {
  const auto index = static_cast<std::size_t>(worker);
  CpuSet cpus;
  {
    const MutexLock lock(mutex_);
    if (index >= plan_.places.size()) return std::nullopt;
    cpus = plan_.places[index].cpus;
    if (cpus.empty()) {
      // Nothing is asked for; only what an earlier plan did is undone.
      if (bound_[index].thread == 0) return std::nullopt;
      cpus = mask_;
    }
  }
  const BindResult result = bind_this_thread(cpus);
  const MutexLock lock(mutex_);
  bound_[index] = {static_cast<int>(::gettid()), affinity_of_thread(0), result};
  if (result == BindResult::pinned || refusal_) return std::nullopt;
  refusal_ = result;
  return fmt::format(
      "worker {} is not bound to its place, CPUs {}: {}; the run goes on, workers "
      "run where the system puts them (pin: none asks for that)",
      worker, cpus.to_string(), to_string(result));
}

bool WorkerPlaces::moved() const {
  const MutexLock lock(mutex_);
  return std::any_of(bound_.begin(), bound_.end(), [](const Bound& bound) {
    return bound.thread != 0 && bound.result == BindResult::pinned &&
           affinity_of_thread(bound.thread) != bound.mask;
  });
}

WorkerPlaces::Standing WorkerPlaces::standing() const {
  const MutexLock lock(mutex_);
  Standing standing{plan_.mode, plan_.note, {}, 0, refusal_};
  if (plan_.mode == PlacementMode::none) return standing;
  for (std::size_t i = 0; i < plan_.places.size(); ++i) {
    const CpuSet& cpus = plan_.places[i].cpus;
    standing.cpus.push_back(cpus.to_string());
    const Bound& bound = bound_[i];
    if (bound.thread != 0 && bound.result == BindResult::pinned &&
        (bound.mask & cpus) == bound.mask)
      ++standing.pinned;
  }
  return standing;
}

}  // namespace weir
