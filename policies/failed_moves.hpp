#pragma once

#include <vector>

#include <weir/allocation.hpp>
#include <weir/export.hpp>
#include <weir/policy_settings.hpp>

namespace weir::detail {

/// Moves that did not pay and are not to be tried again for a while, doubling each time.
///
/// Thread safety: none.
class WEIR_EXPORT FailedMoves {
 public:
  explicit FailedMoves(const PolicySettings& settings) : settings_(settings) {}

  void mark(const Allocation& to, double now_seconds);
  [[nodiscard]] bool marked(const Allocation& to, double now_seconds) const;
  /// Costs changed: what failed may pay now.
  void clear() { marks_.clear(); }

 private:
  struct Mark {
    Allocation to;
    double until_seconds = 0;
    double lasts_seconds = 0;
  };

  PolicySettings settings_;
  std::vector<Mark> marks_;  // no two to what counts as the same
};

}  // namespace weir::detail
