#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include <weir/allocation.hpp>
#include <weir/observation.hpp>

namespace weir::detail {

/// No stage is moved beyond twice the highest level that it has been at: what lies further is known
/// by extrapolation alone.
///
/// Thread safety: a value.
class StepBound {
 public:
  void begin(const Observation& first) { highest_.assign(first.stages.size(), 1.0); }
  /// Levels that were really reached.
  void note(const Observation& seen) {
    for (std::size_t i = 0; i < std::min(highest_.size(), seen.stages.size()); ++i)
      highest_[i] = std::max(highest_[i], std::ceil(seen.stages[i].running_mean - 1e-9));
  }
  /// Levels that are being set.
  void note(const Allocation& set) {
    for (std::size_t i = 0; i < std::min(highest_.size(), set.stages.size()); ++i)
      highest_[i] = std::max(highest_[i], std::ceil(set.stages[i].target - 1e-9));
  }
  /// The most that a stage may be set to; what is set by hand or in groups has no bound.
  [[nodiscard]] double most(std::size_t stage) const { return kStep * highest_[stage]; }
  /// Whether something was over the bound and has been lowered to it.
  bool apply(const Observation& seen, Allocation& wanted) const {
    bool lowered = false;
    for (std::size_t i = 0; i < std::min(highest_.size(), wanted.stages.size()); ++i) {
      if (wanted.stages[i].group >= 0 || seen.stages[i].fixed_workers > 0) continue;
      if (wanted.stages[i].target <= most(i) + 1e-9) continue;
      wanted.stages[i].target = most(i);
      lowered = true;
    }
    return lowered;
  }

 private:
  static constexpr double kStep = 2.0;

  std::vector<double> highest_;
};

}  // namespace weir::detail
