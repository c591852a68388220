#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include <weir/parameters.hpp>

#include "src/yaml_node.hpp"
#include "tuner/scenario.hpp"

namespace weir::detail {

/// The checked keys of one map of a scenario file; those in `nested` are left to the caller. `what`
/// names the map in messages. Throws Error(usage) with the place, what is allowed and the nearest
/// spelling.
[[nodiscard]] Parameters read_scenario_map(const YamlNode& map, const std::string& what,
                                           std::span<const ParameterSpec> specs,
                                           std::initializer_list<const char*> nested = {});

/// What may be written of a stage, without the maps inside it.
[[nodiscard]] std::span<const ParameterSpec> scenario_stage_specs();

/// The list below `stages:`.
[[nodiscard]] std::vector<ScenarioStage> read_scenario_stages(const YamlNode& list);

/// What stands below `consumer:` or `source:`; `what` is that word.
[[nodiscard]] ScenarioFlow read_scenario_flow(const YamlNode& map, const std::string& what);

/// The index of the stage that `node` names. Throws Error(usage) with the nearest name.
[[nodiscard]] int find_scenario_stage(const std::vector<ScenarioStage>& stages,
                                      std::string_view name, const Location& place);

}  // namespace weir::detail
