#pragma once

#include <weir/export.hpp>
#include <weir/observation.hpp>
#include <weir/policy.hpp>
#include <weir/policy_settings.hpp>

#include "policies/rate_meter.hpp"

namespace weir::detail {

/// Keeps the best allocation that was really in force, and the rate measured under it, for policies
/// that verify nothing themselves.
///
/// Thread safety: none.
class WEIR_EXPORT VerifiedRate {
 public:
  VerifiedRate(const PolicySettings& settings, bool strict)
      : settings_(settings), strict_(strict), meter_(settings.verify_seconds) {}

  /// Notes in `standing` what the allocation in force gives, as soon as every stage that matters is
  /// trusted.
  void note(const Observation& seen, Standing& standing);

 private:
  const PolicySettings settings_;
  const bool strict_;
  RateMeter meter_;
};

}  // namespace weir::detail
