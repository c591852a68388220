#include "policies/stage_estimator.hpp"

#include "policies/capacity_curve.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

namespace weir::detail {
namespace {

// Fewer items than this say nothing about a mean; windows are added up until they have them.
constexpr double kItemsToJudge = 10;
constexpr double kItemsToExpect = 10;
// A level that is left for good has taught something with fewer items, if its mean is known so
// well.
constexpr double kItemsToTeach = 4;
constexpr double kErrorToTeach = 0.1;
// Fewer still say enough where they are so many alarms away from what was expected.
constexpr double kItemsFarOff = 3;
constexpr double kFarOff = 2;
// What is known of a level may be wrong by so many of its errors, in every window alike.
constexpr double kLevelErrors = 4;
constexpr double kSpreadErrors = 2;  // the most by which one window may widen the spread
// Noise that a mean of few items does not show: timers, caches.
constexpr double kLeastError = 0.01;
constexpr int kAlarmWindows = 2;
constexpr double kMostOfAlarm = 0.52;
constexpr double kForget = 0.5;
constexpr double kSuspectShare = 0.2;  // of the alarm: nothing is moved meanwhile
constexpr double kTeachShare = 0.35;   // from here on levels are not taught, either
// How far the curve may be off where it has not been seen.
constexpr double kUnfamiliarError = 0.05;
// A packet under way for so many mean times counts as stuck.
constexpr double kStuckFactor = 3.0;
constexpr double kStuckSeconds = 2.0;

// Between two levels the time may be that of either: half of what lies between them, as a share.
double disagreement(const std::vector<Level>& levels, double running) {
  for (std::size_t i = 1; i < levels.size(); ++i) {
    const double low = levels[i - 1].service_seconds;
    const double high = levels[i].service_seconds;
    if (levels[i - 1].running < running && running < levels[i].running && low > 0 && high > 0)
      return 0.5 * std::abs(std::log(high / low));
  }
  return 0.0;
}

double independent(const StageWindow& window) {
  return std::min(window.items_in, std::max(window.packets, 1.0));
}

void accumulate(StageWindow& total, const StageWindow& window) {
  const double seconds = total.seconds + window.seconds;
  if (seconds > 0)
    total.running_mean =
        (total.running_mean * total.seconds + window.running_mean * window.seconds) / seconds;
  total.seconds = seconds;
  total.settled = window.settled;
  total.items_in += window.items_in;
  total.packets += window.packets;
  total.service_seconds += window.service_seconds;
  total.service_seconds_squared += window.service_seconds_squared;
}

}  // namespace

bool StageEstimator::Excess::add(double residual, double allowance, double alarm) {
  // One window alone never alarms, and is soon forgotten when the next ones do not agree.
  sum = std::max(0.0, sum + std::min(residual - allowance, kMostOfAlarm * alarm));
  if (residual <= 0) sum *= kForget;
  return sum > alarm;
}

std::optional<Level> StageEstimator::expected(double running, bool settled) const {
  std::optional<Level> known = levels_.near(running, kItemsToExpect);
  if (known || !settled) return known;
  const std::vector<Level> levels = levels_.levels();
  const CapacityCurve curve = CapacityCurve::from_levels(levels, slow_.mean());
  if (!curve.known() || completions_ < kItemsToExpect) return std::nullopt;
  const double n = std::max(1.0, running);
  if (curve.at(n) <= 0) return std::nullopt;
  return Level{n, n / curve.at(n), std::max(kUnfamiliarError, disagreement(levels, n)),
               completions_};
}

double StageEstimator::error_of(const StageWindow& judged, const Level& right, bool far) const {
  // The level was not taught by what is far off it; the mean over all was.
  const double level_cv = right.relative_error * std::sqrt(right.completions);
  const double cv = far ? std::min(slow_.cv(), level_cv) : slow_.cv();
  const double error =
      std::max(kLeastError, std::hypot(cv / std::sqrt(independent(judged)), right.relative_error));
  return far ? error : std::max(error, std::sqrt(spread_));
}

// Few items say enough where they are far from anything that noise explains.
bool StageEstimator::far_off() const {
  if (independent(pending_) < kItemsFarOff) return false;
  const std::optional<Level> right = levels_.near(pending_.running_mean, kItemsToExpect);
  if (!right || right->service_seconds <= 0 || pending_.service_seconds <= 0) return false;
  const double residual =
      std::log(pending_.service_seconds / pending_.items_in / right->service_seconds);
  const double limit =
      std::max(settings_.drift_change, settings_.drift_errors * error_of(pending_, *right, true));
  return std::abs(residual) > kFarOff * limit;
}

// What was added up belongs to the level before. It teaches if it can, or waits until the stage is
// there again: added to what follows it would teach a level that nobody has seen.
void StageEstimator::leave_level() {
  const StageWindow left = std::exchange(pending_, StageWindow{});
  judged_since_change_ = false;
  const double count = independent(left);
  if (count <= 0) return;
  if (count >= kItemsToTeach && slow_.cv() < kErrorToTeach * std::sqrt(count) &&
      !levels_.near(left.running_mean, 1))
    teach(left);
  else
    accumulate(kept_[level_key(left.running_mean)], left);
}

void StageEstimator::teach(const StageWindow& window) {
  levels_.add(window.running_mean, window.items_in, window.service_seconds,
              window.service_seconds_squared, independent(window), settings_.alpha_slow);
}

bool StageEstimator::service_drifted(const StageWindow& window) {
  if (!window.learn) {
    leave_level();
    return false;
  }
  accumulate(pending_, window);
  const auto kept = kept_.find(level_key(pending_.running_mean));
  if (kept != kept_.end()) {
    accumulate(kept->second, pending_);
    pending_ = kept->second;
    kept_.erase(kept);
  }
  const bool far = far_off();
  if (independent(pending_) < kItemsToJudge && !far) return false;
  const StageWindow judged = std::exchange(pending_, StageWindow{});
  // The first window at a level that nobody has seen is no drift: the allocation has changed.
  const std::optional<Level> right =
      expected(judged.running_mean, judged.settled && judged_since_change_);
  judged_since_change_ = true;
  const double seen = judged.service_seconds / judged.items_in;
  suspect_ = false;
  if (right && right->service_seconds > 0 && seen > 0) {
    const double residual = std::log(seen / right->service_seconds);
    const double error = error_of(judged, *right, far);
    const double limit = std::max(settings_.drift_change, settings_.drift_errors * error);
    if (!judged.settled) {
      // Queues fill and drain after a change, and the mean of many and none is no level.
      teach(judged);
      return false;
    }
    const double allowance =
        std::max({0.5 * settings_.dead_band, error, kLevelErrors * right->relative_error});
    // Both sides are fed whatever the other says.
    const bool up = above_.add(residual, allowance, limit);
    const bool down = below_.add(-residual, allowance, limit);
    const double sum = std::max(above_.sum, below_.sum);
    const double widening = std::min(std::abs(residual), kSpreadErrors * error);
    spread_ += settings_.alpha_slow * (widening * widening - spread_);
    suspect_ = sum > kSuspectShare * limit;
    if (up || down) return true;
    // A window under suspicion does not teach the table what it is suspected against.
    if (sum > kTeachShare * limit) return false;
  }
  teach(judged);
  return false;
}

bool StageEstimator::visits_drifted() {
  const double slow = ratio_slow_.mean();
  const double fast = ratio_fast_.mean();
  if (slow <= 0 || ratio_fast_.items() < kItemsToExpect) return false;
  // Outputs come at random (a filter) or in lumps (a batch): their count has the error of its root.
  const double error = 1.0 / std::sqrt(std::max(1.0, ratio_slow_.mean() * ratio_fast_.items()));
  const double change = std::abs(std::log(std::max(fast, 1e-9) / slow));
  const bool off = change > std::max(settings_.drift_change, settings_.drift_errors * error);
  visits_off_ = off ? visits_off_ + 1 : 0;
  return visits_off_ >= kAlarmWindows;
}

void StageEstimator::restart(const StageWindow& last) {
  *this = StageEstimator(settings_);
  take(last);
}

void StageEstimator::take(const StageWindow& window) {
  const double count = window.items_in > 0 ? independent(window) : 0.0;
  fast_.add(window.items_in, window.service_seconds, window.service_seconds_squared, count,
            settings_.alpha_fast);
  slow_.add(window.items_in, window.service_seconds, window.service_seconds_squared, count,
            settings_.alpha_slow);
  ratio_fast_.add(window.items_in, window.items_out, 0, count, settings_.alpha_fast);
  ratio_slow_.add(window.items_in, window.items_out, 0, count, settings_.alpha_slow);
  completions_ += count;
  seconds_ += window.seconds;
  running_most_ = std::max(running_most_, window.running_mean);
  oldest_running_seconds_ = window.oldest_running_seconds;
}

bool StageEstimator::add(const StageWindow& window) {
  const bool drifted = service_drifted(window) || visits_drifted();
  take(window);
  return drifted;
}

double StageEstimator::out_per_in() const { return ratio_slow_.mean(); }

StageEstimate StageEstimator::estimate() const {
  StageEstimate result;
  const double mean = slow_.mean();
  result.service_seconds = mean;
  // A packet that does not come back raises the mean before it has ended.
  if (slow_.empty() ? oldest_running_seconds_ > kStuckSeconds
                    : oldest_running_seconds_ > kStuckFactor * mean + kStuckSeconds)
    result.service_seconds = (slow_.sum() + oldest_running_seconds_) / (slow_.items() + 1.0);
  result.cv = slow_.cv();
  result.levels = levels_.levels();
  // The mean over all levels varies with the levels; each of them is known better.
  double error = 0;
  for (const Level& level : result.levels) error = std::max(error, level.relative_error);
  error = result.levels.empty() ? slow_.relative_error() : std::min(error, slow_.relative_error());
  result.relative_error = std::min(1.0, 2.0 * error);
  result.completions = static_cast<std::uint64_t>(completions_);
  result.trusted = completions_ >= std::max<double>(settings_.trust_completions,
                                                    settings_.trust_per_worker * running_most_) &&
                   seconds_ >= settings_.trust_seconds;
  return result;
}

}  // namespace weir::detail
