#pragma once

#include <map>
#include <optional>

#include <weir/export.hpp>

namespace weir::detail {

/// Finds the fewest workers with which a stage comes near its peak, from a few trials of its rate.
///
/// Algorithm: the peak lies beside the best number tried. Look where the scalability law through
/// the trials has its peak, once there are enough of them; otherwise half way to the neighbours
/// that come near; and at last halve towards the fewest that hold all but `plateau` of the best.
///
/// Thread safety: a value.
class WEIR_EXPORT PeakSearch {
 public:
  explicit PeakSearch(double plateau) : plateau_(plateau) {}

  void clear() { trials_.clear(); }
  /// `error` of the rate, one standard error, relative.
  void add(int workers, double rate, double error = 0) { trials_[workers] = {rate, error}; }
  /// What to try next; nothing: best() is good enough.
  [[nodiscard]] std::optional<int> next() const;
  /// The fewest of those tried that hold all but the plateau of the best.
  [[nodiscard]] int best() const;

 private:
  [[nodiscard]] std::optional<int> hint(int low, int high) const;

  struct Trial {
    double rate = 0;
    double error = 0;
  };

  double plateau_;
  std::map<int, Trial> trials_;  // by workers
};

}  // namespace weir::detail
