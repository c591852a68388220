#pragma once

#include <optional>
#include <vector>

#include <weir/export.hpp>
#include <weir/observation.hpp>
#include <weir/policy_settings.hpp>
#include <weir/telemetry.hpp>

#include "policies/consumer_estimator.hpp"
#include "policies/decayed_sums.hpp"
#include "policies/stage_estimator.hpp"

namespace weir::detail {

/// Turns snapshots into observations: differences, shares, smoothed estimates, validity, label.
///
/// Deterministic, like a policy: the same snapshots give the same observations.
///
/// Thread safety: none.
/// Invariants: all snapshots since the last begin() have the same structure.
class WEIR_EXPORT Observer {
 public:
  Observer(const PolicySettings& settings, bool strict) : settings_(settings), strict_(strict) {}

  /// Forgets everything and takes `snapshot` as the beginning. The result has the stages, the
  /// loaders and the budget; nothing is measured yet.
  [[nodiscard]] Observation begin(const Snapshot& snapshot, const Allocation& current);
  /// The window since the last snapshot. `changed`: the allocation was set within it.
  [[nodiscard]] Observation observe(const Snapshot& snapshot, const Allocation& current,
                                    bool changed);

 private:
  void describe(const Snapshot& snapshot, const Allocation& current, Observation& seen) const;
  void observe_stages(const Snapshot& snapshot, Observation& seen);
  void find_visits(Observation& seen) const;
  void judge_validity(Observation& seen) const;
  [[nodiscard]] bool contended(const Snapshot& snapshot, double window_seconds);

  const PolicySettings settings_;
  const bool strict_;
  std::optional<Snapshot> last_;
  std::vector<StageEstimator> stages_;
  std::vector<ConsumerEstimator> loaders_;
  DecayedSums cpu_wait_;   // items: CPU time and waits for it; sum: the waits
  DecayedSums slot_wait_;  // items: slot time; sum: the waits
  int windows_since_change_ = 0;
};

}  // namespace weir::detail
