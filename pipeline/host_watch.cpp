#include "pipeline/host_watch.hpp"

#include "machine/cgroup.hpp"
#include "machine/cpu_quota.hpp"
#include "machine/host_counters.hpp"
#include "machine/process_usage.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

namespace weir::detail {
namespace {

template <class Duration>
double seconds_of(const std::optional<Duration>& time) {
  return time ? std::chrono::duration<double>(*time).count() : 0.0;
}

}  // namespace

const HostSnapshot& HostWatch::read(double now_seconds) {
  if (last_.read_seconds > 0 && now_seconds - last_.read_seconds < kIntervalSeconds) return last_;
  const HostCounters counters = read_host_counters(view_.root);
  std::vector<std::string> notes;
  const CpuQuota quota = find_cpu_quota(view_.root, Cgroups(view_.root), notes);
  last_.read_seconds = now_seconds;
  last_.host_cores = counters.host_cpus.value_or(0);
  last_.cores = view_.affinity().size();
  if (last_.cores <= 0) last_.cores = last_.host_cores;
  if (quota.cpus) last_.cores = std::min(last_.cores, *quota.cpus);
  last_.host_cpu_seconds = seconds_of(counters.host_cpu);
  last_.process_cpu_seconds = seconds_of(counters.process_cpu);
  last_.quota_periods = counters.quota_periods.value_or(0);
  last_.throttled_periods = counters.throttled_periods.value_or(0);
  last_.throttled_seconds = seconds_of(counters.throttled_time);
  last_.cpu_pressure_seconds = seconds_of(counters.cpu_pressure);
  last_.memory_pressure_seconds = seconds_of(counters.memory_pressure);
  last_.resident_bytes = read_process_usage(view_.root).rss_bytes.value_or(0);
  last_.memory_bytes = counters.memory_bytes.value_or(0);
  last_.memory_limit_bytes = counters.memory_limit_bytes.value_or(0);
  return last_;
}

}  // namespace weir::detail
