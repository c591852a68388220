#pragma once

#include <span>
#include <string>
#include <string_view>

#include <weir/export.hpp>

namespace weir::detail {

/// The one of `known` that `wrong` was probably meant to be, or an empty view when none is close:
/// at most a third of its letters changed.
[[nodiscard]] WEIR_EXPORT std::string_view nearest_name(std::string_view wrong,
                                                        std::span<const std::string_view> known);

/// "; did you mean 'x'?", or "." where none is near: the end of a sentence.
[[nodiscard]] WEIR_EXPORT std::string did_you_mean(std::string_view wrong,
                                                   std::span<const std::string_view> known);

/// "a, b, c".
[[nodiscard]] WEIR_EXPORT std::string listed(std::span<const std::string_view> names);

}  // namespace weir::detail
