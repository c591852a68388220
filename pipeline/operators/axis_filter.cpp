#include "pipeline/operators/axis_filter.hpp"

#include <algorithm>
#include <cmath>

namespace weir::detail {
namespace {

/// Keys' cubic convolution.
double cubic(double x, double a) {
  x = std::abs(x);
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return (((x - 5) * x + 8) * x - 4) * a;
  return 0;
}

/// Where a sample of two neighbours lies: the first one, and the share of the second.
double pair_place(AxisKind kind, const AxisPlan& plan, std::int64_t at, std::int64_t& cell) {
  const auto x = static_cast<double>(at);
  double share = 0;
  if (kind == AxisKind::nearest) {
    cell = static_cast<std::int64_t>(std::floor(plan.start + x * plan.step));
  } else if (kind == AxisKind::enlarged_area) {
    const double from = std::floor(x * plan.step);
    share = x + 1 - (from + 1) / plan.step;
    share = share <= 0 ? 0 : share - std::floor(share);
    cell = static_cast<std::int64_t>(plan.start + from);
  } else {
    const double place = plan.start + (x + 0.5) * plan.step - 0.5;
    const double from = std::floor(place);
    share = place - from;
    cell = static_cast<std::int64_t>(from);
  }
  if (cell < plan.low) {
    cell = plan.low;
    return 0;
  }
  if (cell >= plan.high - 1) {
    cell = plan.high - 1;
    return 0;
  }
  return share;
}

bool takes_pairs(AxisKind kind) {
  return kind == AxisKind::nearest || kind == AxisKind::linear || kind == AxisKind::enlarged_area;
}

void make_sum_one(std::vector<double>& weights) {
  double sum = 0;
  for (const double weight : weights) sum += weight;
  if (sum == 0) return;
  for (double& weight : weights) weight /= sum;
}

}  // namespace

AxisKind axis_kind(const Filter& filter, double rows_step, double columns_step) {
  switch (filter.interpolation) {
    case Interpolation::nearest:
      return AxisKind::nearest;
    case Interpolation::linear:
      return filter.antialias ? AxisKind::wide_linear : AxisKind::linear;
    case Interpolation::area:
      return rows_step >= 1 && columns_step >= 1 ? AxisKind::area : AxisKind::enlarged_area;
    case Interpolation::cubic:
      return filter.antialias ? AxisKind::wide_cubic : AxisKind::cubic;
  }
  return AxisKind::linear;
}

double axis_reach(AxisKind kind, double step) {
  switch (kind) {
    case AxisKind::wide_linear:
      return std::max(step, 1.0) + 1;
    case AxisKind::wide_cubic:
      return 2 * std::max(step, 1.0) + 1;
    case AxisKind::cubic:
      return 3;
    case AxisKind::area:
      return step + 1;
    default:
      return 2;
  }
}

std::int64_t axis_weights(AxisKind kind, const AxisPlan& plan, std::int64_t at,
                          std::vector<double>& weights) {
  weights.clear();
  const auto x = static_cast<double>(at);
  const double center = plan.start + (x + 0.5) * plan.step;
  const auto low = static_cast<double>(plan.low);
  const auto high = static_cast<double>(plan.high);
  switch (kind) {
    case AxisKind::area: {
      const double from = std::max(plan.start + x * plan.step, low);
      const double to = std::min(plan.start + (x + 1) * plan.step, high);
      const auto first = static_cast<std::int64_t>(std::floor(from));
      for (auto cell = static_cast<double>(first); cell < to; ++cell)
        weights.push_back(std::min(cell + 1, to) - std::max(cell, from));
      make_sum_one(weights);
      return first;
    }
    case AxisKind::cubic: {
      const double from = std::floor(center - 0.5);
      const double share = center - 0.5 - from;
      // Beyond the region its last cell is repeated.
      const auto first = static_cast<std::int64_t>(std::clamp(from - 1, low, high - 1));
      const auto last = static_cast<std::int64_t>(std::clamp(from + 2, low, high - 1));
      weights.assign(static_cast<std::size_t>(last - first + 1), 0.0);
      for (int k = -1; k <= 2; ++k) {
        const auto cell = static_cast<std::int64_t>(std::clamp(from + k, low, high - 1));
        weights[static_cast<std::size_t>(cell - first)] += cubic(share - k, -0.75);
      }
      return first;
    }
    case AxisKind::wide_linear:
    case AxisKind::wide_cubic: {
      // As ImagingResample of PIL lays them out, counted from the region's first cell.
      const double own = plan.start - low + (x + 0.5) * plan.step;
      const double widened = std::max(plan.step, 1.0);
      const double support = (kind == AxisKind::wide_linear ? 1.0 : 2.0) * widened;
      const auto first = std::max<std::int64_t>(0, static_cast<std::int64_t>(own - support + 0.5));
      const auto last = std::min<std::int64_t>(plan.high - plan.low,
                                               static_cast<std::int64_t>(own + support + 0.5));
      for (std::int64_t cell = first; cell < last; ++cell) {
        const double place = (static_cast<double>(cell) - own + 0.5) / widened;
        weights.push_back(kind == AxisKind::wide_linear ? std::max(0.0, 1.0 - std::abs(place))
                                                        : cubic(place, -0.5));
      }
      make_sum_one(weights);
      return plan.low + first;
    }
    default: {
      std::int64_t cell = 0;
      const double share = pair_place(kind, plan, at, cell);
      weights = {1 - share, share};
      return cell;
    }
  }
}

void AxisFilter::build(AxisKind kind, const AxisPlan& plan) {
  pairs_ = takes_pairs(kind);
  first_.clear();
  places_.clear();
  weights_.clear();
  for (std::int64_t i = 0; i < plan.count; ++i) {
    const std::int64_t at = plan.first + (plan.mirrored ? plan.count - 1 - i : i);
    if (pairs_) {
      std::int64_t cell = 0;
      const double share = pair_place(kind, plan, at, cell);
      add_pair(cell, share);
    } else {
      add_taps(axis_weights(kind, plan, at, shares_));
    }
  }
}

void AxisFilter::add_pair(std::int64_t cell, double share) {
  constexpr double kOne = 1 << kPairBits;
  first_.push_back(static_cast<std::int32_t>(cell));
  weights_.push_back(static_cast<std::int16_t>(std::min(std::lround(share * kOne), 32767L)));
}

void AxisFilter::add_taps(std::int64_t first) {
  constexpr std::int32_t kOne = 1 << kTapBits;
  TapPlace& place = places_.emplace_back();
  place.first = static_cast<std::int32_t>(first);
  place.count = static_cast<std::int32_t>(shares_.size());
  place.weights = static_cast<std::int32_t>(weights_.size());
  std::int32_t sum = 0;
  std::size_t largest = 0;
  for (std::size_t k = 0; k < shares_.size(); ++k) {
    const auto weight = static_cast<std::int32_t>(std::lround(shares_[k] * kOne));
    sum += weight;
    weights_.push_back(static_cast<std::int16_t>(weight));
    if (shares_[k] > shares_[largest]) largest = k;
  }
  // A flat picture stays what it is: the weights add up to one.
  std::int16_t& middle = weights_[static_cast<std::size_t>(place.weights) + largest];
  middle = static_cast<std::int16_t>(middle + kOne - sum);
}

}  // namespace weir::detail
