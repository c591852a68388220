#include "tuner/placed_pool.hpp"

#include <algorithm>
#include <exception>
#include <memory>
#include <utility>

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <fmt/format.h>

#include "machine/nested_pools.hpp"
#include "machine/topology.hpp"
#include "tuner/control.hpp"

namespace weir::detail {
namespace {

/// Orchestrators rewrite masks and quotas rarely; reading them costs 0.2 ms.
constexpr double kLookSeconds = 2.0;

/// The number of workers that may run after the limits have changed. What the user asked for is
/// not refused any more once it runs, but held to what there is.
int workers_within(const ThreadBudget& now, int most) {
  if (!now.refusal) return std::clamp(now.threads, 1, most);
  return now.refusal->kind == ErrorKind::cannot ? 1 : std::clamp(now.allowed, 1, most);
}

/// The lines of the derivation that name the limits.
std::string limits_of(const ThreadBudget& budget) {
  std::string text;
  for (const std::string& line : budget.derivation) {
    if (!line.starts_with("mask:") && !line.starts_with("quota:")) continue;
    text += (text.empty() ? "" : "; ") + line;
  }
  return text;
}

bool lies_within(const PlacementPlan& plan, const CpuSet& mask) {
  return std::all_of(plan.places.begin(), plan.places.end(),
                     [&](const WorkerPlace& place) { return (place.cpus & mask) == place.cpus; });
}

}  // namespace

PlacedPool::PlacedPool(Settings settings)
    : settings_(std::move(settings)),
      mask_(settings_.budget.mask),
      budget_(settings_.budget.threads),
      registry_(settings_.registry_folder),
      pool_(pool_settings()) {
  if (!settings_.pool.threads || !settings_.watch) return;
  if (settings_.budget.source == BudgetSource::forced) return;
  task_ = Control::instance().add([this] {
    try {
      return look();
    } catch (const std::exception& error) {
      say(fmt::format("what this process may use is no longer watched: {}", error.what()));
      return -1.0;
    }
  });
}

PlacedPool::~PlacedPool() {
  if (task_ != 0) Control::instance().remove(task_);
}

WorkerPool::Settings PlacedPool::pool_settings() {
  WorkerPool::Settings pool = settings_.pool;
  pool.machine = settings_.machine;
  pool.workers = settings_.budget.threads;
  if (!pool.threads) return pool;
  // Forced workers stand in for a larger machine; they have no places on this one.
  if (settings_.budget.source != BudgetSource::forced) {
    const int cpu = ::sched_getcpu();
    if (cpu >= 0) consumer_cpu_ = cpu;
    place(settings_.budget, settings_.budget.threads);
  }
  pool.on_start = [](int worker) {
    // Seen from outside, as in top -H, it is one of ours.
    char name[16];
    const auto end = fmt::format_to_n(name, sizeof name - 1, "weir-worker-{}", worker).out;
    *end = '\0';
    pthread_setname_np(pthread_self(), name);
    static thread_local std::unique_ptr<OpenMpHold> hold;
    hold = std::make_unique<OpenMpHold>();
  };
  pool.on_place = [this](int worker) {
    if (std::optional<std::string> refusal = places_.bind(worker)) say(std::move(*refusal));
  };
  return pool;
}

PlacementPlan PlacedPool::plan(const ThreadBudget& budget, int workers,
                               const std::vector<int>& taken, bool others_are_known) const {
  const Topology topology = read_topology().restricted_to(budget.mask);
  PlacementRequest request = placement_request(budget, settings_.mode);
  request.workers = workers;
  request.taken = taken;
  request.consumer_cpu = consumer_cpu_;
  if (!others_are_known) request.spread = static_cast<std::uint64_t>(::getpid());
  return plan_placement(topology, budget.mask, request);
}

void PlacedPool::place(const ThreadBudget& budget, int workers) {
  PlacementPlan chosen;
  const bool as_written = settings_.written && lies_within(*settings_.written, budget.mask) &&
                          static_cast<int>(settings_.written->places.size()) >= workers;
  if (settings_.written && !as_written)
    say(
        fmt::format("the placement of the tuned file is for {} workers on other CPUs than the ones "
                    "at hand ({}): places are planned anew",
                    settings_.written->places.size(), budget.mask.to_string()));
  const auto choose = [&](const std::vector<int>& taken, bool others_are_known) {
    chosen = as_written ? *settings_.written : plan(budget, workers, taken, others_are_known);
    std::vector<int> homes;
    if (chosen.mode == PlacementMode::none) return homes;
    for (const WorkerPlace& each : chosen.places)
      if (static_cast<int>(homes.size()) < workers) homes.push_back(each.home);
    return homes;
  };
  const bool registered =
      registry_.settle([&](const std::vector<int>& taken) { return choose(taken, true); });
  if (!registered) (void)choose({}, false);
  // Workers above the budget are parked; a place they have all the same.
  for (int worker = static_cast<int>(chosen.places.size());
       worker < settings_.budget.threads && !chosen.places.empty(); ++worker) {
    WorkerPlace again = chosen.places[static_cast<std::size_t>(worker) % chosen.places.size()];
    again.worker = worker;
    chosen.places.push_back(std::move(again));
  }
  places_.set(std::move(chosen), budget.mask);
}

double PlacedPool::look() {
  const ThreadBudget now = derive_thread_budget(settings_.request, settings_.machine);
  const int workers = workers_within(now, settings_.budget.threads);
  bool narrowed = false;
  bool moved = places_.moved();
  {
    const MutexLock lock(mutex_);
    moved = moved || now.mask != mask_;
    mask_ = now.mask;
    narrowed = workers != budget_;
    budget_ = workers;
  }
  if (moved) {
    place(now, workers);
    pool_.place_again();
  }
  if (narrowed) {
    pool_.set_budget(workers);
    say(fmt::format("what this process may use has changed: {} of {} workers from now on ({})",
                    workers, settings_.budget.threads, limits_of(now)));
  }
  return kLookSeconds;
}

int PlacedPool::budget() const {
  const MutexLock lock(mutex_);
  return budget_;
}

void PlacedPool::say(std::string text) {
  const MutexLock lock(mutex_);
  remarks_.push_back(std::move(text));
}

std::vector<std::string> PlacedPool::remarks_since(std::size_t& seen) const {
  const MutexLock lock(mutex_);
  std::vector<std::string> rest(
      remarks_.begin() + static_cast<std::ptrdiff_t>(std::min(seen, remarks_.size())),
      remarks_.end());
  seen = remarks_.size();
  return rest;
}

}  // namespace weir::detail
