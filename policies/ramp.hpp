#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <weir/export.hpp>
#include <weir/observation.hpp>
#include <weir/policy_settings.hpp>

#include "policies/rate_meter.hpp"

namespace weir::detail {

/// The cold start: from one worker in every stage, double the throughput of the whole line each
/// short window until the workers are used up or a step gains little. The low levels that it passes
/// are what tells a linear stage from one that slows itself down.
///
/// Thread safety: none.
class WEIR_EXPORT Ramp {
 public:
  enum class Advice {
    measure,  ///< not enough seen at this level: look again
    step,     ///< apply workers()
    done,     ///< jump to the solution
  };

  explicit Ramp(const PolicySettings& settings)
      : settings_(settings), meter_(std::numeric_limits<double>::infinity()) {}

  /// One worker in every stage; the workers set by hand where they were.
  void begin(const Observation& first);
  /// After each window in which the level was in force throughout.
  [[nodiscard]] Advice advance(const Observation& seen);
  [[nodiscard]] const std::vector<int>& workers() const { return workers_; }
  /// Of the last level: X, or 0 if nothing was measured.
  [[nodiscard]] const RateMeter& meter() const { return meter_; }
  [[nodiscard]] const std::string& why_done() const { return why_done_; }

 private:
  [[nodiscard]] bool enough(const Observation& seen) const;
  [[nodiscard]] std::vector<int> next_level(const Observation& seen) const;
  [[nodiscard]] std::size_t binding(const Observation& seen) const;
  /// Whether the last step paid, by the stage that bound before it: stages that run ahead into a
  /// queue, and those behind it that are still empty, say nothing.
  [[nodiscard]] bool gained(const Observation& seen) const;
  [[nodiscard]] static bool levelled_off(const Observation& seen, std::size_t stage);
  [[nodiscard]] std::optional<int> level_to_try(const Observation& seen) const;
  void step_to(const Observation& seen, std::vector<int> next);

  PolicySettings settings_;
  std::vector<int> workers_;
  RateMeter meter_;
  std::size_t last_binding_ = 0;    // of the level before
  std::vector<double> last_rates_;  // of its stages, in their items a second
  bool searching_ = false;          // a stage gains nothing from more workers: find its peak
  std::size_t searched_ = 0;
  int tries_ = 0;
  std::string why_done_;
};

}  // namespace weir::detail
