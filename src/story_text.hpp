#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "src/decision_story.hpp"

namespace weir::program {

/// At most so many events: where there are more, the first and the last ones stay, and those in
/// between are counted in stretches of time.
[[nodiscard]] std::vector<StoryEvent> condensed(const std::vector<StoryEvent>& events,
                                                std::size_t most);

/// The story for a terminal: at most two screens, lines of 100 columns.
[[nodiscard]] std::string story_text(const Story& story, const std::string& path);

}  // namespace weir::program
