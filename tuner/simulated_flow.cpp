#include "tuner/simulated_flow.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace weir::detail {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::int64_t kManyItems = std::int64_t{1} << 20;
constexpr double kLeastKept = 64;    // items that a source keeps in any case
constexpr double kRounding = 1e-12;  // of a period: sums of steps end a little before or after it

bool comes_in_bursts(const ScenarioFlow& flow) {
  return flow.period_seconds > 0 && flow.duty > 0 && flow.duty < 1;
}

}  // namespace

double next_flowing(const ScenarioFlow& flow, double seconds) {
  if (!comes_in_bursts(flow)) return seconds;
  const double periods = seconds / flow.period_seconds;
  const double whole = std::floor(periods + kRounding);
  if (periods - whole < flow.duty - kRounding) return seconds;
  return std::max(seconds, (whole + 1.0) * flow.period_seconds);
}

double seconds_between(const ScenarioFlow& flow) {
  if (flow.per_second <= 0) return 0;
  return (comes_in_bursts(flow) ? flow.duty : 1.0) / flow.per_second;
}

double SimulatedSource::given_until(double seconds) const {
  if (!comes_in_bursts(flow_)) return flow_.per_second * seconds;
  const double periods = seconds / flow_.period_seconds;
  const double whole = std::floor(periods);
  const double part = std::min(periods - whole, flow_.duty) / flow_.duty;
  return flow_.per_second * flow_.period_seconds * (whole + part);
}

void SimulatedSource::set_flow(const ScenarioFlow& flow, double now) {
  advance_to(now);
  if (unlimited()) ready_ = 0;
  flow_ = flow;
  advance_to(now);
  foresee();
}

void SimulatedSource::set_group(int items, double now) {
  advance_to(now);
  group_ = std::max(items, 1);
  foresee();
}

void SimulatedSource::advance_to(double now) {
  if (unlimited()) {
    now_ = now;
    return;
  }
  if (now <= now_) return;
  if (ready_ < group_) empty_seconds_ += std::min(now, ready_at_) - std::min(now_, ready_at_);
  ready_ += given_until(now) - given_until(now_);
  if (now >= ready_at_) ready_ = std::max(ready_, group_);  // whatever rounding says
  ready_ =
      std::min(ready_, std::max({kLeastKept, 2 * group_, flow_.per_second * flow_.period_seconds}));
  now_ = now;
}

std::uint64_t SimulatedSource::take(std::uint64_t most) {
  std::uint64_t taken = most;
  if (!unlimited()) {
    taken = std::min(taken, static_cast<std::uint64_t>(ready_ / group_));
    ready_ -= group_ * static_cast<double>(taken);
  }
  next_ += taken;
  foresee();
  return taken;
}

void SimulatedSource::foresee() {
  ready_at_ = now_;
  if (has_group()) return;
  // When the missing part of a group will have come, over as many bursts as that takes.
  double missing = group_ - ready_;
  double at = next_flowing(flow_, now_);
  const double each = seconds_between(flow_);
  if (comes_in_bursts(flow_)) {
    const double in_burst = flow_.per_second * flow_.period_seconds;
    const double whole = std::floor(at / flow_.period_seconds + kRounding);
    const double end = (whole + flow_.duty) * flow_.period_seconds;
    const double in_this = std::max(0.0, end - at) / each;
    if (in_this < missing) {
      missing -= in_this;
      const double skipped = std::floor(missing / in_burst);
      at = (whole + 1.0 + skipped) * flow_.period_seconds;
      missing -= skipped * in_burst;
    }
  }
  ready_at_ = at + missing * each;
}

std::int64_t SimulatedSource::waiting() const {
  if (unlimited()) return kManyItems;
  return static_cast<std::int64_t>(std::min(ready_, static_cast<double>(kManyItems)));
}

double SimulatedSource::next_event() const { return has_group() ? kInfinity : ready_at_; }

}  // namespace weir::detail
