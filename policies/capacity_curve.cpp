#include "policies/capacity_curve.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

namespace weir::detail {
namespace {

constexpr double kTolerance = 1e-9;
constexpr double kMostError = 0.1;  // of a rate that one level shows
// A curve is flat where so many times more workers than rate are added.
constexpr double kFlat = 4.0;
// Beyond the top level, a slope below this share of the proportional one is noise as likely as not.
constexpr double kFlatSlope = 0.25;
// Neighbouring levels count as different only if both hold: noise of the mean, and a floor for what
// the mean does not show (jitter of timers, windows that mix two levels).
constexpr double kDifferentErrors = 3.0;
constexpr double kDifferentShare = 0.03;

// A run of levels with one service time.
struct Block {
  std::size_t first = 0;
  std::size_t last = 0;
  double running = 0;  // in the middle
  double service = 0;
  double error = 0;   // one standard error, in seconds
  double weight = 0;  // completions
};

Block merged(const Block& a, const Block& b) {
  const double weight = a.weight + b.weight;
  const double error =
      std::sqrt(a.error * a.error * a.weight * a.weight + b.error * b.error * b.weight * b.weight) /
      weight;
  const auto mean = [&](double of_a, double of_b) {
    return (of_a * a.weight + of_b * b.weight) / weight;
  };
  return {a.first, b.last, mean(a.running, b.running), mean(a.service, b.service), error, weight};
}

// How clearly b's service time lies above a's: below 1, they count as one.
double clearness(const Block& a, const Block& b) {
  const double difference = b.service - a.service;
  const double error = std::sqrt(a.error * a.error + b.error * b.error);
  return difference /
         std::max(kDifferentErrors * error, kDifferentShare * std::max(a.service, b.service));
}

// Draws together levels that do not rise, and then those that noise explains, the least clear
// first.
std::vector<Block> pooled(std::span<const Level> levels) {
  std::vector<Block> blocks;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const Level& level = levels[i];
    blocks.push_back({i, i, level.running, level.service_seconds,
                      level.relative_error * level.service_seconds,
                      std::max(level.completions, 1e-3)});
  }
  const std::vector<Block> single = blocks;
  // A long run is drawn together only where its ends agree as well: small steps add up.
  const auto apart = [&](const Block& a, const Block& b) {
    return std::max(clearness(a, b), clearness(single[a.first], single[b.last]));
  };
  while (blocks.size() > 1) {
    std::size_t least = 0;
    for (std::size_t i = 1; i + 1 < blocks.size(); ++i)
      if (apart(blocks[i], blocks[i + 1]) < apart(blocks[least], blocks[least + 1])) least = i;
    if (apart(blocks[least], blocks[least + 1]) >= 1.0) break;
    blocks[least] = merged(blocks[least], blocks[least + 1]);
    blocks.erase(blocks.begin() + static_cast<std::ptrdiff_t>(least) + 1);
  }
  return blocks;
}

}  // namespace

CapacityCurve CapacityCurve::proportional(double service_seconds) {
  CapacityCurve curve;
  if (service_seconds <= 0) return curve;
  curve.points_.emplace_back(1.0, 1.0 / service_seconds);
  curve.last_slope_ = 1.0 / service_seconds;
  return curve;
}

CapacityCurve CapacityCurve::from_levels(std::span<const Level> levels, double service_seconds) {
  const std::vector<Block> blocks = pooled(levels);
  if (blocks.size() < 2) return proportional(service_seconds);
  CapacityCurve curve;
  for (const Block& block : blocks)
    for (std::size_t i = block.first; i <= block.last; ++i) {
      curve.points_.emplace_back(levels[i].running, levels[i].running / block.service);
      curve.errors_.push_back(block.error / block.service);
    }
  const Block& top = blocks.back();
  const Block& below = blocks[blocks.size() - 2];
  const double proportional = 1.0 / top.service;
  const double secant = (top.running / top.service - below.running / below.service) /
                        std::max(top.running - below.running, 1e-6);
  curve.last_slope_ = std::min(secant, secant < kFlatSlope * proportional ? 0.0 : proportional);
  return curve;
}

