#include "policies/observer.hpp"

#include "policies/diagnosis.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace weir::detail {
namespace {

constexpr double kContentionSeconds = 1.0;
// Below this share of slot time, waiting for a CPU changes no service time that matters: stages
// that mostly sleep wait for a CPU nearly as long as they use it, and are not contended.
constexpr double kContendedSlotShare = 0.1;

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

double clamped_share(double seconds, double window_seconds) {
  return std::clamp(seconds / window_seconds, 0.0, 1.0);
}

}  // namespace

void Observer::describe(const Snapshot& snapshot, const Allocation& current,
                        Observation& seen) const {
  seen.time_seconds = snapshot.time_seconds;
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
    if (stage.items_out > 0) each.bytes_out = stage.bytes_out / stage.items_out;
  }
}

Observation Observer::begin(const Snapshot& snapshot, const Allocation& current) {
  last_ = snapshot;
  stages_.assign(snapshot.stages.size(), StageEstimator(settings_));
  for (std::size_t i = 0; i < stages_.size(); ++i) stages_[i].restart(earlier(snapshot.stages[i]));
  loaders_.assign(snapshot.loaders.size(), ConsumerEstimator(settings_));
  cpu_wait_ = {};
  slot_wait_ = {};
  windows_since_change_ = 0;
  Observation seen;
  describe(snapshot, current, seen);
  for (const LoaderSnapshot& loader : snapshot.loaders)
    seen.loaders.emplace_back().name = loader.name;
  seen.valid = false;
  seen.invalid_reason = "nothing measured yet";
  return seen;
}

bool Observer::contended(const Snapshot& snapshot, double window_seconds) {
  double cpu = 0;
  double waits = 0;
  double slots = 0;
  for (std::size_t i = 0; i < snapshot.stages.size(); ++i) {
    const StageSnapshot& now = snapshot.stages[i];
    const StageSnapshot& before = last_->stages[i];
    cpu += now.cpu_user_seconds - before.cpu_user_seconds + now.cpu_system_seconds -
           before.cpu_system_seconds;
    waits += now.run_queue_seconds - before.run_queue_seconds;
    slots += now.slot_seconds - before.slot_seconds;
  }
  const double alpha = 1.0 - std::exp(-window_seconds / kContentionSeconds);
  cpu_wait_.add(cpu + waits, waits, 0, 0, alpha);
  slot_wait_.add(slots, waits, 0, 0, alpha);
  return cpu_wait_.mean() > settings_.contention && slot_wait_.mean() > kContendedSlotShare;
}

void Observer::observe_stages(const Snapshot& snapshot, Observation& seen) {
  const double dt = seen.window_seconds;
  std::vector<StageWindow> windows;
  bool some_drifted = false;
  double running_total = 0;
  for (std::size_t i = 0; i < snapshot.stages.size(); ++i) {
    const StageSnapshot& now = snapshot.stages[i];
    const StageSnapshot& before = last_->stages[i];
    StageObservation& stage = seen.stages[i];

    StageWindow window;
    window.seconds = dt;
    window.items_in = static_cast<double>(now.items_in - before.items_in);
    window.items_out = static_cast<double>(now.items_out - before.items_out);
    window.packets = static_cast<double>(now.packets - before.packets);
    const double slot = now.slot_seconds - before.slot_seconds;
    const double run_queue = now.run_queue_seconds - before.run_queue_seconds;
    const double kept = slot > 0 ? std::clamp((slot - run_queue) / slot, 0.05, 1.0) : 1.0;
    window.service_seconds = slot * kept;
    window.service_seconds_squared =
        (now.slot_seconds_squared - before.slot_seconds_squared) * kept * kept;
    window.running_mean = (now.running_seconds - before.running_seconds) / dt;
    window.oldest_running_seconds = now.oldest_running_seconds;
    window.learn = !seen.first_after_change && !seen.contended;
    window.settled = windows_since_change_ > kSettledWindows;

    stage.items_per_second = window.items_in / dt;
    stage.items_out_per_second = window.items_out / dt;
    stage.completions = static_cast<std::uint64_t>(
        std::min(window.items_in, std::max(window.packets, window.items_in > 0 ? 1.0 : 0.0)));
    stage.service_seconds = window.items_in > 0 ? window.service_seconds / window.items_in : 0.0;
    stage.running_mean = window.running_mean;
    stage.wait_input_share = clamped_share(now.wait_input_seconds - before.wait_input_seconds, dt);
    stage.wait_output_share =
        clamped_share(now.wait_output_seconds - before.wait_output_seconds, dt);
    stage.queue_mean = (now.queue.item_seconds - before.queue.item_seconds) / dt;
    stage.queue_empty_share =
        clamped_share(now.queue.empty_seconds - before.queue.empty_seconds, dt);
    stage.queue_full_share = clamped_share(now.queue.full_seconds - before.queue.full_seconds, dt);
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

Observation Observer::observe(const Snapshot& snapshot, const Allocation& current, bool changed) {
  Observation seen;
  describe(snapshot, current, seen);
  seen.window_seconds = std::max(1e-9, snapshot.time_seconds - last_->time_seconds);
  seen.unparked_mean = (snapshot.unparked_seconds - last_->unparked_seconds) / seen.window_seconds;
  seen.first_after_change = changed;
  windows_since_change_ = changed ? 0 : windows_since_change_ + 1;
  seen.contended = contended(snapshot, seen.window_seconds);
  for (std::size_t l = 0; l < snapshot.loaders.size(); ++l) {
    LoaderObservation loader =
        loaders_[l].add(last_->loaders[l].consumer, snapshot.loaders[l].consumer,
                        seen.window_seconds, snapshot.time_seconds);
    loader.name = snapshot.loaders[l].name;
    seen.loaders.push_back(loader);
  }
  observe_stages(snapshot, seen);
  find_visits(seen);
  judge_validity(seen);
  seen.bounds = find_bounds(seen);
  seen.label = diagnose(seen, settings_, strict_);
  last_ = snapshot;
  return seen;
}

}  // namespace weir::detail
