#pragma once

#include <cstdint>
#include <string_view>

namespace weir {

/// How files are read: `pread` behind hints to the kernel, or many reads at once through io_uring;
/// `automatic` is pread as long as the hints hide the storage's latency.
enum class Reader { automatic, pread, io_uring };

[[nodiscard]] constexpr std::string_view to_string(Reader reader) {
  return reader == Reader::pread ? "pread" : reader == Reader::io_uring ? "io_uring" : "auto";
}

/// What one loader has read from files so far. All values but `window_files`, `open_files` and
/// `backend` only grow.
struct ReadingSnapshot {
  Reader backend = Reader::pread;  ///< in use now
  std::uint64_t files = 0;         ///< read to their end
  std::uint64_t bytes = 0;         ///< of these files
  std::uint64_t disk_files =
      0;  ///< that the disk had to give something of, asked for and not yet read ones too
  std::uint64_t disk_bytes = 0;       ///< that it gave, readahead included
  bool source_known = true;           ///< false: the kernel does not say what the disk gave
  std::uint64_t late_files = 0;       ///< that were waited for, in spite of the look-ahead
  double wait_seconds = 0;            ///< time of workers in these waits
  std::uint32_t window_files = 0;     ///< asked for ahead of the reads; 0: none
  std::uint32_t open_files = 0;       ///< held open between hint and read
  std::uint32_t most_open_files = 0;  ///< at once, so far

  /// The share of the bytes that the page cache had.
  [[nodiscard]] double hit_share() const {
    if (bytes == 0 || disk_bytes >= bytes) return bytes == 0 ? 1.0 : 0.0;
    return 1.0 - static_cast<double>(disk_bytes) / static_cast<double>(bytes);
  }
};

}  // namespace weir
