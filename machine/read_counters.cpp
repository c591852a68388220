#include "machine/read_counters.hpp"

#include "machine/system_file.hpp"

#include <algorithm>

namespace weir {

std::optional<ReadCounters> read_read_counters(const std::string& root) {
  const std::optional<std::string> text = detail::read_system_file(root, "/proc/self/io");
  if (!text) return std::nullopt;
  const std::optional<std::uint64_t> asked = detail::find_number(*text, "rchar");
  const std::optional<std::uint64_t> disk = detail::find_number(*text, "read_bytes");
  if (!asked || !disk) return std::nullopt;
  return ReadCounters{*asked, *disk};
}

std::optional<double> disk_share(const ReadCounters& before, const ReadCounters& after,
                                 std::uint64_t least_bytes) {
  if (after.asked_bytes < before.asked_bytes || after.disk_bytes < before.disk_bytes)
    return std::nullopt;
  const std::uint64_t asked = after.asked_bytes - before.asked_bytes;
  if (asked == 0 || asked < least_bytes) return std::nullopt;
  // Readahead fetches whole pages, and some that nobody asks for in the end.
  return std::min(
      1.0, static_cast<double>(after.disk_bytes - before.disk_bytes) / static_cast<double>(asked));
}

}  // namespace weir
