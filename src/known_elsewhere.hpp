#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <weir/export.hpp>

namespace weir::detail {

/// Where a key that other libraries have is found here, as the rest of a sentence; nullopt for a
/// key that means nothing anywhere.
[[nodiscard]] WEIR_EXPORT std::optional<std::string> known_elsewhere(std::string_view key);

/// The same for the name of an operator, as MindSpore and torchvision have it: `RandomEqualize`.
[[nodiscard]] WEIR_EXPORT std::optional<std::string> operator_elsewhere(std::string_view name);

/// An operator of the plan that this version does not have yet.
[[nodiscard]] WEIR_EXPORT bool planned_operator(std::string_view name);

}  // namespace weir::detail
