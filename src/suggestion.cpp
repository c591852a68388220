#include "src/suggestion.hpp"

#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <weir/parameters.hpp>

#include "src/known_elsewhere.hpp"

namespace weir::detail {

std::string suggestion(std::string_view wrong, std::span<const std::string> names,
                       std::string_view title) {
  const std::optional<std::string> near = nearest_spelling(wrong, names);
  const std::string middle = near ? fmt::format("; did you mean '{}'?", *near) : ".";
  if (names.empty()) return fmt::format("{} {}: none", middle, title);
  return fmt::format("{} {}: {}", middle, title, fmt::join(names, ", "));
}

std::string key_suggestion(std::string_view wrong, std::span<const std::string> names,
                           std::string_view title) {
  if (const auto ours = known_elsewhere(wrong))
    return fmt::format("; {}. {}: {}", *ours, title, fmt::join(names, ", "));
  return suggestion(wrong, names, title);
}

}  // namespace weir::detail
