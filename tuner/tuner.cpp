#include "tuner/tuner.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace weir::detail {
namespace {

// Below the shortest window with its jitter, so that only a policy that is called too often meets
// it.
constexpr double kCoolDownShare = 0.25;

}  // namespace

Tuner::Tuner(Plant& plant, const TuningOptions& options)
    : plant_(plant),
      options_(options),
      settings_(make_settings(options.policy, options.settings)),
      log_(options.log_path),
      observer_(settings_, options.strict),
      guard_(kCoolDownShare * settings_.window_least_seconds),
      lengths_(settings_, options.seed) {
  status_.policy = options.policy;
  status_.strict = options.strict;
}

std::optional<Allocation> Tuner::loaded_start(const Observation& first,
                                              std::uint64_t structure) const {
  if (!options_.start) return std::nullopt;
  Allocation start = *options_.start;
  start.structure = structure;
  std::vector<StageAllocation> stages;
  for (const StageObservation& stage : first.stages) {
    const auto found =
        std::find(options_.start_stages.begin(), options_.start_stages.end(), stage.name);
    if (found == options_.start_stages.end()) return std::nullopt;
    const auto index = static_cast<std::size_t>(found - options_.start_stages.begin());
    if (index >= start.stages.size()) return std::nullopt;
    stages.push_back(start.stages[index]);
  }
  start.stages = std::move(stages);
  return start;
}

bool Tuner::apply(const Decision& decision, const Observation& seen,
                  std::vector<std::string>& corrections) {
  Guard::Verdict verdict = guard_.pass(decision, seen);
  corrections = std::move(verdict.corrections);
  if (!verdict.allocation) return false;
  verdict.allocation->structure = *structure_;
  if (!plant_.apply(*verdict.allocation)) {
    corrections.emplace_back("not applied: loaders came or went meanwhile");
    return false;
  }
  // Other depths change no level and no rate that is being judged.
  changed_ = decision.kind != MoveKind::depth;
  return true;
}

double Tuner::begin(const Snapshot& snapshot) {
  structure_ = snapshot.structure;
  if (!attached_seconds_) attached_seconds_ = snapshot.time_seconds;
  policy_ = make_policy(options_.policy, options_.strict, settings_);
  labels_.clear();
  Allocation current = plant_.allocation();
  current.structure = snapshot.structure;
  const Observation first = observer_.begin(snapshot, current);
  guard_.begin(first);
  const std::optional<Allocation> start = loaded_start(first, snapshot.structure);
  log_.begin(options_, first, start);
  const Decision decision = policy_->start(first, start);
  std::vector<std::string> corrections;
  const bool applied = apply(decision, first, corrections);
  changed_ = true;  // whatever was measured before belongs to nobody
  const LookInput given{snapshot, current, false};
  log_.write({given, first, decision, policy_->standing(), corrections, applied});
  publish(first, decision, applied);
  return lengths_.next(first, decision.look_again_seconds, true);
}

double Tuner::step() {
  const Snapshot snapshot = plant_.snapshot();
  if (snapshot.stages.empty()) {
    structure_.reset();
    return settings_.window_seconds;
  }
  if (!structure_ || *structure_ != snapshot.structure) {
    unparked_.add(snapshot.time_seconds, snapshot.unparked_seconds);
    return begin(snapshot);
  }
  unparked_.add(snapshot.time_seconds, snapshot.unparked_seconds);
  const LookInput given{snapshot, plant_.allocation(), std::exchange(changed_, false)};
  const Observation seen = observer_.observe(given.snapshot, given.current, given.changed);
  guard_.note(seen);
  const Decision decision = policy_->decide(seen);
  std::vector<std::string> corrections;
  const bool applied = apply(decision, seen, corrections);
  log_.write({given, seen, decision, policy_->standing(), corrections, applied});
  publish(seen, decision, applied);
  return lengths_.next(seen, decision.look_again_seconds, applied);
}

void Tuner::publish(const Observation& seen, const Decision& decision, bool applied) {
  if (watcher_) watcher_({seen, decision, applied});
  if (applied) labels_.clear();
  host_.add(seen);
  if (seen.valid && !seen.first_after_change) {
    label_seconds_[seen.label] += seen.window_seconds;
    judged_seconds_ += seen.window_seconds;
  }
  if (seen.valid && !seen.first_after_change && !applied) ++labels_[seen.label];
  const Standing& standing = policy_->standing();
  const MutexLock lock(mutex_);
  ++status_.windows;
  status_.moves = standing.moves;
  status_.settled = standing.settled;
  status_.settle_seconds =
      standing.settled ? std::max(0.0, standing.settled_at_seconds - *attached_seconds_) : 0.0;
  status_.seconds = seen.time_seconds - *attached_seconds_;
  const auto commonest =
      std::max_element(labels_.begin(), labels_.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  status_.label = commonest == labels_.end() ? seen.label : commonest->first;
  status_.label_shares.clear();
  for (const auto& [label, seconds] : label_seconds_)
    status_.label_shares[label] = seconds / judged_seconds_;
  status_.host = host_.figures();
  status_.phase = decision.phase;
  status_.budget = seen.budget;
  status_.active_mean = unparked_.whole();
  status_.last_half_active_mean = unparked_.last_half();
  status_.needed_workers = seen.bounds.needed_workers;
  status_.bound_shared = seen.bounds.shared_per_second;
  status_.bound_whole = seen.bounds.whole_per_second;
  status_.throughput = 0;
  for (const LoaderObservation& loader : seen.loaders) status_.throughput += loader.throughput;
  if (applied) status_.last_reason = decision.reason;
  status_.current = plant_.allocation();
  status_.best_verified = standing.best_verified;
  status_.best_per_second = standing.best_per_second;
  status_.contended = seen.contended;
  status_.stages = seen.stages;
  if (!seen.contended || status_.evidence.size() != seen.stages.size())
    status_.evidence = seen.stages;
  status_.loaders = seen.loaders;
  status_.log_error = log_.error();
}

TuningStatus Tuner::status() const {
  const MutexLock lock(mutex_);
  return status_;
}

void Tuner::fail(const std::string& error) {
  const MutexLock lock(mutex_);
  status_.error = error;
}

}  // namespace weir::detail
