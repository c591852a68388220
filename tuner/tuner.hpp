#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <weir/export.hpp>
#include <weir/mutex.hpp>
#include <weir/plant.hpp>
#include <weir/policy.hpp>
#include <weir/tuning.hpp>

#include "policies/observer.hpp"
#include "tuner/decision_log.hpp"
#include "tuner/guard.hpp"
#include "tuner/host_totals.hpp"
#include "tuner/time_mean.hpp"
#include "tuner/window_lengths.hpp"

namespace weir::detail {

/// What one look saw and did.
struct TunerLook {
  const Observation& seen;
  const Decision& decision;  ///< as the policy wants it, before the guard
  bool applied = false;
};

/// The loop: snapshot, observe, decide, guard, apply, log. It has no clock and no thread: whoever
/// drives it calls step() and waits as long as it says; time is that of the plant's snapshots.
///
/// Thread safety: step() is for one thread; status() for any.
/// Invariants: 1. what is applied has passed the guard; 2. when loaders come or go everything
/// starts over, since counters and stages are then others.
class WEIR_EXPORT Tuner {
 public:
  /// Throws Error when the policy, a setting or the log file is not usable.
  Tuner(Plant& plant, const TuningOptions& options);

  /// One look. Returns the seconds until the next.
  [[nodiscard]] double step();
  /// `watcher` is called in each step() that finds stages, after what it decided is in force.
  /// Requires: before the first step().
  void watch(std::function<void(const TunerLook&)> watcher) { watcher_ = std::move(watcher); }
  [[nodiscard]] TuningStatus status() const WEIR_EXCLUDES(mutex_);
  /// Says in the status that tuning has stopped, and why.
  void fail(const std::string& error) WEIR_EXCLUDES(mutex_);

 private:
  [[nodiscard]] double begin(const Snapshot& snapshot);
  [[nodiscard]] std::optional<Allocation> loaded_start(const Observation& first,
                                                       std::uint64_t structure) const;
  bool apply(const Decision& decision, const Observation& seen,
             std::vector<std::string>& corrections);
  void publish(const Observation& seen, const Decision& decision, bool applied)
      WEIR_EXCLUDES(mutex_);

  // Set at construction.
  Plant& plant_;
  const TuningOptions options_;
  const PolicySettings settings_;
  std::function<void(const TunerLook&)> watcher_;

  // Used by step() alone.
  DecisionLog log_;
  Observer observer_;
  Guard guard_;
  WindowLengths lengths_;
  std::unique_ptr<Policy> policy_;  // made anew when stages change
  std::optional<std::uint64_t> structure_;
  std::optional<double> attached_seconds_;
  bool changed_ = false;  // an allocation was applied since the last look
  TimeMean unparked_;
  HostTotals host_;
  std::map<std::string, std::uint64_t> labels_;  // counted windows since the last change
  std::map<std::string, double> label_seconds_;  // of all valid windows
  double judged_seconds_ = 0;                    // their sum

  mutable Mutex mutex_;
  TuningStatus status_ WEIR_GUARDED_BY(mutex_);
};

}  // namespace weir::detail
