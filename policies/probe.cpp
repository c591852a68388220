#include "policies/probe.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "policies/usl_fit.hpp"

namespace weir::detail {
namespace {

constexpr double kForever = std::numeric_limits<double>::infinity();
constexpr double kMemorySeconds = 2.0;
constexpr double kFirstSeconds = 0.5;  // of quiet before the first one after a change
constexpr double kJitter = 0.5;
constexpr double kGoldenRatio = 0.6180339887498949;
// Levels below this share of the present one show what fewer workers bring.
constexpr double kClearlyFewer = 0.3;
constexpr double kDropFactor = 2;  // in an item's time from one level to the next
constexpr double kTolerance = 1e-6;
constexpr int kMostTries = 12;
constexpr double kBlockedShare = 0.5;  // of a stage's time, from which it waits for something
constexpr int kLeastWorkers = 3;       // to try fewer of
constexpr double kPaidShare = 0.3;     // of what one more worker brings to a linear stage

// Two levels with nothing seen between them, where items took far longer at the upper one: the
// peak may lie in between, if the lower one would lead above all that was seen.
struct Gap {
  int low = 0;
  int high = 0;
};

std::optional<Gap> unseen_gap(const std::vector<Level>& levels, double plateau) {
  double best = 0;
  for (const Level& level : levels)
    if (level.service_seconds > 0) best = std::max(best, level.running / level.service_seconds);
  for (std::size_t i = 1; i < levels.size(); ++i) {
    const Level& low = levels[i - 1];
    const Level& high = levels[i];
    const Gap gap{static_cast<int>(std::lround(low.running)),
                  static_cast<int>(std::lround(high.running))};
    if (low.service_seconds <= 0 || gap.high - gap.low < 2) continue;
    // As the lower level leads on from the one before it, and from nothing at all.
    const double at_low = low.running / low.service_seconds;
    double slope = 1.0 / low.service_seconds;
    if (i >= 2 && levels[i - 2].service_seconds > 0) {
      const Level& before = levels[i - 2];
      slope = std::min(slope, (at_low - before.running / before.service_seconds) /
                                  std::max(low.running - before.running, kTolerance));
    }
    const double straight = at_low + slope * (gap.high - 1 - low.running);
    if (high.service_seconds > kDropFactor * low.service_seconds &&
        straight > (1.0 + plateau) * best)
      return gap;
  }
  return std::nullopt;
}

// The stage that the label names, the busiest of that name.
std::size_t labelled_stage(const Observation& seen) {
  const std::size_t colon = seen.label.find(':');
  std::size_t found = seen.stages.size();
  if (colon == std::string::npos || seen.label.compare(0, colon, "serial") == 0) return found;
  for (std::size_t i = 0; i < seen.stages.size(); ++i)
    if (seen.label.compare(colon + 1, std::string::npos, seen.stages[i].name) == 0 &&
        (found == seen.stages.size() ||
         seen.stages[i].running_mean > seen.stages[found].running_mean))
      found = i;
  return found;
}

}  // namespace

Probe::Probe(const PolicySettings& settings)
    : settings_(settings),
      peak_(settings.plateau),
      before_(kMemorySeconds),
      during_(kForever),
      after_(kForever) {
  reset();
}

void Probe::reset() {
  phase_ = Phase::none;
  before_.clear();
  quiet_seconds_ = 0;
  wait_seconds_ = kFirstSeconds;
}

// Evenly spread, and never in step with another controller that began at another time.
void Probe::put_off() {
  const double turn = kGoldenRatio * ++count_;
  wait_seconds_ = settings_.probe_seconds * (1.0 + kJitter * (turn - std::floor(turn) - 0.5));
  quiet_seconds_ = 0;
}

Probe::Trial Probe::trial(const Observation& seen, std::size_t stage, bool doubtful) const {
  const StageObservation& own = seen.stages[stage];
  if (own.serial || own.fixed_workers > 0) return {};
  const int now = static_cast<int>(std::lround(own.running_mean));
  const std::vector<Level>& levels = own.estimate.levels;
  if (const std::optional<Gap> gap =
          surveyed_ ? std::nullopt : unseen_gap(levels, settings_.plateau)) {
    const int between = (gap->low + gap->high) / 2;
    if (between > gap->low && between != now && (own.hand_cap == 0 || between <= own.hand_cap))
      return {between, Kind::between, gap->low, gap->high};
  }
  // Workers that wait for something may as well wait for one another.
  const bool below_unknown = may_try_fewer_ && (doubtful || own.blocked_share >= kBlockedShare) &&
                             now >= kLeastWorkers &&
                             (levels.empty() || levels.front().running > kClearlyFewer * now);
  const int cap = seen.current.stages[stage].cap;
  const bool others_idle = seen.active < seen.budget ||
                           seen.work.running_seconds < 0.9 * seen.active * seen.window_seconds;
  const bool above_unknown = !seen.current.strict && others_idle && cap <= now &&
                             cap < seen.budget && (own.hand_cap == 0 || cap < own.hand_cap) &&
                             (levels.empty() || levels.back().running < now + 0.75);
  const Trial fewer{std::max(1, now / 2), Kind::fewer, 0, now};
  const Trial more{now + 1, Kind::one_more, now, now + 2};
  if (below_unknown && above_unknown) {
    const std::optional<UslFit> fit = fit_usl(levels);
    return fit && fit->peak() > now ? more : fewer;
  }
  return below_unknown ? fewer : above_unknown ? more : Trial{};
}

// More workers in the stage show nothing while the other stages cannot follow it.
std::optional<Allocation> Probe::with(const Observation& seen, int workers) const {
  Allocation made = original_;
  const double per_second = workers / seen.stages[stage_].estimate.demand_seconds;
  const bool more = workers > from_;
  double needed = 0;
  double total = 0;
  for (std::size_t i = 0; i < made.stages.size(); ++i) {
    StageAllocation& each = made.stages[i];
    const StageObservation& stage = seen.stages[i];
    const double need = per_second * stage.estimate.demand_seconds;
    needed += need;
    if (made.strict && i == stage_) each.target = workers;
    if (made.strict && more && i != stage_ && !stage.serial && stage.fixed_workers == 0)
      each.target = std::max(1.0, std::ceil(need - kTolerance));
    total += each.target;
  }
  StageAllocation& own = made.stages[stage_];
  if (made.strict) {
    if (total > seen.budget) return std::nullopt;
    made.active = std::max(1, static_cast<int>(std::lround(total)));
    return made;
  }
  own.cap = workers;
  own.target = std::min<double>(own.target, workers);
  if (more && trial_.kind == Kind::between)
    made.active = std::clamp(static_cast<int>(std::ceil(needed)), made.active, seen.budget);
  return made;
}

std::optional<Allocation> Probe::begin(const Observation& seen, bool doubtful) {
  before_.add(seen);
  quiet_seconds_ += seen.window_seconds;
  if (quiet_seconds_ < wait_seconds_ || seen.contended) return std::nullopt;
  const std::size_t stage = labelled_stage(seen);
  if (stage >= seen.stages.size() || stage >= seen.current.stages.size() ||
      seen.current.stages[stage].group >= 0 || !seen.stages[stage].estimate.trusted ||
      !(seen.stages[stage].estimate.demand_seconds > 0))
    return std::nullopt;
  trial_ = trial(seen, stage, doubtful);
  const int to = trial_.workers;
  if (to == 0) return std::nullopt;
  stage_ = stage;
  from_ = static_cast<int>(std::lround(seen.stages[stage].running_mean));
  to_ = to;
  original_ = seen.current;
  const std::optional<Allocation> tried = with(seen, to);
  if (!tried) return std::nullopt;
  probed_ = *tried;
  windows_ = 0;
  during_.clear();
  after_.clear();
  tries_ = 0;
  lowest_ = to;
  peak_.clear();
  if (trial_.kind == Kind::between) {
    for (const Level& level : seen.stages[stage].estimate.levels)
      if (level.service_seconds > 0)
        peak_.add(static_cast<int>(std::lround(level.running)),
                  level.running / level.service_seconds, level.relative_error);
  } else {
    note_rate(from_, before_, seen);
  }
  phase_ = Phase::on;
  reason_ = fmt::format("nobody has seen {} with {} workers: try it", seen.stages[stage].name, to);
  return probed_;
}

void Probe::note_rate(int workers, const RateMeter& meter, const Observation& seen) {
  const RateMeter::Rate rate = meter.rate(seen, stage_);
  peak_.add(workers, rate.items_per_second, rate.relative_error);
}

bool Probe::paid(const Observation& seen) {
  const double with = during_.rate(seen, stage_).items_per_second;
  const double without = 0.5 * (before_.rate(seen, stage_).items_per_second +
                                after_.rate(seen, stage_).items_per_second);
  if (without <= 0) return false;
  const double ratio = with / without;
  reason_ = fmt::format("{} with {} workers instead of {} gave {:+.1f}%", seen.stages[stage_].name,
                        to_, from_, 100 * (ratio - 1.0));
  return ratio >= 1.0 + std::max(settings_.plateau, kPaidShare / from_);
}

int Probe::next_of_survey() const {
  if (trial_.kind == Kind::one_more || tries_ >= kMostTries) return 0;
  if (trial_.kind == Kind::fewer && lowest_ > 1) return lowest_ / 2;
  const std::optional<int> next = peak_.next();
  return next && *next > trial_.low && *next < trial_.high ? *next : 0;
}

Probe::Step Probe::advance(const Observation& seen) {
  (phase_ == Phase::on ? during_ : after_).add(seen);
  if (++windows_ < settings_.probe_windows) return Step::wait;
  windows_ = 0;
  if (phase_ == Phase::on) {
    if (trial_.kind != Kind::one_more) note_rate(to_, during_, seen);
    const int next = next_of_survey();
    const std::optional<Allocation> tried = next > 0 ? with(seen, next) : std::nullopt;
    if (tried) {
      during_.clear();
      to_ = next;
      lowest_ = std::min(lowest_, next);
      ++tries_;
      probed_ = *tried;
      reason_ = fmt::format("the same with {}", to_);
      return Step::next;
    }
    phase_ = Phase::off;
    return Step::back;
  }
  phase_ = Phase::none;
  put_off();
  if (trial_.kind != Kind::one_more) {
    if (trial_.kind == Kind::fewer) may_try_fewer_ = false;
    if (trial_.kind == Kind::between) surveyed_ = true;
    reason_ =
        trial_.kind == Kind::fewer
            ? fmt::format("{} was seen with {} workers and fewer", seen.stages[stage_].name, from_)
            : fmt::format("{} was seen between two levels", seen.stages[stage_].name);
    return Step::over;
  }
  return paid(seen) ? Step::adopt : Step::over;
}

}  // namespace weir::detail
