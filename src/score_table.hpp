#pragma once

#include <span>
#include <string>

#include "src/trial_runner.hpp"
#include "tuner/score.hpp"

namespace weir::program {

/// What people read of `weir sim`: a row for each score, each bound that was missed, a row for each
/// policy, and the scenarios in which it lost to another. `judged` is the policy that the bounds
/// are for; what others miss is told in fewer words.
/// Of live runs also how near the simulator comes with the same waits. Requires: one score for each
/// case, in the same order.
[[nodiscard]] std::string scores_text(std::span<const detail::Score> scores,
                                      std::span<const TrialCase> cases, const std::string& judged);

}  // namespace weir::program
