#pragma once

#include <map>
#include <string>

namespace weir {

/// What took the CPUs away from the workers over a stretch of time, as the controller saw it. 0
/// where the host does not say.
struct HostFigures {
  /// Of the time in which workers wanted a CPU, they waited for one.
  double cpu_wait_share = 0;
  double switches_per_cpu_second = 0;  ///< involuntary ones
  double throttled_share = 0;          ///< of the periods of the container's quota
  double others_cores = 0;             ///< CPUs that other processes used
  double idle_cores = 0;               ///< CPUs that nobody used
  double cpu_pressure = 0;             ///< of the time, that some task of the host waited for a CPU
  /// By stage: of its workers' time, neither on a CPU nor waiting for one.
  std::map<std::string, double> blocked_shares = {};
  /// By stage: locks or allocator, where its system time went to them in a quarter of the windows.
  std::map<std::string, std::string> hints = {};
  /// Of the time, by whom: others, own or quota.
  std::map<std::string, double> contended_shares = {};
};

}  // namespace weir
