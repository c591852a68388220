#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include <weir/export.hpp>
#include <weir/observation.hpp>
#include <weir/policy_settings.hpp>

#include "policies/decayed_sums.hpp"
#include "policies/level_table.hpp"

namespace weir::detail {

/// What a stage did in one window.
struct StageWindow {
  double seconds = 0;
  double items_in = 0;
  double items_out = 0;
  double packets = 0;
  double service_seconds = 0;          ///< summed over items, run-queue delay removed
  double service_seconds_squared = 0;  ///< likewise
  double running_mean = 0;
  double oldest_running_seconds = 0;  ///< age of a packet still under way; 0: none
  bool learn = true;     ///< false: mixes two allocations, or contended; not for levels or drift
  bool settled = false;  ///< the allocation has been in force for a while: a level that shows up by
                         ///< itself is as likely a drift
};

/// Service time, visits and levels of one stage, smoothed; and the alarm when they change.
///
/// Algorithm: means are ratios of fading sums, fast and slow. Drift is a two-sided CUSUM of the log
/// of each window's service time over what the level table expects at its concurrency, so that a
/// move is not taken for a drift. Windows of different allocations are never added up. On an alarm
/// everything known is to be dropped, see restart(): workers shift with costs, so that the levels
/// of the other stages are in doubt as well.
///
/// Thread safety: none.
class WEIR_EXPORT StageEstimator {
 public:
  explicit StageEstimator(const PolicySettings& settings) : settings_(settings) {}

  /// Adds a window; true when costs drifted.
  [[nodiscard]] bool add(const StageWindow& window);
  /// Forgets all but `last`, the window in which something drifted.
  void restart(const StageWindow& last);
  /// The last window looked like the beginning of a drift.
  [[nodiscard]] bool suspect() const { return suspect_; }
  /// `visits` and the demand are left to the caller, who knows the stages downstream.
  [[nodiscard]] StageEstimate estimate() const;
  /// Items given out for one taken in, or 0 while none came out.
  [[nodiscard]] double out_per_in() const;

 private:
  // One side of the alarm.
  struct Excess {
    double sum = 0;
    [[nodiscard]] bool add(double residual, double allowance, double alarm);
  };

  [[nodiscard]] bool service_drifted(const StageWindow& window);
  void leave_level();
  void teach(const StageWindow& window);
  /// What is pending is far from anything that noise explains.
  [[nodiscard]] bool far_off() const;
  /// One standard error of the logarithm of what `judged` shows over what was expected. Windows at
  /// one level differ by more than their items' variation says, where the time depends on who runs
  /// beside; but not what is far off.
  [[nodiscard]] double error_of(const StageWindow& judged, const Level& right, bool far) const;
  [[nodiscard]] bool visits_drifted();
  /// What a window at `running` workers should show; nothing where it cannot be said.
  [[nodiscard]] std::optional<Level> expected(double running, bool settled) const;
  void take(const StageWindow& window);

  PolicySettings settings_;
  DecayedSums fast_;
  DecayedSums slow_;
  DecayedSums ratio_fast_;
  DecayedSums ratio_slow_;
  LevelTable levels_;
  StageWindow pending_;              // windows with too few items to judge alone, added up
  std::map<int, StageWindow> kept_;  // likewise, of allocations before, by level
  double spread_ = 0;                // mean square of what windows differ from what was expected
  Excess above_;
  Excess below_;
  bool judged_since_change_ = false;  // levels seen before are not those of the allocation in force
  bool suspect_ = false;
  int visits_off_ = 0;  // consecutive windows whose visit ratio was far from the slow one
  double completions_ = 0;
  double seconds_ = 0;
  double running_most_ = 1;
  double oldest_running_seconds_ = 0;
};

}  // namespace weir::detail
