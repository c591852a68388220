#pragma once

#include <cstdint>
#include <vector>

#include "pipeline/stage.hpp"

namespace weir::detail {

/// What the kernel has counted for one worker's thread, shared out to the stages that it ran since
/// the last reading by their slot time. A reading costs a microsecond or two, so it is made seldom.
///
/// Thread safety: owned by one worker.
class WorkerClocks {
 public:
  /// True when the last reading is old enough for another one.
  [[nodiscard]] bool due() const { return monotonic_now() - read_at_ >= kInterval; }
  /// Reads for the calling thread, which is worker `worker`.
  void read(const std::vector<Stage*>& stages, int worker);

 private:
  static constexpr Nanoseconds kInterval = 5'000'000;

  Nanoseconds read_at_ = 0;
  double cpu_user_seconds_ = 0;
  double cpu_system_seconds_ = 0;
  double run_queue_seconds_ = 0;
  std::uint64_t voluntary_switches_ = 0;
  std::uint64_t involuntary_switches_ = 0;
  std::uint64_t minor_faults_ = 0;
};

}  // namespace weir::detail
