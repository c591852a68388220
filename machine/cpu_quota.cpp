#include "machine/cpu_quota.hpp"

#include "machine/system_file.hpp"

#include <cstdint>
#include <string_view>

#include <fmt/format.h>

namespace weir::detail {
namespace {

void take_quota(CpuQuota& quota, const std::string& file, std::optional<std::uint64_t> runtime,
                std::optional<std::uint64_t> period, std::vector<std::string>& notes) {
  if (!runtime || !period || *runtime == 0 || *period == 0) {
    notes.push_back(fmt::format("{}: not understood, no quota taken from it", file));
    return;
  }
  const double cpus = static_cast<double>(*runtime) / static_cast<double>(*period);
  if (!quota.cpus || cpus < *quota.cpus) quota = {cpus, file};
}

}  // namespace

CpuQuota find_cpu_quota(const std::string& root, const Cgroups& cgroups,
                        std::vector<std::string>& notes) {
  CpuQuota quota;
  // Version two: "150000 100000" or "max 100000", the quota and the period in microseconds.
  for (const std::string& folder : cgroups.folders(CgroupVersion::two, "cpu")) {
    const std::string file = folder + "/cpu.max";
    const std::optional<std::string> text = read_system_file(root, file);
    if (!text) continue;
    const std::vector<std::string_view> words = split(trimmed(*text), ' ');
    if (words[0] == "max") continue;
    take_quota(quota, file, parse_number(words[0]),
               words.size() == 2 ? parse_number(words[1]) : std::nullopt, notes);
  }
  // Version one: a file each, with -1 for no quota.
  for (const std::string& folder : cgroups.folders(CgroupVersion::one, "cpu")) {
    const std::string file = folder + "/cpu.cfs_quota_us";
    const std::optional<std::string> text = read_system_file(root, file);
    if (!text || trimmed(*text) == "-1") continue;
    const std::optional<std::string> period = read_system_file(root, folder + "/cpu.cfs_period_us");
    take_quota(quota, file, parse_number(*text), period ? parse_number(*period) : std::nullopt,
               notes);
  }
  return quota;
}

}  // namespace weir::detail
