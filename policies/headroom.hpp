#pragma once

#include <weir/export.hpp>
#include <weir/observation.hpp>
#include <weir/policy_settings.hpp>

#include "policies/need_memory.hpp"
#include "policies/plan.hpp"

namespace weir::detail {

/// How many workers a consumer that is the limit leaves in use: so many that its rate is held with
/// a margin, released lazily, given back at once.
///
/// Thread safety: none.
class WEIR_EXPORT Headroom {
 public:
  explicit Headroom(const PolicySettings& settings)
      : settings_(settings),
        margin_(settings.release_margin),
        needs_(settings.shrink_memory_seconds) {}

  /// How far above the consumer's rate to hold; larger after it was too little.
  [[nodiscard]] double margin() const { return margin_; }
  void widen() { margin_ += kMarginStep; }
  /// Notes what is needed in a counted window, and whether the consumer waits.
  void note(const Observation& seen, int need);
  /// The consumer waits, though it is the limit by the model.
  [[nodiscard]] bool lacking() const {
    return waiting_ > 0 && (held_ || waiting_ >= kWindowsToFill);
  }
  /// The most workers that were needed for a while; 0: the while is not over.
  [[nodiscard]] int needed(const Observation& seen) const {
    return needs_.largest(seen.time_seconds);
  }
  void forget_needs() { needs_.clear(); }
  /// Another allocation is in force.
  void changed() {
    waiting_ = 0;
    held_ = false;
  }
  /// Costs changed.
  void reset() {
    margin_ = settings_.release_margin;
    needs_.clear();
  }

 private:
  static constexpr double kMarginStep = 0.1;
  static constexpr int kWindowsToFill = 5;  // before a consumer that still waits counts as waiting

  PolicySettings settings_;
  double margin_;
  NeedMemory needs_;
  int waiting_ = 0;    // consecutive windows in which the consumer waited
  bool held_ = false;  // it was the limit since the last change
};

/// The largest wait share of the consumers that take part.
[[nodiscard]] WEIR_EXPORT double most_wait(const Observation& seen);

}  // namespace weir::detail
