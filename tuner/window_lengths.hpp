#pragma once

#include <cstdint>

#include <weir/export.hpp>
#include <weir/observation.hpp>
#include <weir/policy_settings.hpp>

namespace weir::detail {

/// How long until the next look: long enough for the slowest stage that matters to complete some
/// items, and never in step with another controller on the host.
///
/// The jitter comes from a counter, so that a run with the same seed looks at the same times.
///
/// Thread safety: none.
class WEIR_EXPORT WindowLengths {
 public:
  WindowLengths(const PolicySettings& settings, std::uint64_t seed)
      : settings_(settings), seed_(seed) {}

  /// `asked_seconds`: what the policy asked for; 0: an ordinary window. `changed`: an allocation
  /// was just applied, so the next window only lets items that began under the old one end.
  [[nodiscard]] double next(const Observation& seen, double asked_seconds, bool changed);

 private:
  const PolicySettings settings_;
  const std::uint64_t seed_;
  std::uint64_t count_ = 0;
};

}  // namespace weir::detail
