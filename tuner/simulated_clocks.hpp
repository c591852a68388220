#pragma once

#include <cstddef>
#include <vector>

#include "tuner/simulated_stage.hpp"

namespace weir::detail {

/// What one worker's thread used, shared out to the stages that it ran since the last reading by
/// their slot time: what pipeline/worker_clocks.hpp does with the kernel's counts.
///
/// Thread safety: none.
class SimulatedClocks {
 public:
  static constexpr double kIntervalSeconds = 5e-3;  ///< as WorkerClocks

  explicit SimulatedClocks(std::size_t stages) : slot_seconds_of_(stages, 0.0) {}

  void add_cpu(double cpu_seconds, double run_queue_seconds, double involuntary_switches);
  void add_sleep() { unattributed_.voluntary_switches += 1; }
  void add_packet(std::size_t stage, double slot_seconds);

  [[nodiscard]] bool due(double now) const { return now - read_at_ >= kIntervalSeconds; }
  void read(std::vector<SimulatedStage>& stages, double now);

 private:
  double read_at_ = 0;
  ThreadTime unattributed_;
  double slot_seconds_ = 0;
  std::vector<double> slot_seconds_of_;  ///< by stage
};

}  // namespace weir::detail
