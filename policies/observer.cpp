#include "policies/observer.hpp"

#include "policies/diagnosis.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace weir::detail {
namespace {

// A look that comes later than so many of the longest windows was not late: the clock jumped, or
// the process was stopped.
constexpr double kLateWindows = 4.0;

// System time from which it is worth a hint, and what tells an allocator from locks.
constexpr double kSystemShare = 0.3;
constexpr double kFaultsPerSecond = 2000;    // of CPU time
constexpr double kSwitchesPerSecond = 1000;  // likewise

// After so many windows under one allocation the running workers have found their levels.
constexpr int kSettledWindows = 3;

// What a stage did before anybody looked is worth so many items, however many they were.
constexpr double kEarlierItems = 10;

// A stage that ran ahead into a large queue may then do nothing for seconds: what it did before the
// first window is all that is known of it.
StageWindow earlier(const StageSnapshot& stage) {
  StageWindow window;
  window.learn = false;
  if (stage.items_in == 0) return window;
  const double share = std::min(1.0, kEarlierItems / static_cast<double>(stage.items_in));
  window.items_in = share * static_cast<double>(stage.items_in);
  window.items_out = share * static_cast<double>(stage.items_out);
  window.packets = share * static_cast<double>(stage.packets);
  window.service_seconds = share * std::max(0.0, stage.slot_seconds - stage.run_queue_seconds);
  window.service_seconds_squared = share * stage.slot_seconds_squared;
  return window;
}

std::string hint_of(const StageDelta& stage) {
  const double cpu = stage.cpu_user_seconds + stage.cpu_system_seconds;
  if (cpu <= 0 || stage.cpu_system_seconds < kSystemShare * cpu) return {};
  if (stage.minor_faults > kFaultsPerSecond * cpu) return "allocator";
  return stage.voluntary_switches > kSwitchesPerSecond * cpu ? "locks" : "";
}

// The workers are; depths and packets are carried on as they are found.
bool same(const Allocation& a, const Allocation& b) {
  if (a.active != b.active || a.strict != b.strict || a.helping != b.helping ||
      a.stay_slack != b.stay_slack || a.groups != b.groups || a.stages.size() != b.stages.size())
    return false;
  for (std::size_t i = 0; i < a.stages.size(); ++i) {
    const StageAllocation& x = a.stages[i];
    const StageAllocation& y = b.stages[i];
    if (x.target != y.target || x.cap != y.cap || x.group != y.group) return false;
  }
  return true;
}

double clamped_share(double seconds, double window_seconds) {
  return std::clamp(seconds / window_seconds, 0.0, 1.0);
}

}  // namespace

void Observer::describe(const Snapshot& snapshot, const Allocation& current,
                        Observation& seen) const {
  seen.time_seconds = clock_seconds_;
  seen.budget = snapshot.budget;
  seen.active = snapshot.active;
  seen.memory_bytes = snapshot.memory_bytes;
  seen.memory_bound_bytes = snapshot.memory_bound_bytes;
  seen.current = current;
  seen.label = "none";
  for (const StageSnapshot& stage : snapshot.stages) {
    StageObservation& each = seen.stages.emplace_back();
    each.name = stage.name;
    each.loader = stage.loader;
    each.serial = stage.serial;
    each.fixed_workers = stage.fixed_workers;
    each.hand_cap = stage.hand_cap;
    each.hand_depth = stage.hand_depth;
    each.queue_capacity = stage.queue.capacity_items;
    if (stage.items_out > 0) each.bytes_out = stage.bytes_out / stage.items_out;
  }
}

Observation Observer::begin(const Snapshot& snapshot, const Allocation& current) {
  const double passed = last_ ? snapshot.time_seconds - last_->time_seconds : snapshot.time_seconds;
  if (std::isfinite(passed) && passed > 0) clock_seconds_ += passed;
  last_ = snapshot;
  last_current_ = current;
  stages_.assign(snapshot.stages.size(), StageEstimator(settings_));
  for (std::size_t i = 0; i < stages_.size(); ++i) stages_[i].restart(earlier(snapshot.stages[i]));
  loaders_.assign(snapshot.loaders.size(), ConsumerEstimator(settings_));
  contention_ = ContentionMeter(settings_);
  windows_since_change_ = 0;
  Observation seen;
  describe(snapshot, current, seen);
  for (const LoaderSnapshot& loader : snapshot.loaders)
    seen.loaders.emplace_back().name = loader.name;
  seen.valid = false;
  seen.invalid_reason = "nothing measured yet";
  return seen;
}

