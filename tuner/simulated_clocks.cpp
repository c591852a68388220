#include "tuner/simulated_clocks.hpp"

#include <utility>

namespace weir::detail {

void SimulatedClocks::add_cpu(double cpu_seconds, double run_queue_seconds,
                              double involuntary_switches) {
  unattributed_.cpu_seconds += cpu_seconds;
  unattributed_.run_queue_seconds += run_queue_seconds;
  unattributed_.involuntary_switches += involuntary_switches;
}

void SimulatedClocks::add_packet(std::size_t stage, double slot_seconds) {
  slot_seconds_of_[stage] += slot_seconds;
  slot_seconds_ += slot_seconds;
}

void SimulatedClocks::read(std::vector<SimulatedStage>& stages, double now) {
  read_at_ = now;
  if (slot_seconds_ <= 0) return;
  const ThreadTime all = std::exchange(unattributed_, ThreadTime{});
  const double total = std::exchange(slot_seconds_, 0.0);
  for (std::size_t i = 0; i < stages.size(); ++i) {
    if (slot_seconds_of_[i] <= 0) continue;
    const double share = std::exchange(slot_seconds_of_[i], 0.0) / total;
    stages[i].add_thread_time({share * all.cpu_seconds, share * all.run_queue_seconds,
                               share * all.voluntary_switches, share * all.involuntary_switches});
  }
}

}  // namespace weir::detail
