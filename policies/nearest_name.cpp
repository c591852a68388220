#include "policies/nearest_name.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace weir::detail {
namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string_view nearest_name(std::string_view wrong, std::span<const std::string_view> known) {
  std::string_view best;
  std::size_t least = std::max<std::size_t>(2, wrong.size() / 3) + 1;
  for (std::string_view name : known) {
    const std::size_t distance = edit_distance(wrong, name);
    if (distance < least && distance < name.size()) {
      least = distance;
      best = name;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view wrong, std::span<const std::string_view> known) {
  const std::string_view nearest = nearest_name(wrong, known);
  return nearest.empty() ? std::string(".") : "; did you mean '" + std::string(nearest) + "'?";
}

std::string listed(std::span<const std::string_view> names) {
  std::string text;
  for (std::string_view name : names) {
    if (!text.empty()) text += ", ";
    text += name;
  }
  return text;
}

}  // namespace weir::detail
