#pragma once

#include <weir/cpu_set.hpp>
#include <weir/export.hpp>

#include <functional>
#include <optional>
#include <string>

namespace weir {

/// Looks up one environment variable; nullopt where it is not set.
using EnvironmentLookup = std::function<std::optional<std::string>(const std::string& name)>;

/// The environment of this process.
[[nodiscard]] WEIR_EXPORT EnvironmentLookup process_environment();

/// The CPUs on which the calling thread may run (sched_getaffinity); empty if the kernel refuses to
/// tell, which no known system does.
[[nodiscard]] WEIR_EXPORT CpuSet thread_affinity();

/// What the readers of this folder look at: everything that can differ between a recorded machine
/// in a test and the one underneath.
///
/// **Thread safety**: a value; the two functions must be callable from any thread.
struct MachineView {
  std::string root = "/";  ///< the folder in which `proc` and `sys` lie
  EnvironmentLookup environment = process_environment();
  std::function<CpuSet()> affinity = thread_affinity;
};

}  // namespace weir
