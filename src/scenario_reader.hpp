#pragma once

#include <string>
#include <string_view>

#include <weir/export.hpp>

#include "tuner/scenario.hpp"

namespace weir::detail {

/// Reads a scenario file. Throws Error (usage) with file:line:column, the value and what is
/// allowed.
[[nodiscard]] WEIR_EXPORT Scenario load_scenario(const std::string& path);

/// The same from a text; `path` names it in messages, and relative paths in it are beside it.
[[nodiscard]] WEIR_EXPORT Scenario read_scenario(std::string_view text, const std::string& path);

}  // namespace weir::detail
