#include "pipeline/worker_clocks.hpp"

#include <chrono>

#include "machine/thread_usage.hpp"

namespace weir::detail {
namespace {

double seconds_of(std::chrono::nanoseconds time) {
  return static_cast<double>(time.count()) * 1e-9;
}

}  // namespace

void WorkerClocks::read(const std::vector<Stage*>& stages, int worker) {
  read_at_ = monotonic_now();
  const ThreadUsage usage = read_thread_usage();
  const double user = seconds_of(usage.cpu_user);
  const double system = seconds_of(usage.cpu_system);
  const double queue = seconds_of(usage.run_queue_delay.value_or(std::chrono::nanoseconds{0}));
  const std::uint64_t voluntary = usage.voluntary_switches - voluntary_switches_;
  const std::uint64_t involuntary = usage.involuntary_switches - involuntary_switches_;
  const std::uint64_t faults = usage.minor_faults - minor_faults_;
  double total = 0;
  for (const Stage* stage : stages)
    total += static_cast<double>(stage->counters(worker).unattributed_ns.get());
  if (total > 0) {
    for (const Stage* stage : stages) {
      StageCounters& counters = stage->counters(worker);
      const double share = static_cast<double>(counters.unattributed_ns.get()) / total;
      if (share <= 0) continue;
      counters.unattributed_ns.set(0);
      counters.cpu_user_seconds.add(share * (user - cpu_user_seconds_));
      counters.cpu_system_seconds.add(share * (system - cpu_system_seconds_));
      counters.run_queue_seconds.add(share * (queue - run_queue_seconds_));
      counters.voluntary_switches.add(share * static_cast<double>(voluntary));
      counters.involuntary_switches.add(share * static_cast<double>(involuntary));
      counters.minor_faults.add(share * static_cast<double>(faults));
    }
  }
  cpu_user_seconds_ = user;
  cpu_system_seconds_ = system;
  run_queue_seconds_ = queue;
  voluntary_switches_ = usage.voluntary_switches;
  involuntary_switches_ = usage.involuntary_switches;
  minor_faults_ = usage.minor_faults;
}

}  // namespace weir::detail
