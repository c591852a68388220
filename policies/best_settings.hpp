#pragma once

#include <optional>
#include <string>

#include <weir/allocation.hpp>
#include <weir/export.hpp>
#include <weir/observation.hpp>
#include <weir/policy_settings.hpp>

namespace weir::detail {

/// The best allocation that was verified, and when to regret having left it.
///
/// Thread safety: none.
class WEIR_EXPORT BestSettings {
 public:
  explicit BestSettings(const PolicySettings& settings) : settings_(settings) {}

  /// What is in force gave `per_second`. `excused`: something else limited the rate, so that a
  /// lower one is no worse.
  void offer(const Observation& seen, double per_second, bool excused);
  /// Costs changed: what was measured before is no measure any more.
  void make_stale() { stale_ = true; }
  [[nodiscard]] bool known() const { return best_.has_value() && !stale_; }
  [[nodiscard]] const std::optional<Allocation>& allocation() const { return best_; }
  [[nodiscard]] double per_second() const { return per_second_; }

  /// True when what is in force has been clearly below the best for some windows on end, under the
  /// same label. `relative_error` is that of `per_second`.
  [[nodiscard]] bool regret(const Observation& seen, double per_second, double relative_error,
                            bool excused);
  void changed() { below_ = 0; }

 private:
  PolicySettings settings_;
  std::optional<Allocation> best_;
  double per_second_ = 0;
  std::string label_;
  bool stale_ = false;
  int below_ = 0;
};

}  // namespace weir::detail
