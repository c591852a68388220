#include "policies/ramp.hpp"

#include "policies/peak_search.hpp"
#include "policies/problem.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

namespace weir::detail {
namespace {

constexpr double kGrowth = 2.0;
constexpr int kServicesToKnow = 3;
constexpr int kMostTries = 8;
constexpr double kLevelledShare = 0.5;  // of what a linear stage would have gained
// Steady times say sooner what they are: of the completions this share and the variation.
constexpr double kSteadyCv = 0.25;
constexpr double kSteadyShare = 0.4;
constexpr double kTryItems = 30;  // a peak is flat: more items than for a doubling

int total_of(const std::vector<int>& workers) {
  int total = 0;
  for (const int n : workers) total += n;
  return total;
}

}  // namespace

void Ramp::begin(const Observation& first) {
  workers_.clear();
  for (const StageObservation& stage : first.stages)
    workers_.push_back(stage.fixed_workers > 0 && !stage.serial ? stage.fixed_workers : 1);
  // By hand more than there are: the ramp starts where it can.
  while (total_of(workers_) > std::max<int>(first.budget, static_cast<int>(workers_.size())))
    *std::max_element(workers_.begin(), workers_.end()) -= 1;
  meter_.clear();
  last_rates_.clear();
  searching_ = false;
  tries_ = 0;
  why_done_.clear();
}

// Ten completions of the slowest stage that matters; a stage from which nothing has come yet is
// waited for, but not for ever.
bool Ramp::enough(const Observation& seen) const {
  if (meter_.seconds() >= settings_.window_most_seconds) return true;
  bool any = false;
  for (std::size_t i = 0; i < seen.stages.size(); ++i) {
    const LoaderObservation& loader = seen.loaders[static_cast<std::size_t>(seen.stages[i].loader)];
    if (!takes_part(loader)) continue;
    if (seen.stages[i].estimate.service_seconds <= 0) continue;
    any = true;
    if (ran_ahead(seen.stages[i])) continue;
    const double cv = seen.stages[i].estimate.cv;
    const double share = cv < kSteadyCv ? kSteadyShare + cv : 1.0;
    if (matters(seen, i, settings_.matters) &&
        meter_.completions(i) < share * settings_.window_completions)
      return false;
  }
  return any;
}

std::vector<int> Ramp::next_level(const Observation& seen) const {
  const Problem problem = make_problem(seen, settings_.release_margin, true);
  // What the present level holds, at most what is of any use.
  Solution now;
  for (const int n : workers_) now.workers.push_back(n);
  std::vector<double> goal = held_by(problem, now);
  for (std::size_t l = 0; l < goal.size(); ++l)
    goal[l] = std::min(kGrowth * goal[l], problem.limits[l]);

  std::vector<int> next = workers_;
  for (std::size_t i = 0; i < next.size(); ++i) {
    const StageNeed& stage = problem.stages[i];
    if (stage.fixed > 0 || !stage.curve.known()) continue;
    const double rate = goal[static_cast<std::size_t>(stage.loader)] * stage.visits;
    // At what a worker gives at the present level, which may be less than alone.
    const double each = stage.curve.at(workers_[i]) / workers_[i];
    const double wish = std::isfinite(rate) && each > 0 ? std::ceil(rate / each - 1e-6) : 1.0;
    const int most = std::min(stage.most, 2 * workers_[i]);
    next[i] = std::max(workers_[i], static_cast<int>(std::min<double>(wish, most)));
  }
  // Too many in all: give to the stage that needs it most until the workers are used up.
  if (total_of(next) > seen.budget) {
    const std::vector<int> most = next;
    next = workers_;
    for (int left = seen.budget - total_of(next); left > 0; --left) {
      std::size_t neediest = next.size();
      double need = 0;
      for (std::size_t i = 0; i < next.size(); ++i) {
        const double own = seen.stages[i].estimate.demand_seconds / next[i];
        if (next[i] < most[i] && own > need) {
          need = own;
          neediest = i;
        }
      }
      if (neediest == next.size()) break;
      ++next[neediest];
    }
  }
  return next;
}

std::size_t Ramp::binding(const Observation& seen) const {
  std::size_t binding = 0;
  double largest = -1;
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    const double need = seen.stages[i].estimate.demand_seconds / workers_[i];
    if (need > largest) {
      largest = need;
      binding = i;
    }
  }
  return binding;
}

