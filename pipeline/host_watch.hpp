#pragma once

#include <utility>

#include <weir/machine_view.hpp>
#include <weir/telemetry.hpp>

namespace weir::detail {

/// Reads what the host says, at most twice a second however often it is asked.
///
/// Thread safety: none; the caller's lock covers it.
class HostWatch {
 public:
  explicit HostWatch(MachineView view) : view_(std::move(view)) {}

  [[nodiscard]] const HostSnapshot& read(double now_seconds);

 private:
  static constexpr double kIntervalSeconds = 0.5;

  const MachineView view_;
  HostSnapshot last_;
};

}  // namespace weir::detail
