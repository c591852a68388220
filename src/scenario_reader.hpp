#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <weir/export.hpp>

#include "tuner/scenario.hpp"

namespace weir::detail {

/// Reads a scenario file: one scenario for each start that it lists, named after it where there
/// are several. Throws Error (usage) with file:line:column, the value and what is allowed.
[[nodiscard]] WEIR_EXPORT std::vector<Scenario> load_scenarios(const std::string& path);

/// The same from a text; `path` names it in messages, and relative paths in it are beside it.
[[nodiscard]] WEIR_EXPORT std::vector<Scenario> read_scenarios(const std::string& text,
                                                               const std::string& path);

/// The first of load_scenarios(), for a file with one start.
[[nodiscard]] WEIR_EXPORT Scenario load_scenario(const std::string& path);
[[nodiscard]] WEIR_EXPORT Scenario read_scenario(std::string_view text, const std::string& path);

}  // namespace weir::detail
