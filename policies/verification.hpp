#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include <weir/export.hpp>
#include <weir/observation.hpp>
#include <weir/policy.hpp>
#include <weir/policy_settings.hpp>

#include "policies/rate_meter.hpp"

namespace weir::detail {

/// Judges one move by the completions of the stage that bound it.
///
/// Algorithm: counted windows add up until the standard error of the realised gain is under a third
/// of the predicted one, at most verify_seconds. A move that promised a gain and brought too little
/// of it failed; so did one, whatever it promised, after which the rate fell by more than the dead
/// band. Undecided moves are kept.
///
/// Thread safety: none.
class WEIR_EXPORT Verification {
 public:
  struct Promise {
    MoveKind kind = MoveKind::move;
    std::size_t binding = 0;
    double predicted_gain = 0;
    RateMeter::Rate before;      ///< of the binding stage; 0 items: nothing to compare with
    bool gain_required = true;   ///< false: it only must not lose
    bool fewer_workers = false;  ///< then the same rate is a gain
  };

  Verification(const Promise& promise, const PolicySettings& settings);

  /// Adds a counted window; the outcome once it is decided. `excused`: something else limits the
  /// rate now (consumer, source, contention), so that no stage could show a gain.
  [[nodiscard]] std::optional<Outcome> judge(const Observation& seen, bool excused);
  [[nodiscard]] RateMeter::Rate realised(const Observation& seen) const;
  [[nodiscard]] double predicted_gain() const { return promise_.predicted_gain; }

 private:
  const Promise promise_;
  const PolicySettings settings_;
  RateMeter after_;
};

}  // namespace weir::detail
