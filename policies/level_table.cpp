#include "policies/level_table.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace weir::detail {

// Whole numbers up to 16; above, steps of a sixteenth to an eighth, so that the table stays small
// and each entry gets its share of the observations.
int level_key(double running) {
  const int whole = std::max(1, static_cast<int>(std::lround(running)));
  if (whole <= 16) return whole;
  const int octave = std::bit_width(static_cast<unsigned>(whole)) - 1;
  const int step = 1 << (octave - 3);
  return (whole + step / 2) / step * step;
}

void LevelTable::add(double running, double items, double sum, double squares, double independent,
                     double alpha) {
  if (items <= 0) return;
  Entry& entry = levels_[level_key(running)];
  entry.running.add(1.0, std::max(1.0, running), 0.0, 1.0, alpha);
  entry.service.add(items, sum, squares, independent, alpha);
}

Level LevelTable::Entry::level() const {
  return {running.mean(), service.mean(), service.relative_error(), service.effective()};
}

std::vector<Level> LevelTable::levels() const {
  std::vector<Level> all;
  all.reserve(levels_.size());
  for (const auto& [key, entry] : levels_) all.push_back(entry.level());
  return all;
}

std::optional<Level> LevelTable::near(double running, double least) const {
  const auto found = levels_.find(level_key(running));
  if (found == levels_.end() || found->second.service.effective() < least) return std::nullopt;
  return found->second.level();
}

}  // namespace weir::detail