void Observer::observe_host(const Snapshot& snapshot, const std::vector<StageDelta>& deltas,
                            Observation& seen) {
  seen.work.seconds = seen.window_seconds;
  for (const StageDelta& stage : deltas) {
    seen.work.running_seconds += stage.running_seconds;
    seen.work.slot_seconds += stage.slot_seconds;
    seen.work.cpu_seconds += stage.cpu_user_seconds + stage.cpu_system_seconds;
    seen.work.run_queue_seconds += stage.run_queue_seconds;
    seen.work.involuntary_switches += stage.involuntary_switches;
  }
  seen.host = host_.add(snapshot.host, snapshot.memory_bytes, seen.work);
  contention_.add(seen.work, seen.host);
  seen.contended = contention_.contended();
  seen.contended_by = contention_.by();
}

void Observer::observe_stages(const Snapshot& snapshot, const std::vector<StageDelta>& deltas,
                              Observation& seen) {
  const double dt = seen.window_seconds;
  std::vector<StageWindow> windows;
  bool some_drifted = false;
  double running_total = 0;
  for (std::size_t i = 0; i < snapshot.stages.size(); ++i) {
    const StageSnapshot& now = snapshot.stages[i];
    const StageDelta& did = deltas[i];
    StageObservation& stage = seen.stages[i];

    StageWindow window;
    window.seconds = dt;
    window.items_in = did.items_in;
    window.items_out = did.items_out;
    window.packets = did.packets;
    const double slot = did.slot_seconds;
    const double kept =
        slot > 0 ? std::clamp((slot - did.run_queue_seconds) / slot, 0.05, 1.0) : 1.0;
    window.service_seconds = slot * kept;
    window.service_seconds_squared = did.slot_seconds_squared * kept * kept;
    window.running_mean = did.running_seconds / dt;
    window.oldest_running_seconds = now.oldest_running_seconds;
    window.learn = !seen.first_after_change && !seen.contended;
    window.settled = windows_since_change_ > kSettledWindows;

    stage.items_per_second = window.items_in / dt;
    stage.items_out_per_second = window.items_out / dt;
    stage.completions = static_cast<std::uint64_t>(
        std::min(window.items_in, std::max(window.packets, window.items_in > 0 ? 1.0 : 0.0)));
    stage.service_seconds = window.items_in > 0 ? window.service_seconds / window.items_in : 0.0;
    stage.running_mean = window.running_mean;
    const double cpu = did.cpu_user_seconds + did.cpu_system_seconds;
    stage.cpus_mean = cpu / dt;
    stage.blocked_share =
        slot > 0 ? std::clamp(1.0 - (cpu + did.run_queue_seconds) / slot, 0.0, 1.0) : 0.0;
    stage.system_share = cpu > 0 ? did.cpu_system_seconds / cpu : 0.0;
    stage.hint = hint_of(did);
    stage.wait_input_share = clamped_share(did.wait_input_seconds, dt);
    stage.wait_output_share = clamped_share(did.wait_output_seconds, dt);
    stage.queue_mean = did.queue_item_seconds / dt;
    stage.queue_empty_share = clamped_share(did.queue_empty_seconds, dt);
    stage.queue_full_share = clamped_share(did.queue_full_seconds, dt);
    stage.drifted = stages_[i].add(window);
    stage.suspect = stages_[i].suspect();
    windows.push_back(window);
    running_total += window.running_mean;
  }
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    // The times of a stage that costs next to nothing wander with the machine, and change nothing:
    // it is learnt anew by itself.
    StageObservation& stage = seen.stages[i];
    if (!stage.drifted) continue;
    if (windows[i].running_mean >= settings_.matters * running_total) {
      some_drifted = true;
    } else {
      stage.drifted = false;
      stage.suspect = false;
      stages_[i].restart(windows[i]);
    }
  }
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    if (windows[i].running_mean < settings_.matters * running_total) seen.stages[i].suspect = false;
    if (some_drifted) stages_[i].restart(windows[i]);
    seen.stages[i].estimate = stages_[i].estimate();
  }
}

