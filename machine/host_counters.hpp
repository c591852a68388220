#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace weir {

/// Counters of the host and of the cgroups around this process; nullopt where there is no such
/// counter. Of times and periods only differences mean something.
struct HostCounters {
  /// Summed over the own cgroup and every visible ancestor, since a parent's quota stops us as
  /// well.
  std::optional<std::uint64_t> quota_periods;
  std::optional<std::uint64_t> throttled_periods;
  std::optional<std::chrono::nanoseconds> throttled_time;
  /// Time in which some task of the host waited for a CPU, or for memory (pressure stall
  /// information).
  std::optional<std::chrono::microseconds> cpu_pressure;
  std::optional<std::chrono::microseconds> memory_pressure;
  std::optional<std::chrono::nanoseconds> host_cpu;     ///< used by all tasks on all CPUs
  std::optional<std::chrono::nanoseconds> process_cpu;  ///< by this process
  std::optional<int> host_cpus;
  /// Of the own cgroup, page cache included; the limit is the least of the visible ancestors' too.
  std::optional<std::uint64_t> memory_bytes;
  std::optional<std::uint64_t> memory_limit_bytes;
};

/// Costs 0.1 to 0.2 ms: for use at 1-2 Hz.
[[nodiscard]] HostCounters read_host_counters(const std::string& root = "/");

}  // namespace weir
