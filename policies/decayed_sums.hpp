#pragma once

#include <algorithm>
#include <cmath>

namespace weir::detail {

/// Sums over windows in which older windows count less; a mean of ratios would be biased by windows
/// with few items, a ratio of sums is not.
///
/// Thread safety: a value.
class DecayedSums {
 public:
  /// Adds a window: `items` with the sums of their values and squares, of which `independent` are
  /// independent observations (packets, where one measurement covers several items). `alpha` is the
  /// weight of the newest window: 1 forgets all earlier ones.
  void add(double items, double sum, double squares, double independent, double alpha) {
    const double keep = 1.0 - alpha;
    items_ = items_ * keep + items;
    sum_ = sum_ * keep + sum;
    squares_ = squares_ * keep + squares;
    independent_ = independent_ * keep + independent;
    independent_squares_ = independent_squares_ * keep * keep + independent;
  }

  [[nodiscard]] bool empty() const { return items_ <= 0; }
  [[nodiscard]] double items() const { return items_; }
  [[nodiscard]] double sum() const { return sum_; }
  [[nodiscard]] double mean() const { return items_ > 0 ? sum_ / items_ : 0.0; }
  /// Coefficient of variation of the values.
  [[nodiscard]] double cv() const {
    const double m = mean();
    if (m <= 0) return 0.0;
    return std::sqrt(std::max(0.0, squares_ / items_ - m * m)) / m;
  }
  /// Observations that the mean is worth, the fading counted.
  [[nodiscard]] double effective() const {
    return independent_squares_ > 0 ? independent_ * independent_ / independent_squares_ : 0.0;
  }
  /// One standard error of the mean over the mean; 1 with fewer than two observations.
  [[nodiscard]] double relative_error() const {
    const double n = effective();
    return n < 2 ? 1.0 : cv() / std::sqrt(n);
  }

 private:
  double items_ = 0;
  double sum_ = 0;
  double squares_ = 0;
  double independent_ = 0;
  double independent_squares_ = 0;
};

}  // namespace weir::detail
