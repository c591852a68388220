#pragma once

#include <string>

#include <weir/export.hpp>
#include <weir/observation.hpp>
#include <weir/policy_settings.hpp>

namespace weir::detail {

/// The most that the stages of `seen` can give by their estimates, and the fewest workers that hold
/// what the consumers ask for.
[[nodiscard]] WEIR_EXPORT Bounds find_bounds(const Observation& seen);

/// One label for the window, the first that fits of:
///   memory        the byte bound is nearly reached and the consumer waits
///   contended     workers wait for a CPU
///   consumer      the consumer has hardly waited for a while
///   source        the first stage finds no input
///   serial:STAGE  a serial stage is always busy
///   device:STAGE  a stage that mostly waits is where more workers in it bring nothing
///   stage:STAGE   the workers are busy, most of all in this stage, or it is at its cap
///   none
[[nodiscard]] WEIR_EXPORT std::string diagnose(const Observation& seen,
                                               const PolicySettings& settings, bool strict);

}  // namespace weir::detail
