#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace weir {

/// Cumulative counters of one thread. The difference of two readings is a window.
struct ThreadUsage {
  std::chrono::nanoseconds cpu_user{};  ///< their sum is exact; the kernel splits it by ticks
  std::chrono::nanoseconds cpu_system{};
  /// Runnable, but not running; nullopt where the kernel does not count it. It lags by the wait
  /// under way, which is added when it ends.
  std::optional<std::chrono::nanoseconds> run_queue_delay;
  std::uint64_t voluntary_switches = 0;
  std::uint64_t involuntary_switches = 0;
  std::uint64_t minor_faults = 0;
};

/// Bytes that one thread asked for and what of it came from the disk rather than the page cache.
/// Reads through mmap are in `disk_bytes` alone.
struct ThreadIo {
  std::uint64_t asked_bytes = 0;  ///< rchar
  std::uint64_t disk_bytes = 0;   ///< read_bytes
};

/// Reads the counters of the thread that made it, with descriptors kept open: about 1 us a reading
/// of usage, several for io.
///
/// **Thread safety**: belongs to the thread that made it; readings elsewhere would mix two threads.
class ThreadClock {
 public:
  /// Opens lazily, at the first reading. `root` is the folder in which `proc` lies.
  explicit ThreadClock(std::string root = "/");
  ~ThreadClock();
  ThreadClock(const ThreadClock&) = delete;
  ThreadClock& operator=(const ThreadClock&) = delete;

  [[nodiscard]] ThreadUsage usage();
  /// nullopt where the kernel does not count it or denies it.
  [[nodiscard]] std::optional<ThreadIo> io();

 private:
  std::string root_;
  int schedule_descriptor_;  // -2: not opened yet; -1: cannot be
  int io_descriptor_;
};

/// The same for the calling thread, with a clock that lives as long as the thread.
[[nodiscard]] ThreadUsage read_thread_usage();
[[nodiscard]] std::optional<ThreadIo> read_thread_io();

}  // namespace weir
