#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <weir/export.hpp>
#include <weir/machine_view.hpp>
#include <weir/mutex.hpp>
#include <weir/thread_budget.hpp>

#include "machine/place_registry.hpp"
#include "machine/placement.hpp"
#include "machine/worker_places.hpp"
#include "pipeline/worker_pool.hpp"

namespace weir::detail {

/// The workers of a process, each in its place, and what keeps them within what the process may
/// use: mask and quota are read again every few seconds on the control thread. Where they were
/// narrowed, fewer workers stay unparked and all take new places; where they were widened again,
/// the workers come back. There are never more than the budget at the start allowed.
///
/// A number of workers asked for by hand shrinks as well where the machine no longer gives it; one
/// that was forced above the machine has no places and is left alone.
///
/// Thread safety: all functions from any thread; look() from one at a time.
/// Invariants: 1. workers have places within the mask that was read last; 2. every change is said
/// once.
class WEIR_EXPORT PlacedPool {
 public:
  struct Settings {
    WorkerPool::Settings pool;  ///< on_place, workers and machine are set here
    ThreadBudgetRequest request;
    ThreadBudget budget;  ///< derived from it
    PlacementMode mode = PlacementMode::cache_domain;
    /// Places from a tuned file, to be taken as they are where they lie within the mask.
    std::optional<PlacementPlan> written;
    MachineView machine;
    std::string registry_folder;  ///< of PlaceRegistry; empty: none
    bool watch = true;            ///< false: whoever made it calls look()
  };
  explicit PlacedPool(Settings settings);
  ~PlacedPool();
  PlacedPool(const PlacedPool&) = delete;
  PlacedPool& operator=(const PlacedPool&) = delete;

  [[nodiscard]] WorkerPool& workers() { return pool_; }
  [[nodiscard]] PlacementMode mode() const { return settings_.mode; }
  [[nodiscard]] WorkerPlaces::Standing standing() const { return places_.standing(); }
  /// Workers that may be unparked at once, as read last.
  [[nodiscard]] int budget() const WEIR_EXCLUDES(mutex_);
  /// What there is to say to a user since `seen`, which is moved to the end.
  [[nodiscard]] std::vector<std::string> remarks_since(std::size_t& seen) const
      WEIR_EXCLUDES(mutex_);

  /// Reads mask and quota and acts on them. Returns the seconds until the next look.
  double look() WEIR_EXCLUDES(mutex_);

 private:
  [[nodiscard]] WorkerPool::Settings pool_settings();
  void place(const ThreadBudget& budget, int workers);
  [[nodiscard]] PlacementPlan plan(const ThreadBudget& budget, int workers,
                                   const std::vector<int>& taken, bool others_are_known) const;
  void say(std::string text) WEIR_EXCLUDES(mutex_);

  const Settings settings_;
  std::optional<int> consumer_cpu_;  // of whoever made the pool, then

  mutable Mutex mutex_;
  CpuSet mask_ WEIR_GUARDED_BY(mutex_);
  int budget_ WEIR_GUARDED_BY(mutex_) = 1;
  std::vector<std::string> remarks_ WEIR_GUARDED_BY(mutex_);

  PlaceRegistry registry_;  // the constructor's, then the one thread's that looks
  WorkerPlaces places_;
  WorkerPool pool_;         // its threads use what stands above
  std::uint64_t task_ = 0;  // on the control thread; 0: none
};

}  // namespace weir::detail
