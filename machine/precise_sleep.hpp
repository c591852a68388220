#pragma once

#include <weir/export.hpp>

#include <chrono>

namespace weir {

/// Asks the kernel to wake the calling thread as punctually as it can (a timer slack of 1 ns in
/// place of 50 us). False where it refuses: waits are then longer, and measuring them shows it.
WEIR_EXPORT bool use_smallest_timer_slack();

/// Sleeps until `deadline`, through interruptions by signals. A deadline, not a duration: a series
/// of waits then does not drift by the time between them.
WEIR_EXPORT void sleep_until(std::chrono::steady_clock::time_point deadline);

}  // namespace weir
