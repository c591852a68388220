#include "machine/host_counters.hpp"

#include "machine/cgroup.hpp"
#include "machine/system_file.hpp"

#include <string_view>
#include <vector>

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
  return counters;
}

}  // namespace weir
