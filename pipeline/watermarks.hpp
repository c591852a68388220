#pragma once

#include <algorithm>
#include <cstdint>

namespace weir::detail {

/// The least and the most that there was of something since the last reset.
///
/// Thread safety: none.
struct Watermarks {
  std::int64_t low = 0;
  std::int64_t high = 0;

  void reset(std::int64_t now) { low = high = now; }
  void note(std::int64_t now) {
    low = std::min(low, now);
    high = std::max(high, now);
  }
};

}  // namespace weir::detail
