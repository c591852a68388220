#pragma once

#include "machine/cgroup.hpp"

#include <optional>
#include <string>
#include <vector>

namespace weir::detail {

/// The CPU quota that binds: the smallest of the own cgroup and its visible ancestors. Shares and
/// weights are no quota and do not count.
struct CpuQuota {
  std::optional<double> cpus;  ///< nullopt: none known
  std::string file;            ///< the file that says so
};

/// Files that hold something unexpected are passed over, with a line in `notes`.
[[nodiscard]] CpuQuota find_cpu_quota(const std::string& root, const Cgroups& cgroups,
                                      std::vector<std::string>& notes);

}  // namespace weir::detail
