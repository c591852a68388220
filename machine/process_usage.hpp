#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace weir {

/// What the whole process holds; nullopt where it could not be read.
struct ProcessUsage {
  std::optional<std::uint64_t> rss_bytes;  ///< approximate: the kernel adds it up per CPU, lazily
  std::optional<std::uint64_t> peak_rss_bytes;
  std::optional<int> threads;
  std::optional<int> open_descriptors;
};

/// Costs tens of microseconds, more with many descriptors: for use at 1 Hz and in tests.
[[nodiscard]] ProcessUsage read_process_usage(const std::string& root = "/");

}  // namespace weir
