#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include <weir/allocation.hpp>
#include <weir/export.hpp>
#include <weir/observation.hpp>
#include <weir/policy_settings.hpp>

#include "policies/rate_meter.hpp"

namespace weir::detail {

/// Tries a few workers less or one more in the stage that binds, where nobody has seen what they
/// bring: so many windows with it, as many without, and then says whether it paid.
///
/// Algorithm: less, when the workers of a stage have never been clearly fewer: it may be past its
/// peak, and a loaded allocation does not show that. One more, when the stage is at a cap of its
/// own while other workers idle, and the next level is unknown. The scalability law through the
/// levels, where there are enough, says which comes first. Rates are those of the stage itself.
///
/// Thread safety: none.
class WEIR_EXPORT Probe {
 public:
  explicit Probe(const PolicySettings& settings);

  [[nodiscard]] bool running() const { return phase_ != Phase::none; }
  /// Whether to begin one in this window; `meter` is the rate of the allocation in force.
  [[nodiscard]] std::optional<Allocation> begin(const Observation& seen);

  enum class Step {
    wait,   ///< nothing to do in this window
    back,   ///< set original() again
    adopt,  ///< the probe paid: set probed()
    over,   ///< it did not; original() is in force
  };
  [[nodiscard]] Step advance(const Observation& seen);
  [[nodiscard]] const Allocation& original() const { return original_; }
  [[nodiscard]] const Allocation& probed() const { return probed_; }
  /// What it was about, or how it went, in words.
  [[nodiscard]] const std::string& reason() const { return reason_; }
  /// Gives up, since something else changed.
  void abandon() { phase_ = Phase::none; }
  /// Costs changed, or another allocation is in force: everything is unknown again.
  void reset();

 private:
  enum class Phase { none, on, off };

  [[nodiscard]] int workers_to_try(const Observation& seen, std::size_t stage) const;
  [[nodiscard]] Allocation with(const Observation& seen, std::size_t stage, int workers) const;
  [[nodiscard]] bool paid(const Observation& seen);
  void put_off();

  PolicySettings settings_;
  Phase phase_ = Phase::none;
  Allocation original_;
  Allocation probed_;
  std::size_t stage_ = 0;
  int from_ = 0;
  int to_ = 0;
  int windows_ = 0;
  RateMeter before_;
  RateMeter during_;
  RateMeter after_;
  double quiet_seconds_ = 0;  // since when nothing else has changed
  double wait_seconds_ = 0;   // of quiet before the next probe
  int count_ = 0;
  std::string reason_;
};

}  // namespace weir::detail
