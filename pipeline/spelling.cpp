#include <algorithm>
#include <cctype>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <weir/parameters.hpp>

namespace weir {
namespace {

/// Capitals and dashes are no difference worth a step.
std::string folded(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    c = c == '-' || c == ' ' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return result;
}

/// Insertions, deletions, replacements and swaps of neighbours ("optimal string alignment").
std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> above(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) above[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = a[i - 1] == b[j - 1] ? 0 : 1;
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    std::swap(before, above);
    std::swap(above, row);
  }
  return above[b.size()];
}

}  // namespace

std::optional<std::string> nearest_spelling(std::string_view wrong,
                                            std::span<const std::string> names) {
  // A text of this length is no slip of a known name, and would cost its square.
  constexpr std::size_t kLongest = 64;
  if (wrong.empty() || wrong.size() > kLongest) return std::nullopt;
  const std::string given = folded(wrong);
  const std::string* nearest = nullptr;
  std::size_t least = 0;
  for (const std::string& name : names) {
    const std::string candidate = folded(name);
    std::size_t distance = edit_distance(given, candidate);
    // Beginnings and ends are how people shorten names: "interp", "flip".
    const bool part = given.size() >= 3 && candidate.size() > given.size() &&
                      (candidate.starts_with(given) || candidate.ends_with(given));
    const std::size_t most = std::max<std::size_t>(1, std::max(given.size(), candidate.size()) / 3);
    if (part) distance = std::min(distance, most);
    if (distance <= most && (nearest == nullptr || distance < least)) {
      nearest = &name;
      least = distance;
    }
  }
  if (nearest == nullptr) return std::nullopt;
  return *nearest;
}

}  // namespace weir
