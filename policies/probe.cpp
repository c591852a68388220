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
constexpr double kUnseenWorkers = 2;  // between two levels, from which one lies in between
constexpr double kDropFactor = 2;     // in an item's time from one level to the next
constexpr int kMostTries = 12;
constexpr int kLeastWorkers = 3;    // to try fewer of
constexpr double kPaidShare = 0.3;  // of what one more worker brings to a linear stage

// Fewer workers gave more than the present ones' neighbours below, and nobody looked in between:
// the peak may lie there.
bool falls_unseen(const std::vector<Level>& levels, double now, double plateau) {
  for (std::size_t i = 1; i < levels.size(); ++i) {
    const Level& low = levels[i - 1];
    const Level& high = levels[i];
    if (high.running > now + 0.5 || high.running - low.running < kUnseenWorkers) continue;
    if (low.service_seconds <= 0 || high.service_seconds <= 0) continue;
    // The more that the lower level would give on the way up if it went on in a straight line.
    const double straight = (high.running - 1) / low.service_seconds;
    if (high.service_seconds > kDropFactor * low.service_seconds &&
        straight > (1.0 + plateau) * now / levels.back().service_seconds)
      return true;
  }
  return false;
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

int Probe::workers_to_try(const Observation& seen, std::size_t stage, bool doubtful) const {
  const StageObservation& own = seen.stages[stage];
  if (own.serial || own.fixed_workers > 0) return 0;
  const int now = static_cast<int>(std::lround(own.running_mean));
  const std::vector<Level>& levels = own.estimate.levels;
  const bool below_unknown = may_try_fewer_ && doubtful && now >= kLeastWorkers &&
                             (levels.empty() || levels.front().running > kClearlyFewer * now);
  const bool peak_unknown = !surveyed_ && now >= kLeastWorkers &&
                            falls_unseen(levels, own.running_mean, settings_.plateau);
  const int cap = seen.current.stages[stage].cap;
  const bool others_idle = seen.active < seen.budget ||
                           seen.work.running_seconds < 0.9 * seen.active * seen.window_seconds;
  const bool above_unknown = !seen.current.strict && others_idle && cap <= now &&
                             cap < seen.budget && (own.hand_cap == 0 || cap < own.hand_cap) &&
                             (levels.empty() || levels.back().running < now + 0.75);
  const int fewer = std::max(1, now / 2);
  if (below_unknown && above_unknown) {
    const std::optional<UslFit> fit = fit_usl(levels);
    return fit && fit->peak() > now ? now + 1 : fewer;
  }
  return below_unknown || peak_unknown ? fewer : above_unknown ? now + 1 : 0;
}

Allocation Probe::with(Allocation made, const Observation& seen, std::size_t stage, int workers) {
  StageAllocation& own = made.stages[stage];
  if (made.strict) {
    const int change = workers - static_cast<int>(std::lround(own.target));
    own.target = workers;
    made.active = std::clamp(made.active + change, 1, seen.budget);
    return made;
  }
  own.cap = workers;
  own.target = std::min<double>(own.target, workers);
  return made;
}

std::optional<Allocation> Probe::begin(const Observation& seen, bool doubtful) {
  before_.add(seen);
  quiet_seconds_ += seen.window_seconds;
  if (quiet_seconds_ < wait_seconds_ || seen.contended) return std::nullopt;
  const std::size_t stage = labelled_stage(seen);
  if (stage >= seen.stages.size() || stage >= seen.current.stages.size() ||
      seen.current.stages[stage].group >= 0 || !seen.stages[stage].estimate.trusted)
    return std::nullopt;
  const int to = workers_to_try(seen, stage, doubtful);
  if (to == 0) return std::nullopt;
  stage_ = stage;
  from_ = static_cast<int>(std::lround(seen.stages[stage].running_mean));
  to_ = to;
  original_ = seen.current;
  probed_ = with(seen.current, seen, stage, to);
  windows_ = 0;
  during_.clear();
  after_.clear();
  tries_ = 0;
  lowest_ = to;
  peak_.clear();
  peak_.add(from_, before_.rate(seen, stage).items_per_second);
  phase_ = Phase::on;
  reason_ = fmt::format("nobody has seen {} with {} workers: try it", seen.stages[stage].name, to);
  return probed_;
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
  if (tries_ >= kMostTries) return 0;
  if (lowest_ > 1) return lowest_ / 2;
  const std::optional<int> next = peak_.next();
  return next && *next < from_ ? *next : 0;
}

Probe::Step Probe::advance(const Observation& seen) {
  (phase_ == Phase::on ? during_ : after_).add(seen);
  if (++windows_ < settings_.probe_windows) return Step::wait;
  windows_ = 0;
  if (phase_ == Phase::on) {
    if (to_ < from_) peak_.add(to_, during_.rate(seen, stage_).items_per_second);
    if (const int next = to_ < from_ ? next_of_survey() : 0; next > 0) {
      during_.clear();
      to_ = next;
      lowest_ = std::min(lowest_, next);
      ++tries_;
      probed_ = with(original_, seen, stage_, to_);
      reason_ = fmt::format("the same with {}", to_);
      return Step::next;
    }
    phase_ = Phase::off;
    return Step::back;
  }
  phase_ = Phase::none;
  put_off();
  if (to_ < from_) {
    may_try_fewer_ = false;
    surveyed_ = true;
    reason_ = fmt::format("{} was seen with {} workers and fewer", seen.stages[stage_].name, from_);
    return Step::over;
  }
  return paid(seen) ? Step::adopt : Step::over;
}

}  // namespace weir::detail
