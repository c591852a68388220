#pragma once

#include <weir/export.hpp>

#include "tuner/scenario.hpp"
#include "tuner/simulation.hpp"

namespace weir::detail {

/// Runs a scenario once on the live runtime, on a pool of as many workers as it says, more than the
/// machine has or not. Timed waits stand in for the stages of either kind, so that many workers
/// need few cores.
///
/// Waits under 4 ms are not punctual enough: all times are multiplied so that the shortest is 4 ms,
/// rates divided likewise, and the times of events and the duration stretched as far as the whole
/// stays under a minute (Trial::time_scale says by how much the stages were slowed). Rates in the
/// result are those of the run, not scaled back. The oracle uses the waits that really happened,
/// measured in each stage, and Trial::simulated_per_second is the simulator's rate with the same.
///
/// Throws Error (cannot) for what waits cannot stand in for: several processes, cores that
/// neighbours take, a quota, another budget on the way, a source with a rate, a batch size that
/// changes.
[[nodiscard]] WEIR_EXPORT Trial run_live(const Scenario& scenario, const TrialOptions& options);

}  // namespace weir::detail
