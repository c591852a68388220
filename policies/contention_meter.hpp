#pragma once

#include <string>

#include <weir/export.hpp>
#include <weir/observation.hpp>
#include <weir/policy_settings.hpp>

#include "policies/last_second.hpp"

namespace weir::detail {

/// How much of the time in which workers wanted a CPU they had none.
struct CpuWaits {
  double share = 0;       ///< of the time on a CPU and waiting for one: R / (C + R)
  double slot_share = 0;  ///< of all the time that workers held
};
[[nodiscard]] WEIR_EXPORT CpuWaits cpu_waits(const WorkTime& work);

/// Says whether others, too many own workers, or the container's quota took the CPUs in the last
/// second.
///
/// Algorithm: waits for a CPU above the mark; or two throttled periods of the quota; or, only where
/// the kernel does not count waits, involuntary switches per CPU second far above their own
/// baseline. More running workers than CPUs is this process's own doing.
///
/// Thread safety: none.
class WEIR_EXPORT ContentionMeter {
 public:
  explicit ContentionMeter(const PolicySettings& settings) : settings_(settings) {}

  void add(const WorkTime& window, const HostObservation& host);
  [[nodiscard]] bool contended() const { return !by_.empty(); }
  /// others, own or quota; empty: nobody.
  [[nodiscard]] const std::string& by() const { return by_; }

 private:
  [[nodiscard]] bool many_switches(const WorkTime& window, const WorkTime& second);

  PolicySettings settings_;
  LastSecond last_;
  bool waits_are_counted_ = false;
  double switches_baseline_ = 0;  // a CPU second
  double baseline_seconds_ = 0;
  std::string by_;
};

}  // namespace weir::detail
