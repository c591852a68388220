#pragma once

#include <cstdint>

namespace weir::test {

/// What went through operator new of this program so far, on all threads.
[[nodiscard]] std::uint64_t allocations();
/// Blocks that were allocated and not given back.
[[nodiscard]] std::int64_t live_allocations();

}  // namespace weir::test
