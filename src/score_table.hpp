#pragma once

#include <span>
#include <string>

#include "tuner/score.hpp"

namespace weir::program {

/// What people read of `weir sim`: a row for each score, each bound that was missed, a row for each
/// policy, and the scenarios in which it lost to another. `judged` is the policy that the bounds
/// are for; what others miss is told in fewer words.
[[nodiscard]] std::string scores_text(std::span<const detail::Score> scores,
                                      const std::string& judged);

}  // namespace weir::program
