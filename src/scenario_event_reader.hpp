#pragma once

#include <vector>

#include "src/yaml_node.hpp"
#include "tuner/scenario.hpp"

namespace weir::detail {

/// The list below `events:`, ascending in time. `scenario` has what they refer to: the stages of
/// its first process, cores, workers and duration. Throws Error(usage) with the place.
[[nodiscard]] std::vector<ScenarioEvent> read_scenario_events(const YamlNode& list,
                                                              const Scenario& scenario);

}  // namespace weir::detail
