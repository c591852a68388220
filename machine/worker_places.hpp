#pragma once

#include <weir/mutex.hpp>

#include "machine/placement.hpp"
#include "machine/thread_binding.hpp"

#include <optional>
#include <string>
#include <vector>

namespace weir {

/// The places of a pool's workers: the plan in force, and what the kernel made of it.
///
/// A worker binds itself, since that is allowed wherever anything is; what it reads back is kept.
///
/// **Thread safety**: all functions from any thread; bind() by the worker itself.
/// **Invariants**: 1. `pinned` counts workers whose mask was read back within their place; 2. a
/// refusal is handed out once in the lifetime of this object, whatever the number of workers.
class WorkerPlaces {
 public:
  /// The plan from now on, within `mask`; a worker without a place runs anywhere in the mask.
  void set(PlacementPlan plan, CpuSet mask) WEIR_EXCLUDES(mutex_);
  /// Binds the calling thread to the place of `worker`. A sentence for the user where that failed
  /// for the first time; whatever comes back, the worker goes on.
  [[nodiscard]] std::optional<std::string> bind(int worker) WEIR_EXCLUDES(mutex_);
  /// Whether some worker was bound otherwise from outside since: the kernel says so.
  [[nodiscard]] bool moved() const WEIR_EXCLUDES(mutex_);

  struct Standing {
    PlacementMode mode = PlacementMode::none;
    std::string note;               ///< why the mode is looser than asked for; empty: it is not
    std::vector<std::string> cpus;  ///< planned for each worker; empty in mode none
    int pinned = 0;                 ///< workers that the kernel says to be within their place
    std::optional<BindResult> refusal;
  };
  [[nodiscard]] Standing standing() const WEIR_EXCLUDES(mutex_);

 private:
  struct Bound {
    int thread = 0;  ///< the kernel's number; 0: never bound
    CpuSet mask;     ///< as read back
    BindResult result = BindResult::pinned;
  };

  mutable Mutex mutex_;
  PlacementPlan plan_ WEIR_GUARDED_BY(mutex_);
  CpuSet mask_ WEIR_GUARDED_BY(mutex_);
  std::vector<Bound> bound_ WEIR_GUARDED_BY(mutex_);  ///< by worker
  std::optional<BindResult> refusal_ WEIR_GUARDED_BY(mutex_);
};

}  // namespace weir
