#pragma once

#include <span>

#include <nlohmann/json_fwd.hpp>

#include "tuner/score.hpp"

namespace weir::program {

/// An array with an object for each score, its measures the medians over the repeats.
[[nodiscard]] nlohmann::ordered_json scores_json(std::span<const detail::Score> scores);

}  // namespace weir::program
