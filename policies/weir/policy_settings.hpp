#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <weir/export.hpp>

namespace weir {

/// The constants of windows, estimates and decisions. Each is a setting with a name, a range and a
/// meaning (see settings()); the defaults are those of the table.
struct PolicySettings {
  // Windows.
  double window_seconds = 0.1;
  double window_least_seconds = 0.05;
  double window_most_seconds = 2.0;
  double jitter = 0.25;
  int window_completions = 10;
  // Estimates.
  double alpha_fast = 0.3;
  double alpha_slow = 0.05;
  int trust_completions = 30;
  int trust_per_worker = 20;
  double trust_seconds = 0.05;
  double matters = 0.01;
  double drift_change = 0.1;
  double drift_errors = 5.0;
  double contention = 0.1;
  double contention_recover = 0.02;
  double contention_switches = 3.0;
  double contention_wait_most_seconds = 16.0;
  double plateau = 0.02;
  // Decisions.
  double ramp_gain = 0.1;
  double dead_band = 0.05;
  int confirm = 2;
  double confirm_once_gain = 0.3;
  double verify_share = 0.3;
  double verify_seconds = 2.0;
  double failed_mark_seconds = 30.0;
  double failed_mark_most_seconds = 600.0;
  double shrink_memory_seconds = 15.0;
  double stay_slack = 1.0;
  int settled_windows = 3;
  int probation_windows = 5;
  int regret_windows = 3;
  double relearn_seconds = 5.0;
  double strict_gain = 0.02;
  double strict_error = 0.01;
  double probe_seconds = 10.0;
  int probe_windows = 2;
  // Queues.
  double depth_evidence = 0.01;
  double depth_loss = 0.01;
  double depth_seconds = 1.0;
  double memory_stop = 0.85;
  double memory_resume = 0.65;
  double memory_halve = 0.95;
  // Consumer.
  double consumer_hold = 0.02;
  double consumer_rearm = 0.03;
  double consumer_hold_seconds = 0.5;
  double release_margin = 1.1;
  // MindSpore's rule.
  int start_workers = 1;
};

/// How a setting is written: 100ms, 2s; 5% or 0.05; a whole number; a plain number.
enum class SettingKind { duration, share, whole, number };

/// One setting, for tables and messages.
struct SettingInfo {
  std::string_view name;
  SettingKind kind = SettingKind::number;
  double default_value = 0;  ///< in seconds where it is a duration
  double least = 0;
  double most = 0;
  std::string_view meaning;

  [[nodiscard]] WEIR_EXPORT std::string text(double value) const;  ///< as a user writes it
};

/// All settings in one place, in the order of PolicySettings; a policy has some of them.
[[nodiscard]] WEIR_EXPORT const std::vector<SettingInfo>& settings();

/// The defaults with `values` put over them. Throws Error (usage) with `where` as the place when
/// the policy is unknown or has no setting of that name (the nearest one is named), or when a value
/// is not in its range.
[[nodiscard]] WEIR_EXPORT PolicySettings
make_settings(std::string_view policy, const std::map<std::string, std::string>& values,
              const std::string& where = {});

}  // namespace weir
