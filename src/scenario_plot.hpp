#pragma once

#include <span>
#include <string>

#include "src/trial_runner.hpp"
#include "tuner/score.hpp"

namespace weir::program {

/// One HTML page without anything outside of it: for each case the delivered rate against the
/// oracle, the label of each window, and the workers by stage, over time, of its first repeat.
/// Readable in light and dark. Requires: one score for each case, in the same order.
[[nodiscard]] std::string scenario_plot(std::span<const TrialCase> cases,
                                        std::span<const detail::Score> scores);

}  // namespace weir::program
