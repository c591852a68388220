#include "policies/mindspore_policy.hpp"

#include "policies/allotment.hpp"
#include "policies/worker_limits.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace weir::detail {
namespace {

// monitor_sampling_interval of MindSpore's config: 1000 ms.
constexpr double kRoundSeconds = 1.0;

// auto_tune.h, by their names there.
constexpr double kDeviceConnectorUtilThreshold = 0.75;
constexpr double kInputOutputQueueDiffThreshold = 0.35;
constexpr double kMapOpWorkerHighThreshold = 0.75;
constexpr double kMapOpWorkerLowThreshold = 0.35;
constexpr double kInputQueueLow = 0.5;
constexpr int kIncrementWorker = 2;
constexpr std::int64_t kIncrementQueueSize = 4;
constexpr std::int64_t kMaxQueueSize = 128;
constexpr int kEarlyStopTrialThresholdStep = 10;  // the round that exceeds it is the eleventh
constexpr double kMemoryComparisonLowerBound = 0.02;
constexpr double kQueueReductionStep = 0.8;

std::size_t last_stage_of(const Observation& seen, int loader) {
  std::size_t last = 0;
  for (std::size_t i = 0; i < seen.stages.size(); ++i)
    if (seen.stages[i].loader == loader) last = i;
  return last;
}

}  // namespace

MindsporePolicy::MindsporePolicy(RollBack roll_back, bool strict, const PolicySettings& settings)
    : roll_back_(roll_back), strict_(strict), settings_(settings), verified_(settings, strict) {}

Allocation MindsporePolicy::wanted_allocation(const Observation& seen) const {
  Allocation wanted = dedicated_allotment(seen, setting_.workers, strict_, settings_.stay_slack);
  for (std::size_t i = 0; i < wanted.stages.size(); ++i)
    wanted.stages[i].depth_items = setting_.depths[i];
  return wanted;
}

std::int64_t MindsporePolicy::depth_of(const Observation& seen, std::size_t stage) const {
  return setting_.depths[stage] > 0 ? setting_.depths[stage] : seen.stages[stage].queue_capacity;
}

Decision MindsporePolicy::start(const Observation& first, const std::optional<Allocation>& start) {
  for (std::size_t i = 0; i < first.stages.size(); ++i) {
    const bool loaded = start && i < start->stages.size();
    const int workers =
        loaded ? static_cast<int>(std::lround(start->stages[i].target)) : settings_.start_workers;
    setting_.workers.push_back(allowed_workers(first.stages[i], workers, first.budget));
    setting_.depths.push_back(loaded ? start->stages[i].depth_items : 0);
  }
  standing_.settled_at_seconds = first.time_seconds;
  Decision decision;
  decision.kind = MoveKind::start;
  decision.phase = "time";
  decision.allocation = wanted_allocation(first);
  decision.reason = start ? "the workers that were loaded" : "the same workers for every stage";
  return decision;
}

void MindsporePolicy::track_time() {
  const double step_seconds = round_.step_seconds();
  if (!best_step_seconds_) {
    best_step_seconds_ = step_seconds;
    if (roll_back_ == RollBack::to_best) saved_ = setting_;
    return;
  }
  if (step_seconds >= *best_step_seconds_) {
    ++rounds_without_gain_;
    return;
  }
  best_step_seconds_ = step_seconds;
  rounds_without_gain_ = 0;
  if (!changed_) return;
  changed_ = false;
  if (roll_back_ == RollBack::to_best || !saved_) saved_ = setting_;
}

std::string MindsporePolicy::roll_back() {
  if (!saved_) return "nothing was saved to roll back to";
  setting_ = *saved_;
  wanted_kind_ = MoveKind::rollback;
  return fmt::format("{} rounds without a shorter step: back to the {} settings saved",
                     rounds_without_gain_, roll_back_ == RollBack::to_best ? "best" : "first");
}