bool Ramp::gained(const Observation& seen) const {
  if (last_rates_.empty()) return true;
  const double now = meter_.rate(seen, last_binding_).items_per_second;
  return now > (1.0 + settings_.ramp_gain) * last_rates_[last_binding_];
}

// By the levels that the stage has been at: where its curve is flat or falls, the number of workers
// that is worth a look.
std::optional<int> Ramp::level_to_try(const Observation& seen) const {
  const StageObservation& stage = seen.stages[searched_];
  if (stage.serial || stage.fixed_workers > 0) return std::nullopt;
  PeakSearch search(settings_.plateau);
  for (const Level& level : stage.estimate.levels)
    if (level.service_seconds > 0)
      search.add(static_cast<int>(std::lround(level.running)),
                 level.running / level.service_seconds);
  const std::optional<int> next = search.next();
  return next && *next != workers_[searched_] ? next : std::nullopt;
}

void Ramp::step_to(const Observation& seen, std::vector<int> next) {
  last_rates_.clear();
  for (std::size_t i = 0; i < seen.stages.size(); ++i)
    last_rates_.push_back(meter_.rate(seen, i).items_per_second);
  workers_ = std::move(next);
  meter_.clear();
}

// The step brought little because of the stage itself, and not of a consumer or a source.
bool Ramp::levelled_off(const Observation& seen, std::size_t stage) {
  const std::vector<Level>& levels = seen.stages[stage].estimate.levels;
  if (levels.size() < 2) return false;
  const Level& top = levels.back();
  const Level& below = levels[levels.size() - 2];
  if (top.service_seconds <= 0 || below.service_seconds <= 0) return false;
  const double more_workers = top.running / below.running - 1.0;
  const double more_items =
      (top.running / top.service_seconds) / (below.running / below.service_seconds) - 1.0;
  return more_items < kLevelledShare * more_workers;
}

Ramp::Advice Ramp::advance(const Observation& seen) {
  meter_.add(seen);
  if (!enough(seen)) return Advice::measure;

  if (!searching_ && !gained(seen)) {
    searched_ = binding(seen);
    if (!levelled_off(seen, searched_)) searched_ = last_binding_;
    searching_ = levelled_off(seen, searched_);
  }
  if (searching_ && tries_ < kMostTries) {
    if (meter_.completions(searched_) < kTryItems &&
        meter_.seconds() < settings_.window_most_seconds)
      return Advice::measure;
    if (const std::optional<int> next = level_to_try(seen)) {
      std::vector<int> tried = workers_;
      tried[searched_] = *next;
      if (total_of(tried) <= seen.budget) {
        ++tries_;
        step_to(seen, std::move(tried));
        return Advice::step;
      }
    }
  }
  const std::vector<int> next = searching_ ? workers_ : next_level(seen);
  std::string why;
  if (searching_)
    why = "the peak of " + seen.stages[searched_].name + " is found";
  else if (!gained(seen))
    why = fmt::format("the last step gained less than {:g}%", 100 * settings_.ramp_gain);
  else if (next == workers_)
    why =
        total_of(workers_) >= seen.budget ? "all workers are in use" : "more workers are of no use";
  if (why.empty()) {
    last_binding_ = binding(seen);
    step_to(seen, next);
    return Advice::step;
  }
  // The jump needs to know every stage, and what the consumer takes.
  bool known = true;
  for (const LoaderObservation& loader : seen.loaders)
    if (takes_part(loader) && loader.services < kServicesToKnow) known = false;
  for (const StageObservation& stage : seen.stages) {
    // A stage that costs nothing has completed items and no service time.
    const bool measured = stage.estimate.completions > 0;
    if (measured ? !stage.estimate.visits_known : !ran_ahead(stage)) known = false;
  }
  if (!known && meter_.seconds() < settings_.window_most_seconds) return Advice::measure;
  why_done_ = why;
  return Advice::done;
}

}  // namespace weir::detail
