#pragma once

#include <cstddef>
#include <vector>

#include <weir/export.hpp>
#include <weir/observation.hpp>

namespace weir::detail {

/// Means over several windows, which together last as long as another system's samples.
///
/// Thread safety: none.
class WEIR_EXPORT TuningRound {
 public:
  void clear();
  void add(const Observation& seen);

  [[nodiscard]] double seconds() const { return seconds_; }
  /// Of an item that a consumer got; infinite: none came.
  [[nodiscard]] double step_seconds() const;
  /// The mean filling of the queue behind a stage, as a share of its mean depth.
  [[nodiscard]] double filling(std::size_t stage) const;
  /// The same of the queue before it; 1 for the first stage of a loader.
  [[nodiscard]] double input_filling(const Observation& seen, std::size_t stage) const;
  /// CPUs that a stage kept busy.
  [[nodiscard]] double cpus(std::size_t stage) const;

 private:
  struct Stage {
    double item_seconds = 0;
    double capacity_seconds = 0;
    double cpu_seconds = 0;
  };

  double seconds_ = 0;
  double items_ = 0;
  std::vector<Stage> stages_;
};

}  // namespace weir::detail
