#pragma once

#include <weir/cpu_set.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weir {

/// One NUMA node, as the kernel shows it under /sys/devices/system/node.
struct MemoryNode {
  int number = 0;  ///< the kernel's
  CpuSet cpus;     ///< empty: memory alone
  std::optional<std::uint64_t> total_bytes;
  std::optional<std::uint64_t> free_bytes;
};

/// Ascending by number; empty where the kernel shows none.
[[nodiscard]] std::vector<MemoryNode> read_memory_nodes(const std::string& root = "/");

}  // namespace weir
