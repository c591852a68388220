#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace weir {

/// What the whole process has read since it began; only differences mean something.
struct ReadCounters {
  std::uint64_t asked_bytes = 0;  ///< by read() and its like, wherever the bytes came from
  std::uint64_t disk_bytes = 0;   ///< that a disk had to give, readahead included
};

/// Nullopt where the kernel does not count, or does not say (some containers).
[[nodiscard]] std::optional<ReadCounters> read_read_counters(const std::string& root = "/");

/// The share of the bytes between two readings that came from a disk and not from the page cache,
/// 1 at most; nullopt where less than `least_bytes` were read: then it says nothing.
[[nodiscard]] std::optional<double> disk_share(const ReadCounters& before,
                                               const ReadCounters& after,
                                               std::uint64_t least_bytes);

}  // namespace weir
