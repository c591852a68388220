#include "machine/host_counters.hpp"

#include "machine/cgroup.hpp"
#include "machine/system_file.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include <unistd.h>

namespace weir {
namespace {

template <class Value>
void add_to(std::optional<Value>& sum, Value value) {
  sum = sum.value_or(Value{}) + value;
}

void add_throttling(HostCounters& counters, std::string_view text) {
  using std::chrono::microseconds;
  using std::chrono::nanoseconds;
  if (const auto periods = detail::find_number(text, "nr_periods")) {
    add_to(counters.quota_periods, *periods);
  }
  if (const auto throttled = detail::find_number(text, "nr_throttled")) {
    add_to(counters.throttled_periods, *throttled);
  }
  // Version two counts in microseconds, version one in nanoseconds.
  if (const auto time = detail::find_number(text, "throttled_usec")) {
    add_to(counters.throttled_time, nanoseconds(microseconds(static_cast<std::int64_t>(*time))));
  } else if (const auto old_time = detail::find_number(text, "throttled_time")) {
    add_to(counters.throttled_time, nanoseconds(static_cast<std::int64_t>(*old_time)));
  }
}

/// "some avg10=0.36 avg60=0.91 avg300=0.71 total=4343369".
std::optional<std::chrono::microseconds> pressure_total(std::string_view text) {
  const auto some = detail::find_field(text, "some");
  if (!some) return std::nullopt;
  constexpr std::string_view kTotal = "total=";
  for (const std::string_view word : detail::split(*some, ' ')) {
    if (!word.starts_with(kTotal)) continue;
    const auto total = detail::parse_number(word.substr(kTotal.size()));
    if (total) return std::chrono::microseconds(static_cast<std::int64_t>(*total));
  }
  return std::nullopt;
}

// Clock ticks of /proc/stat and /proc/self/stat.
std::chrono::nanoseconds ticks(std::uint64_t count) {
  const long per_second = ::sysconf(_SC_CLK_TCK);
  const double seconds = static_cast<double>(count) / static_cast<double>(std::max(1L, per_second));
  return std::chrono::nanoseconds(static_cast<std::int64_t>(seconds * 1e9));
}

/// "cpu  user nice system idle iowait irq softirq steal guest guest_nice": guest time is already in
/// user time; stolen time is not ours to use, so it counts as used.
void read_host_cpu(HostCounters& counters, std::string_view text) {
  constexpr std::size_t kIdle = 3;
  constexpr std::size_t kWaiting = 4;
  constexpr std::size_t kFields = 8;
  int cpus = 0;
  for (const std::string_view line : detail::lines_of(text)) {
    if (!line.starts_with("cpu")) continue;
    if (!line.starts_with("cpu ")) {
      ++cpus;
      continue;
    }
    std::uint64_t used = 0;
    std::size_t field = 0;
    for (const std::string_view word : detail::split(line.substr(4), ' ')) {
      if (word.empty()) continue;
      const auto number = detail::parse_number(word);
      if (!number) return;
      if (field != kIdle && field != kWaiting && field < kFields) used += *number;
      ++field;
    }
    if (field < kWaiting) return;
    counters.host_cpu = ticks(used);
  }
  if (cpus > 0) counters.host_cpus = cpus;
}

/// Fields 14 and 15 of /proc/self/stat, counted behind the name, which may hold spaces.
std::optional<std::chrono::nanoseconds> process_cpu(std::string_view text) {
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string_view::npos) return std::nullopt;
  constexpr std::size_t kUser = 11;
  const std::vector<std::string_view> words =
      detail::split(detail::trimmed(text.substr(name_end + 1)), ' ');
  if (words.size() <= kUser + 1) return std::nullopt;
  const auto user = detail::parse_number(words[kUser]);
  const auto system = detail::parse_number(words[kUser + 1]);
  if (!user || !system) return std::nullopt;
  return ticks(*user + *system);
}

void read_memory(HostCounters& counters, const std::string& root, const detail::Cgroups& cgroups) {
  struct Names {
    detail::CgroupVersion version;
    const char* used;
    const char* limit;
  };
  constexpr Names kNames[] = {
      {detail::CgroupVersion::two, "/memory.current", "/memory.max"},
      {detail::CgroupVersion::one, "/memory.usage_in_bytes", "/memory.limit_in_bytes"}};
  // Version one writes "no limit" as the largest page-aligned number.
  constexpr std::uint64_t kUnlimited = std::uint64_t{1} << 62;
  for (const Names& names : kNames) {
    for (const std::string& folder : cgroups.folders(names.version, "memory")) {
      const auto number = [&](const char* file) -> std::optional<std::uint64_t> {
        const auto text = detail::read_system_file(root, folder + file);
        return text ? detail::parse_number(*text) : std::nullopt;
      };
      // The own cgroup comes first.
      if (!counters.memory_bytes) counters.memory_bytes = number(names.used);
      const auto limit = number(names.limit);
      if (limit && *limit > 0 && *limit < kUnlimited)
        counters.memory_limit_bytes =
            std::min(counters.memory_limit_bytes.value_or(*limit), *limit);
    }
  }
}

}  // namespace

HostCounters read_host_counters(const std::string& root) {
  HostCounters counters;
  const detail::Cgroups cgroups(root);
  for (const detail::CgroupVersion version :
       {detail::CgroupVersion::two, detail::CgroupVersion::one}) {
    for (const std::string& folder : cgroups.folders(version, "cpu")) {
      const auto text = detail::read_system_file(root, folder + "/cpu.stat");
      if (text) add_throttling(counters, *text);
    }
  }
  if (const auto text = detail::read_system_file(root, "/proc/pressure/cpu")) {
    counters.cpu_pressure = pressure_total(*text);
  }
  if (const auto text = detail::read_system_file(root, "/proc/pressure/memory")) {
    counters.memory_pressure = pressure_total(*text);
  }
  if (const auto text = detail::read_system_file(root, "/proc/stat")) {
    read_host_cpu(counters, *text);
  }
  if (const auto text = detail::read_system_file(root, "/proc/self/stat")) {
    counters.process_cpu = process_cpu(*text);
  }
  read_memory(counters, root, cgroups);
  return counters;
}

}  // namespace weir
