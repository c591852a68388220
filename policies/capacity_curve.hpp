#pragma once

#include <span>
#include <utility>
#include <vector>

#include <weir/export.hpp>
#include <weir/observation.hpp>

namespace weir::detail {

/// How many items a second a stage completes with n workers running in it.
///
/// Proportional where service times do not depend on n. Where they do, piecewise linear through the
/// levels seen: proportional below the lowest, the last secant above the highest but never above
/// proportional, so that the curve may fall again.
///
/// Thread safety: a value.
class WEIR_EXPORT CapacityCurve {
 public:
  CapacityCurve() = default;  ///< of a stage that nothing is known of: it needs no workers
  [[nodiscard]] static CapacityCurve proportional(double service_seconds);
  /// Levels that noise explains are drawn together, so that a linear stage gets a proportional
  /// curve at `service_seconds`.
  [[nodiscard]] static CapacityCurve from_levels(std::span<const Level> levels,
                                                 double service_seconds);
  /// As it is given: (workers, items a second), ascending in workers, at least one; flat beyond the
  /// last.
  [[nodiscard]] static CapacityCurve through(std::vector<std::pair<double, double>> points);

  [[nodiscard]] bool known() const { return !points_.empty(); }
  [[nodiscard]] bool is_proportional() const { return points_.size() == 1; }
  /// Items a second with n >= 0 workers.
  [[nodiscard]] double at(double n) const;
  /// The fewest workers, a real number, that complete `rate`; infinity when `most` do not.
  [[nodiscard]] double workers_for(double rate, double most) const;
  /// The same as a whole number; 0 when `most` do not.
  [[nodiscard]] int whole_workers_for(double rate, int most) const;
  /// Where the curve is highest, at most `most`, the fewest on ties. Where it is flat around its
  /// peak, so many fewer as give up no more than the share `plateau` of it.
  [[nodiscard]] double peak_workers(double most, double plateau = 0) const;
  /// The same among whole numbers.
  [[nodiscard]] int whole_peak_workers(int most, double plateau = 0) const;

 private:
  [[nodiscard]] bool is_flat(double from, double to) const;
  /// The highest rate seen, less one standard error of it.
  [[nodiscard]] double sure_peak(double most) const;

  std::vector<std::pair<double, double>> points_;  // (n, items a second), ascending in n
  std::vector<double> errors_;  // relative, of the points, one standard error; may be empty
  double last_slope_ = 0;       // beyond the last point
};

}  // namespace weir::detail
