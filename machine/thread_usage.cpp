#include "machine/thread_usage.hpp"

#include "machine/system_file.hpp"

#include <cerrno>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

namespace weir {
namespace {

constexpr int kNotOpened = -2;
constexpr int kCannotOpen = -1;

std::chrono::nanoseconds duration_of(const timeval& time) {
  return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
}

void open_once(int& descriptor, const std::string& root, std::string_view path) {
  if (descriptor != kNotOpened) return;
  descriptor = ::open(detail::under_root(root, path).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) descriptor = kCannotOpen;
}

/// Reads from the beginning into `buffer`; empty where that is not possible. A descriptor of /proc
/// gives fresh values at each reading from offset 0.
template <std::size_t kSize>
std::string_view read_again(int descriptor, char (&buffer)[kSize]) {
  if (descriptor < 0) return {};
  ssize_t count = 0;
  do {
    count = ::pread(descriptor, buffer, kSize, 0);
  } while (count < 0 && errno == EINTR);
  return {buffer, count > 0 ? static_cast<std::size_t>(count) : 0};
}

ThreadClock& clock_of_this_thread() {
  thread_local ThreadClock clock;
  return clock;
}

}  // namespace

ThreadClock::ThreadClock(std::string root)
    : root_(std::move(root)), schedule_descriptor_(kNotOpened), io_descriptor_(kNotOpened) {}

ThreadClock::~ThreadClock() {
  if (schedule_descriptor_ >= 0) ::close(schedule_descriptor_);
  if (io_descriptor_ >= 0) ::close(io_descriptor_);
}

ThreadUsage ThreadClock::usage() {
  ThreadUsage usage;
  rusage counters{};
  if (::getrusage(RUSAGE_THREAD, &counters) == 0) {
    usage.cpu_user = duration_of(counters.ru_utime);
    usage.cpu_system = duration_of(counters.ru_stime);
    usage.voluntary_switches = static_cast<std::uint64_t>(counters.ru_nvcsw);
    usage.involuntary_switches = static_cast<std::uint64_t>(counters.ru_nivcsw);
    usage.minor_faults = static_cast<std::uint64_t>(counters.ru_minflt);
  }
  // "123456 789 42": time on a CPU, time in the run queue, both in ns, and the number of turns.
  open_once(schedule_descriptor_, root_, "/proc/thread-self/schedstat");
  char buffer[128];
  const std::string_view text = detail::trimmed(read_again(schedule_descriptor_, buffer));
  const std::size_t first = text.find(' ');
  const std::size_t second = first == std::string_view::npos ? first : text.find(' ', first + 1);
  if (second == std::string_view::npos) return usage;
  const auto on_cpu = detail::parse_number(text.substr(0, first));
  const auto delay = detail::parse_number(text.substr(first + 1, second - first - 1));
  if (on_cpu && delay) {
    usage.run_queue_delay = std::chrono::nanoseconds(static_cast<std::int64_t>(*delay));
  }
  return usage;
}

std::optional<ThreadIo> ThreadClock::io() {
  open_once(io_descriptor_, root_, "/proc/thread-self/io");
  char buffer[512];
  const std::string_view text = read_again(io_descriptor_, buffer);
  const auto asked = detail::find_number(text, "rchar");
  const auto disk = detail::find_number(text, "read_bytes");
  if (!asked || !disk) return std::nullopt;
  return ThreadIo{*asked, *disk};
}

ThreadUsage read_thread_usage() { return clock_of_this_thread().usage(); }

std::optional<ThreadIo> read_thread_io() { return clock_of_this_thread().io(); }

}  // namespace weir
