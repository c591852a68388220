#pragma once

#include <optional>
#include <string>
#include <vector>

#include <weir/export.hpp>
#include <weir/observation.hpp>
#include <weir/policy_settings.hpp>
#include <weir/telemetry.hpp>

#include "policies/consumer_estimator.hpp"
#include "policies/contention_meter.hpp"
#include "policies/host_meter.hpp"
#include "policies/snapshot_delta.hpp"
#include "policies/stage_estimator.hpp"

namespace weir::detail {

/// Turns snapshots into observations: differences, shares, smoothed estimates, validity, label.
///
/// Deterministic, like a policy: the same snapshots give the same observations. Whatever the
/// snapshots hold, numbers in an observation are finite: a window with counters that went backwards
/// or are no numbers, or over which the clock jumped, is left out.
///
/// Thread safety: none.
/// Invariants: all snapshots since the last begin() have the same structure.
class WEIR_EXPORT Observer {
 public:
  Observer(const PolicySettings& settings, bool strict)
      : settings_(settings), strict_(strict), contention_(settings) {}

  /// Forgets everything and takes `snapshot` as the beginning. The result has the stages, the
  /// loaders and the budget; nothing is measured yet.
  [[nodiscard]] Observation begin(const Snapshot& snapshot, const Allocation& current);
  /// The window since the last snapshot. `changed`: the allocation was set within it.
  [[nodiscard]] Observation observe(const Snapshot& snapshot, const Allocation& current,
                                    bool changed);

 private:
  void describe(const Snapshot& snapshot, const Allocation& current, Observation& seen) const;
  void observe_stages(const Snapshot& snapshot, const std::vector<StageDelta>& deltas,
                      Observation& seen);
  void find_visits(Observation& seen) const;
  void judge_validity(Observation& seen) const;
  void observe_host(const Snapshot& snapshot, const std::vector<StageDelta>& deltas,
                    Observation& seen);
  void void_window(const Snapshot& snapshot, const std::string& why, Observation& seen);
  const PolicySettings settings_;
  const bool strict_;
  std::optional<Snapshot> last_;
  std::vector<StageEstimator> stages_;
  std::vector<ConsumerEstimator> loaders_;
  HostMeter host_;
  ContentionMeter contention_;
  std::optional<Allocation> last_current_;
  double clock_seconds_ = 0;  // the observations' own
  int windows_since_change_ = 0;
};

}  // namespace weir::detail
