#pragma once

#include <optional>
#include <span>

#include <weir/export.hpp>
#include <weir/observation.hpp>

namespace weir::detail {

/// The universal scalability law C(n) = n / (1 + a (n - 1) + b n (n - 1)) through the levels of a
/// stage. Only a hint where to look: what is done follows from what was seen there.
struct UslFit {
  double contention = 0;  ///< a
  double coherence = 0;   ///< b
  /// Where the law has its peak; infinite where it has none.
  [[nodiscard]] double peak() const;
};

/// Nothing with fewer than four levels, or where these do not say.
[[nodiscard]] WEIR_EXPORT std::optional<UslFit> fit_usl(std::span<const Level> levels);

}  // namespace weir::detail
