#pragma once

#include <span>

#include <nlohmann/json_fwd.hpp>

#include "src/trial_runner.hpp"
#include "tuner/replay.hpp"
#include "tuner/score.hpp"

namespace weir::program {

/// An array with an object for each score, its measures the medians over the repeats. Requires: one
/// score for each case, in the same order.
[[nodiscard]] nlohmann::ordered_json scores_json(std::span<const detail::Score> scores,
                                                 std::span<const TrialCase> cases);
[[nodiscard]] nlohmann::ordered_json replay_json(const detail::Replay& replay);

}  // namespace weir::program
