#pragma once

#include <span>
#include <string>
#include <string_view>

#include <weir/export.hpp>

namespace weir::detail {

/// The middle of a message about a wrong word: "; did you mean 'batch'? Known: batch, take" or
/// ". Known: batch, take". `title` stands before the list ("Known", "Allowed").
[[nodiscard]] WEIR_EXPORT std::string suggestion(std::string_view wrong,
                                                 std::span<const std::string> names,
                                                 std::string_view title);
/// The same where the key is known from elsewhere: "; here it is 'workers'. Allowed: ...".
[[nodiscard]] WEIR_EXPORT std::string key_suggestion(std::string_view wrong,
                                                     std::span<const std::string> names,
                                                     std::string_view title);

}  // namespace weir::detail
