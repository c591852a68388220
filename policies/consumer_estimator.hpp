#pragma once

#include <cstdint>
#include <deque>

#include <weir/export.hpp>
#include <weir/observation.hpp>
#include <weir/policy_settings.hpp>
#include <weir/telemetry.hpp>

#include "policies/decayed_sums.hpp"

namespace weir::detail {

/// What one consumer can take and how long it waits.
///
/// Thread safety: none.
class WEIR_EXPORT ConsumerEstimator {
 public:
  explicit ConsumerEstimator(const PolicySettings& settings) : settings_(settings) {}

  /// The window between two readings, `now_seconds` being its end.
  [[nodiscard]] LoaderObservation add(const ConsumerSnapshot& before, const ConsumerSnapshot& after,
                                      double window_seconds, double now_seconds);

 private:
  struct Peak {
    double time_seconds;
    double per_second;
  };

  struct Gap {
    double time_seconds;
    double seconds;
  };

  PolicySettings settings_;
  DecayedSums step_;        // from one item to the next, waits included
  DecayedSums service_;     // of the consumer alone
  DecayedSums delivered_;   // items over time
  std::deque<Peak> peaks_;  // of the shrink memory, falling
  std::deque<Gap> gaps_;    // services that spanned a pause, of late
  std::uint64_t services_ = 0;
  double held_seconds_ = 0;
  double last_item_seconds_ = 0;
};

}  // namespace weir::detail
