#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <weir/loader.hpp>
#include <weir/memory_limit.hpp>
#include <weir/mutex.hpp>
#include <weir/observation.hpp>
#include <weir/thread_budget.hpp>
#include <weir/tuned_plan.hpp>
#include <weir/tuning.hpp>

#include "machine/nested_pools.hpp"
#include "machine/read_counters.hpp"
#include "pipeline/delivery.hpp"
#include "tuner/process_pool.hpp"

namespace weir::detail {

/// Everything of a loader that does not depend on the value's type: options turned into a budget, a
/// place in the pool, a running pipeline, a tuning and a tuned file.
///
/// Thread safety: as LoaderBase.
class LoaderCore {
 public:
  LoaderCore(const std::shared_ptr<const Step>& step, const Options& options);
  ~LoaderCore();
  LoaderCore(const LoaderCore&) = delete;
  LoaderCore& operator=(const LoaderCore&) = delete;

  [[nodiscard]] SlotHeader* next();
  void close();
  [[nodiscard]] Summary summary() const;
  [[nodiscard]] std::vector<std::string> remarks() const;
  [[nodiscard]] Position position() const;
  void set_allocation(const Allocation& allocation);

  [[nodiscard]] Delivery& delivery() { return *delivery_; }
  [[nodiscard]] const Delivery& delivery() const { return *delivery_; }
  [[nodiscard]] WorkerPool& pool() { return placed_->workers(); }
  [[nodiscard]] const WorkerPool& pool() const { return placed_->workers(); }

 private:
  void settle_options();
  void start_allocation(const Allocation& own);
  void start_tuning(const Allocation& start);
  void load_tuned(const StagePlan& plan);
  void emit_tuned(bool at_the_end);
  void fill_tuning(Summary& summary, const Snapshot& snapshot, double elapsed, double worked) const
      WEIR_REQUIRES(mutex_);
  /// Returns the worker-seconds of all stages, waiting for a CPU left out.
  static double fill_stages(Summary& summary, const WorkerPool::Reading& now, double elapsed);
  void say(const std::string& text);
  /// What a new start of the same pipeline would say again.
  void say_once(const std::string& text);
  /// Passes on what the pool has to say since the last time.
  void say_what_changed() WEIR_EXCLUDES(mutex_);
  [[nodiscard]] Observation first_observation(const StagePlan& plan) const;

  Options options_;
  ThreadBudget budget_;
  MemoryLimit memory_;
  std::optional<NestedPoolsHold> nested_;
  std::shared_ptr<PlacedPool> placed_;  ///< shared: see process_pool()
  std::unique_ptr<Delivery> delivery_;
  Tuning tuning_;
  Snapshot first_;
  std::optional<TunedPlan> tuned_plan_;
  std::optional<PlacementPlan> tuned_places_;
  Observation first_stages_;  ///< the stages and the budget, nothing measured
  PipelineIdentity pipeline_;
  std::optional<ReadCounters> first_reads_;  ///< of the whole process, at the start

  /// Never held while the delivery's engine is asked for: closing that may call say(), which takes
  /// it.
  mutable Mutex mutex_;
  std::vector<std::string> remarks_ WEIR_GUARDED_BY(mutex_);
  std::size_t pool_remarks_ WEIR_GUARDED_BY(mutex_) = 0;  ///< of the pool's, passed on
  std::string emitted_ WEIR_GUARDED_BY(mutex_);
  std::string emit_remark_ WEIR_GUARDED_BY(mutex_);
  bool emitted_settled_ WEIR_GUARDED_BY(mutex_) = false;
  int emitted_moves_ WEIR_GUARDED_BY(mutex_) = -1;
  MachineIdentity machine_ WEIR_GUARDED_BY(mutex_);
  std::optional<WorkerPool::Reading> last_ WEIR_GUARDED_BY(mutex_);  ///< taken when closing
  Nanoseconds checked_ = 0;                                          ///< the consumer's
};

}  // namespace weir::detail
