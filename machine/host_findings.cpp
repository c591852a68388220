#include "machine/host_findings.hpp"

#include "machine/cgroup.hpp"
#include "machine/host_counters.hpp"
#include "machine/system_file.hpp"

#include <charconv>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

namespace weir {
namespace {

/// hwloc and others read cgroup paths into buffers of this size.
constexpr std::size_t kLongPath = 127;

std::optional<double> first_number(const std::optional<std::string>& text) {
  if (!text) return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc{}) return std::nullopt;
  return value;
}

void look_at_governors(const ThreadBudget& budget, const MachineView& view,
                       std::vector<HostFinding>& findings) {
  int slow = 0;
  std::string driver;
  for (const int cpu : budget.mask.cpus()) {
    const std::string folder = fmt::format("/sys/devices/system/cpu/cpu{}/cpufreq", cpu);
    const auto governor = detail::read_system_file(view.root, folder + "/scaling_governor");
    if (!governor || detail::trimmed(*governor) != "powersave") continue;
    ++slow;
    if (const auto text = detail::read_system_file(view.root, folder + "/scaling_driver"))
      driver = detail::trimmed(*text);
  }
  if (slow == 0) return;
  // These drivers still raise the clock under load; the older ones do not.
  const bool adapts = driver == "intel_pstate" || driver.starts_with("amd-pstate");
  findings.push_back(
      {"powersave governor",
       fmt::format("scaling_governor is powersave on {} of {} CPUs (driver {})", slow,
                   budget.mask.size(), driver.empty() ? "not known" : driver),
       adapts ? "the clock rises late with this driver; performance is faster for short work"
              : "the clock stays low: set the governor to performance or schedutil"});
}

void look_at_balancing(int nodes, const MachineView& view, std::vector<HostFinding>& findings) {
  const auto text = detail::read_system_file(view.root, "/proc/sys/kernel/numa_balancing");
  if (nodes < 2 || !text || detail::parse_number(*text).value_or(0) == 0) return;
  findings.push_back(
      {"NUMA balancing",
       "/proc/sys/kernel/numa_balancing is on, the machine has " + std::to_string(nodes) + " nodes",
       "the kernel unmaps pages to see who uses them; workers that are bound to "
       "nodes do not need it"});
}

void look_at_throttling(const MachineView& view, std::vector<HostFinding>& findings) {
  const HostCounters counters = read_host_counters(view.root);
  if (counters.throttled_periods.value_or(0) > 0)
    findings.push_back(
        {"throttling seen",
         fmt::format("the quota stopped this control group in {} of {} periods so far (cpu.stat)",
                     *counters.throttled_periods, counters.quota_periods.value_or(0)),
         "others in the group use it too, or its quota is small; fewer workers, or a higher "
         "quota"});
  std::uint64_t hot = 0;
  for (const char* name : {"core_throttle_count", "package_throttle_count"}) {
    const auto text = detail::read_system_file(
        view.root, std::string("/sys/devices/system/cpu/cpu0/thermal_throttle/") + name);
    if (text) hot += detail::parse_number(*text).value_or(0);
  }
  if (hot > 0)
    findings.push_back({"heat throttling seen",
                        fmt::format("cpu0 was slowed down {} times since the start", hot),
                        "look at the cooling"});
}

void look_at_load(const ThreadBudget& budget, const MachineView& view,
                  std::vector<HostFinding>& findings) {
  const auto load = first_number(detail::read_system_file(view.root, "/proc/loadavg"));
  const auto online = detail::read_system_file(view.root, "/sys/devices/system/cpu/online");
  const std::optional<CpuSet> host = online ? CpuSet::parse(*online) : std::nullopt;
  const int cpus = host && !host->empty() ? host->size() : budget.mask.size();
  // Below half a CPU it is nobody in particular.
  if (!load || *load < 0.5 || *load + budget.threads <= cpus) return;
  findings.push_back({"other load",
                      fmt::format("/proc/loadavg says {:.1f} tasks on {} CPUs", *load, cpus),
                      "what others run takes time from the workers; figures measured now are "
                      "too low"});
}

void look_at_the_path(const MachineView& view, std::vector<HostFinding>& findings) {
  const detail::Cgroups cgroups(view.root);
  for (const detail::CgroupVersion version :
       {detail::CgroupVersion::two, detail::CgroupVersion::one}) {
    const std::vector<std::string> folders = cgroups.folders(version, "cpuset");
    if (folders.empty() || folders.front().size() <= kLongPath) continue;
    findings.push_back({"long control group path",
                        fmt::format("{} characters: {}", folders.front().size(), folders.front()),
                        "weir reads it whole; other programs may believe that every CPU is "
                        "theirs"});
    return;
  }
}

}  // namespace

std::vector<HostFinding> find_host_hindrances(const ThreadBudget& budget, int nodes,
                                              const MachineView& view) {
  std::vector<HostFinding> findings;
  look_at_governors(budget, view, findings);
  look_at_balancing(nodes, view, findings);
  look_at_throttling(view, findings);
  look_at_load(budget, view, findings);
  look_at_the_path(view, findings);
  return findings;
}

}  // namespace weir
