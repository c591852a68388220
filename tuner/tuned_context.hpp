#pragma once

#include <weir/options.hpp>
#include <weir/tuned_plan.hpp>

#include "pipeline/stage_plan.hpp"

namespace weir::detail {

/// This machine, as a tuned file names it.
[[nodiscard]] MachineIdentity identify_machine();

/// These stages, as a tuned file names them.
[[nodiscard]] PipelineIdentity identify_pipeline(const StagePlan& plan, const Options& options);

/// The run of `plan` that wants to use a tuned file.
[[nodiscard]] TunedContext make_tuned_context(const StagePlan& plan, const Options& options,
                                              int budget);

}  // namespace weir::detail
