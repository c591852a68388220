#include "tuner/simulated_clocks.hpp"

#include <utility>

namespace weir::detail {

void SimulatedClocks::add_cpu(double cpu_seconds, double run_queue_seconds,
                              double involuntary_switches) {
  cpu_seconds_ += cpu_seconds;
  run_queue_seconds_ += run_queue_seconds;
  involuntary_switches_ += involuntary_switches;
}

void SimulatedClocks::add_packet(std::size_t stage, double slot_seconds) {
  unattributed_seconds_[stage] += slot_seconds;
  slot_seconds_ += slot_seconds;
}

void SimulatedClocks::read(std::vector<SimulatedStage>& stages, double now) {
  read_at_ = now;
  if (slot_seconds_ <= 0) return;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    if (unattributed_seconds_[i] <= 0) continue;
    const double share = std::exchange(unattributed_seconds_[i], 0.0) / slot_seconds_;
    SimulatedStage& stage = stages[i];
    stage.meters.cpu_user_seconds += share * cpu_seconds_;
    stage.meters.run_queue_seconds += share * run_queue_seconds_;
    stage.voluntary_switches += share * voluntary_switches_;
    stage.involuntary_switches += share * involuntary_switches_;
  }
  cpu_seconds_ = run_queue_seconds_ = slot_seconds_ = 0;
  voluntary_switches_ = involuntary_switches_ = 0;
}

}  // namespace weir::detail