std::string MindsporePolicy::analyse_time(const Observation& seen) {
  int slow = 0;
  int deeper = 0;
  for (std::size_t i = 0; i < seen.stages.size(); ++i) {
    const StageObservation& stage = seen.stages[i];
    if (!is_tunable(stage)) continue;
    if (round_.filling(last_stage_of(seen, stage.loader)) >= kDeviceConnectorUtilThreshold)
      continue;
    const double input = round_.input_filling(seen, i);
    const double output = round_.filling(i);
    const double busy = round_.cpus(i) / setting_.workers[i];
    if (input - output > kInputOutputQueueDiffThreshold || busy > kMapOpWorkerHighThreshold) {
      setting_.workers[i] =
          allowed_workers(stage, setting_.workers[i] + kIncrementWorker, seen.budget);
      changed_ = true;
      ++slow;
    }
    if (busy < kMapOpWorkerLowThreshold &&
        (input < kInputQueueLow || output - input > kInputOutputQueueDiffThreshold)) {
      const std::int64_t depth = depth_of(seen, i);
      const std::int64_t wanted = std::min(
          kMaxQueueSize, std::max<std::int64_t>(depth + kIncrementQueueSize, setting_.workers[i]));
      // The runtime's own depth may be above the limit already, for the sake of batches.
      if (wanted > depth) setting_.depths[i] = wanted;
      changed_ = true;
      ++deeper;
    }
  }
  if (slow == 0 && deeper == 0) return {};
  return fmt::format("{} stages get {} workers more, {} queues {} slots more", slow,
                     kIncrementWorker, deeper, kIncrementQueueSize);
}

std::string MindsporePolicy::analyse_memory(const Observation& seen) {
  if (memory_.stages.empty()) {
    phase_ = Phase::ended;
    return {};
  }
  const std::size_t tested = memory_.stages.front();
  const double filling = round_.filling(last_stage_of(seen, seen.stages[tested].loader));
  if (memory_.before_items > 0) {
    const std::int64_t before = std::exchange(memory_.before_items, 0);
    if (filling >= memory_.before_filling * (1 - kMemoryComparisonLowerBound)) return {};
    setting_.depths[tested] = before;
    memory_.stages.erase(memory_.stages.begin());
    return fmt::format("the last queue is emptier: the queue of {} gets its depth back",
                       seen.stages[tested].name);
  }
  memory_.before_filling = filling;
  const std::int64_t depth = depth_of(seen, tested);
  auto wanted = static_cast<std::int64_t>(static_cast<double>(depth) * kQueueReductionStep);
  if (wanted <= setting_.workers[tested]) {
    wanted = setting_.workers[tested];
    memory_.stages.erase(memory_.stages.begin());
  } else {
    memory_.before_items = depth;
  }
  setting_.depths[tested] = wanted;
  return fmt::format("the queue of {} goes from {} to {} items", seen.stages[tested].name, depth,
                     wanted);
}

std::string MindsporePolicy::finish_round(const Observation& seen) {
  wanted_kind_ = MoveKind::move;
  if (phase_ == Phase::time) {
    track_time();
    if (rounds_without_gain_ <= kEarlyStopTrialThresholdStep) return analyse_time(seen);
    phase_ = Phase::memory;
    for (std::size_t i = 0; i < seen.stages.size(); ++i)
      if (is_tunable(seen.stages[i])) memory_.stages.push_back(i);
    // The first reduction waits for a round under the settings that were rolled back to.
    return roll_back();
  }
  return phase_ == Phase::memory ? analyse_memory(seen) : std::string();
}

Decision MindsporePolicy::decide(const Observation& seen) {
  verified_.note(seen, standing_);
  if (seen.valid) round_.add(seen);
  Decision decision;
  decision.reason = "the round is not over";
  // A round without a step says nothing; the original counts steps, and so never sees one.
  if (phase_ != Phase::ended && round_.seconds() >= kRoundSeconds &&
      std::isfinite(round_.step_seconds())) {
    const std::string changes = finish_round(seen);
    decision.reason = changes.empty() ? "nothing to change" : changes;
    if (!changes.empty()) {
      wanted_.set(wanted_allocation(seen));
      ++standing_.moves;
      standing_.settled_at_seconds = seen.time_seconds;
    }
    round_.clear();
  }
  if (phase_ == Phase::ended) decision.reason = "the tuning has ended";
  standing_.settled = phase_ == Phase::ended;
  decision.phase = phase_ == Phase::time ? "time" : phase_ == Phase::memory ? "memory" : "ended";
  decision.allocation = wanted_.next(seen);
  if (decision.allocation) decision.kind = wanted_kind_;
  return decision;
}

}  // namespace weir::detail
