#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace weir {

/// Cumulative counters of the host and of the cgroups around this process; nullopt where there is
/// no such counter. Only differences mean something.
struct HostCounters {
  /// Summed over the own cgroup and every visible ancestor, since a parent's quota stops us as
  /// well.
  std::optional<std::uint64_t> quota_periods;
  std::optional<std::uint64_t> throttled_periods;
  std::optional<std::chrono::nanoseconds> throttled_time;
  /// Time in which some task of the host waited for a CPU (pressure stall information).
  std::optional<std::chrono::microseconds> cpu_pressure;
};

/// Costs about 0.1 ms: for use at 1-2 Hz.
[[nodiscard]] HostCounters read_host_counters(const std::string& root = "/");

}  // namespace weir