CapacityCurve CapacityCurve::through(std::vector<std::pair<double, double>> points) {
  CapacityCurve curve;
  curve.points_ = std::move(points);
  // One point alone stands for a proportional curve; a second keeps this one flat.
  if (curve.points_.size() == 1)
    curve.points_.emplace_back(curve.points_.front().first + 1.0, curve.points_.front().second);
  return curve;
}

double CapacityCurve::at(double n) const {
  if (points_.empty() || n <= 0) return 0.0;
  const auto& [n_first, rate_first] = points_.front();
  if (n <= n_first) return rate_first * n / n_first;
  for (std::size_t i = 1; i < points_.size(); ++i) {
    const auto& [a, rate_a] = points_[i - 1];
    const auto& [b, rate_b] = points_[i];
    if (n <= b) return rate_a + (rate_b - rate_a) * (n - a) / std::max(b - a, 1e-6);
  }
  const auto& [n_top, rate_top] = points_.back();
  return std::max(0.0, rate_top + last_slope_ * (n - n_top));
}

double CapacityCurve::workers_for(double rate, double most) const {
  if (points_.empty() || rate <= 0) return 0.0;
  const double enough = rate * (1.0 - kTolerance);
  double a = 0.0;
  double rate_a = 0.0;
  for (std::size_t i = 0; i <= points_.size() && a < most; ++i) {
    const double b = i < points_.size() ? std::min(points_[i].first, most) : most;
    const double rate_b = at(b);
    if (rate_b >= enough) {
      const double rise = rate_b - rate_a;
      return rise > 0 ? std::min(b, a + (b - a) * (rate - rate_a) / rise) : b;
    }
    a = b;
    rate_a = rate_b;
  }
  return std::numeric_limits<double>::infinity();
}

int CapacityCurve::whole_workers_for(double rate, int most) const {
  if (points_.empty() || rate <= 0) return std::min(1, most);
  const double enough = rate * (1.0 - kTolerance);
  const double least = workers_for(rate, most);
  if (!std::isfinite(least)) return 0;
  // Behind a narrow peak the next whole number may be too many.
  for (int n = std::max(1, static_cast<int>(std::ceil(least - 1e-6))); n <= most; ++n)
    if (at(n) >= enough) return n;
  return 0;
}

// The highest of several rates is as likely high by chance.
double CapacityCurve::sure_peak(double most) const {
  double sure = 0;
  for (std::size_t i = 0; i < points_.size() && points_[i].first <= most; ++i) {
    const double error = i < errors_.size() ? std::min(errors_[i], kMostError) : 0.0;
    sure = std::max(sure, points_[i].second * (1.0 - error));
  }
  return sure;
}

double CapacityCurve::peak_workers(double most, double plateau) const {
  double best = most;
  double highest = at(most);
  for (const auto& [n, rate] : points_)
    if (n <= most && (rate > highest * (1.0 + kTolerance) ||
                      (rate >= highest * (1.0 - kTolerance) && n < best))) {
      best = n;
      highest = std::max(highest, rate);
    }
  if (plateau <= 0 || is_proportional()) return best;
  const double fewer = workers_for((1.0 - plateau) * std::min(highest, sure_peak(best)), best);
  return is_flat(fewer, best) ? fewer : best;
}

int CapacityCurve::whole_peak_workers(int most, double plateau) const {
  // Between two points the curve is straight, so that the peak is beside a point or at an end.
  int best = 1;
  const auto try_out = [&](double n) {
    const int whole = static_cast<int>(std::clamp<double>(n, 1, std::max(1, most)));
    const double lead = at(whole) - at(best);
    const double tie = kTolerance * at(best);
    if (lead > tie || (lead >= -tie && whole < best)) best = whole;
  };
  for (const auto& point : points_) {
    try_out(std::floor(point.first));
    try_out(std::ceil(point.first));
  }
  try_out(most);
  if (plateau <= 0 || is_proportional()) return best;
  const int fewer = whole_workers_for((1.0 - plateau) * std::min(at(best), sure_peak(best)), best);
  return fewer > 0 && is_flat(fewer, best) ? fewer : best;
}

bool CapacityCurve::is_flat(double from, double to) const {
  if (from <= 0 || at(from) <= 0) return false;
  return (to - from) / from > kFlat * (at(to) - at(from)) / at(from);
}

}  // namespace weir::detail
