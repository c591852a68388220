#include "policies/usl_fit.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

namespace weir::detail {
namespace {

constexpr std::size_t kLeastLevels = 4;
constexpr std::size_t kTerms = 3;

using Row = std::array<double, kTerms + 1>;

// Gauss with the largest pivot; false where the rows do not determine the terms.
bool solve(std::array<Row, kTerms>& rows) {
  for (std::size_t column = 0; column < kTerms; ++column) {
    std::size_t pivot = column;
    for (std::size_t r = column + 1; r < kTerms; ++r)
      if (std::abs(rows[r][column]) > std::abs(rows[pivot][column])) pivot = r;
    if (std::abs(rows[pivot][column]) < 1e-12) return false;
    std::swap(rows[pivot], rows[column]);
    for (std::size_t r = 0; r < kTerms; ++r) {
      if (r == column) continue;
      const double factor = rows[r][column] / rows[column][column];
      for (std::size_t c = column; c <= kTerms; ++c) rows[r][c] -= factor * rows[column][c];
    }
  }
  for (std::size_t r = 0; r < kTerms; ++r) rows[r][kTerms] /= rows[r][r];
  return true;
}

}  // namespace

double UslFit::peak() const {
  return coherence > 0 ? std::sqrt(std::max(0.0, 1.0 - contention) / coherence)
                       : std::numeric_limits<double>::infinity();
}

std::optional<UslFit> fit_usl(std::span<const Level> levels) {
  if (levels.size() < kLeastLevels) return std::nullopt;
  // The service time at n is s (1 + a (n - 1) + b n (n - 1)): linear in s, s a and s b. Errors are
  // relative, so each level counts by the inverse square of its time.
  std::array<Row, kTerms> rows{};
  for (const Level& level : levels) {
    if (!(level.service_seconds > 0)) return std::nullopt;
    const double n = level.running;
    const std::array<double, kTerms> x = {1.0, n - 1.0, n * (n - 1.0)};
    const double weight = 1.0 / (level.service_seconds * level.service_seconds);
    for (std::size_t r = 0; r < kTerms; ++r) {
      for (std::size_t c = 0; c < kTerms; ++c) rows[r][c] += weight * x[r] * x[c];
      rows[r][kTerms] += weight * x[r] * level.service_seconds;
    }
  }
  if (!solve(rows) || !(rows[0][kTerms] > 0)) return std::nullopt;
  UslFit fit;
  fit.contention = std::max(0.0, rows[1][kTerms] / rows[0][kTerms]);
  fit.coherence = std::max(0.0, rows[2][kTerms] / rows[0][kTerms]);
  return fit;
}

}  // namespace weir::detail
