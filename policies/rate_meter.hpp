#pragma once

#include <cstddef>
#include <vector>

#include <weir/export.hpp>
#include <weir/observation.hpp>

namespace weir::detail {

/// Throughput measured on stages, not on batches: many more events, so a verdict sooner.
///
/// Thread safety: none.
class WEIR_EXPORT RateMeter {
 public:
  struct Rate {
    double items_per_second = 0;  ///< that the stage took in
    double relative_error = 1;    ///< one standard error
  };

  /// `memory_seconds`: how fast old windows fade; infinite: not at all.
  explicit RateMeter(double memory_seconds) : memory_seconds_(memory_seconds) {}

  void add(const Observation& seen);
  void clear();
  [[nodiscard]] double seconds() const { return seconds_; }
  [[nodiscard]] bool empty() const { return seconds_ <= 0; }
  /// Of one stage, in its own items: visits that are still being learnt do not blur a comparison.
  [[nodiscard]] Rate rate(const Observation& seen, std::size_t stage) const;
  /// The same in consumer items a second.
  [[nodiscard]] double per_second(const Observation& seen, std::size_t stage) const {
    return rate(seen, stage).items_per_second / seen.stages[stage].estimate.visits;
  }
  /// Completions of a stage since clear(), fading.
  /// The same, as far as the other stages kept up: what only filled queues could not last.
  [[nodiscard]] Rate lasting_rate(const Observation& seen, std::size_t stage) const;
  [[nodiscard]] double completions(std::size_t stage) const;

 private:
  double memory_seconds_;
  double seconds_ = 0;
  std::vector<double> items_;
  std::vector<double> completions_;
};

}  // namespace weir::detail