// Items per consumer item follow from the ratios of output to input, from the sink upwards.
void Observer::find_visits(Observation& seen) const {
  std::vector<double> downstream(seen.loaders.size(), 1.0);
  std::vector<char> known(seen.loaders.size(), 1);
  for (std::size_t i = seen.stages.size(); i-- > 0;) {
    StageObservation& stage = seen.stages[i];
    const auto loader = static_cast<std::size_t>(stage.loader);
    const double ratio = stages_[i].out_per_in();
    if (ratio > 0)
      downstream[loader] /= ratio;
    else
      known[loader] = 0;  // taken as one to one until something comes out
    stage.estimate.visits = downstream[loader];
    stage.estimate.visits_known = known[loader] != 0;
    stage.estimate.demand_seconds = stage.estimate.visits * stage.estimate.service_seconds;
  }
}

void Observer::judge_validity(Observation& seen) const {
  bool some_runs = false;
  bool some_asked = false;
  for (const LoaderObservation& loader : seen.loaders) {
    some_asked = some_asked || loader.asked || loader.services > 0;
    some_runs = some_runs || ((loader.asked || loader.services > 0) && !loader.paused);
  }
  if (some_runs) return;
  seen.valid = false;
  seen.invalid_reason =
      some_asked ? "next() was not called for ten typical steps" : "next() was not called yet";
}

// What is known stays; what the window says is not looked at.
void Observer::void_window(const Snapshot& snapshot, const std::string& why, Observation& seen) {
  seen.valid = false;
  seen.invalid_reason = why;
  seen.window_seconds = settings_.window_seconds;
  for (const LoaderSnapshot& loader : snapshot.loaders)
    seen.loaders.emplace_back().name = loader.name;
  for (std::size_t i = 0; i < stages_.size(); ++i) seen.stages[i].estimate = stages_[i].estimate();
  find_visits(seen);
  last_ = snapshot;
}

Observation Observer::observe(const Snapshot& snapshot, const Allocation& current, bool changed) {
  if (snapshot.stages.size() != stages_.size() || snapshot.loaders.size() != loaders_.size())
    return begin(snapshot, current);
  const double passed = snapshot.time_seconds - last_->time_seconds;
  const double most = kLateWindows * settings_.window_most_seconds;
  std::string void_reason = why_not_comparable(*last_, snapshot);
  if (!(passed > 0))
    void_reason = "the clock went backwards";
  else if (passed > most)
    void_reason = "the clock jumped";
  else
    clock_seconds_ += passed;
  Observation seen;
  describe(snapshot, current, seen);
  seen.first_after_change = changed;
  seen.by_hand = !changed && last_current_ && snapshot.budget == last_->budget &&
                 !same(*last_current_, current);
  last_current_ = current;
  if (seen.by_hand) seen.first_after_change = changed = true;
  windows_since_change_ = changed ? 0 : windows_since_change_ + 1;
  if (!void_reason.empty()) {
    void_window(snapshot, void_reason, seen);
    return seen;
  }
  seen.window_seconds = passed;
  seen.unparked_mean =
      std::max(0.0, snapshot.unparked_seconds - last_->unparked_seconds) / seen.window_seconds;
  std::vector<StageDelta> deltas;
  for (std::size_t i = 0; i < snapshot.stages.size(); ++i)
    deltas.push_back(delta(last_->stages[i], snapshot.stages[i]));
  observe_host(snapshot, deltas, seen);
  for (std::size_t l = 0; l < snapshot.loaders.size(); ++l) {
    LoaderObservation loader =
        loaders_[l].add(last_->loaders[l].consumer, snapshot.loaders[l].consumer,
                        seen.window_seconds, seen.time_seconds);
    loader.name = snapshot.loaders[l].name;
    seen.loaders.push_back(loader);
  }
  observe_stages(snapshot, deltas, seen);
  find_visits(seen);
  judge_validity(seen);
  seen.bounds = find_bounds(seen);
  seen.label = diagnose(seen, settings_, strict_);
  last_ = snapshot;
  return seen;
}

}  // namespace weir::detail
