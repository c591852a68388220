#pragma once

#include <weir/export.hpp>
#include <weir/tuning.hpp>

#include "tuner/scenario.hpp"
#include "tuner/simulation.hpp"
#include "tuner/timetable.hpp"

namespace weir::detail {

/// How a trial tunes its process number `process`, the start included: where the scenario asks for
/// one, the first process begins with its tuned file, by the table of loading that loaders use; the
/// file's machine counts as this one when its budget is N. `even` and `share` have no start but
/// their own. Throws Error (usage) when the tuned file cannot be used.
[[nodiscard]] WEIR_EXPORT TuningOptions tuning_of(const Scenario& scenario,
                                                  const TrialOptions& options,
                                                  const Timetable& timetable, int process);

}  // namespace weir::detail
