#pragma once

#include <cstdint>

/// Counts allocations of the whole process, those of libraries too.
namespace weir::test {

struct AllocationCounts {
  std::uint64_t by_new = 0;     ///< operator new: weir's own, and of libraries in C++
  std::uint64_t large = 0;      ///< of 64 KiB or more, by anybody
  std::int64_t live_bytes = 0;  ///< by anybody, not freed so far
};

/// False where a sanitizer has malloc for itself, and nothing is counted.
[[nodiscard]] bool allocations_are_counted();
[[nodiscard]] AllocationCounts allocation_counts();

}  // namespace weir::test
