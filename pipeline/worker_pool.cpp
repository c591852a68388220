#include "pipeline/worker_pool.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <system_error>
#include <utility>

#include <weir/error.hpp>

namespace weir::detail {
namespace {

constexpr std::chrono::seconds kLateAfter{5};

/// Whose function this thread is in: closing from there would wait for itself.
thread_local const Stage* stage_under_way = nullptr;

}  // namespace

WorkerPool::WorkerPool(Settings settings)
    : settings_(std::move(settings)), host_(settings_.machine) {
  ledger_.set_bound(settings_.memory_bytes);
  for (int i = 0; i < settings_.workers; ++i) workers_.push_back(std::make_unique<Worker>());
  auto first = std::make_unique<Assignment>();
  first->allocation = settings_.first;
  first->allocation.stages.clear();
  first->allocation.active = std::clamp(settings_.first.active, 1, settings_.workers);
  active_.store(first->allocation.active, std::memory_order_relaxed);
  {
    MutexLock lock(publish_mutex_);
    budget_ = settings_.workers;
    wanted_active_ = first->allocation.active;
    current_.store(first.get(), std::memory_order_seq_cst);
    owned_ = std::move(first);
  }
  if (!settings_.threads) {
    MutexLock lock(sleep_mutex_);
    count_unparked(active_.load(std::memory_order_relaxed));
    return;
  }
  int started = 0;
  try {
    for (; started < settings_.workers; ++started)
      workers_[static_cast<std::size_t>(started)]->thread =
          std::thread([this, started] { work(started); });
  } catch (const std::system_error& error) {
    stop();  // The destructor of a half-made pool does not run.
    throw Error(ErrorKind::cannot, "workers",
                "the system gives " + std::to_string(started) + " of " +
                    std::to_string(settings_.workers) + " threads (" + error.what() +
                    "); ask for fewer workers or raise the limit of processes");
  }
}

WorkerPool::~WorkerPool() { stop(); }

void WorkerPool::stop() {
  stop_.store(true, std::memory_order_seq_cst);
  {
    MutexLock lock(sleep_mutex_);
    for (const std::unique_ptr<Worker>& worker : workers_) worker->wake.notify_all();
  }
  for (const std::unique_ptr<Worker>& worker : workers_)
    if (worker->thread.joinable()) worker->thread.join();
}

// Publishing.

void WorkerPool::publish(std::unique_ptr<Assignment> next) {
  next->id = ++assignments_;
  active_.store(next->allocation.active, std::memory_order_seq_cst);
  const Assignment* old = current_.exchange(next.get(), std::memory_order_seq_cst);
  // Choosing takes no lock for long and calls nothing of the user's: this wait is short.
  for (const std::unique_ptr<Worker>& worker : workers_)
    while (worker->reading.load(std::memory_order_seq_cst) == old) std::this_thread::yield();
  owned_ = std::move(next);
}

const WorkerPool::Assignment* WorkerPool::read(Worker& worker) {
  const Assignment* assignment = current_.load(std::memory_order_seq_cst);
  while (true) {
    worker.reading.store(assignment, std::memory_order_seq_cst);
    const Assignment* again = current_.load(std::memory_order_seq_cst);
    if (again == assignment) return assignment;
    assignment = again;
  }
}

void WorkerPool::add(const LoaderStages* loader, const std::vector<StageAllocation>& allotted) {
  {
    MutexLock lock(publish_mutex_);
    auto next = std::make_unique<Assignment>(*owned_);
    next->loaders.push_back(loader);
    next->stages.insert(next->stages.end(), loader->stages.begin(), loader->stages.end());
    next->allocation.stages.insert(next->allocation.stages.end(), allotted.begin(), allotted.end());
    next->allocation.structure = ++structure_;
    clamp(*next);
    adjust_depths(*next);
    publish(std::move(next));
  }
  work_may_be_ready();
}

void WorkerPool::remove(const LoaderStages* loader, const std::function<void()>& late) {
  {
    MutexLock lock(publish_mutex_);
    auto next = std::make_unique<Assignment>();
    next->allocation = owned_->allocation;
    next->allocation.stages.clear();
    std::size_t stage = 0;
    for (const LoaderStages* other : owned_->loaders) {
      for (Stage* own : other->stages) {
        if (other != loader) {
          next->stages.push_back(own);
          next->allocation.stages.push_back(owned_->allocation.stages[stage]);
        }
        ++stage;
      }
      if (other != loader) next->loaders.push_back(other);
    }
    next->allocation.structure = ++structure_;
    publish(std::move(next));
  }
  draining_.fetch_add(1, std::memory_order_seq_cst);
  const auto idle = [loader] {
    return std::all_of(loader->stages.begin(), loader->stages.end(),
                       [](const Stage* stage) { return stage->idle(); });
  };
  {
    MutexLock lock(drain_mutex_);
    const auto deadline = std::chrono::steady_clock::now() + kLateAfter;
    bool said = false;
    while (!idle()) {
      if (said) {
        lock.wait(drained_);
      } else if (!lock.wait_until(drained_, deadline) && !idle()) {
        said = true;
        if (late) late();
      }
    }
  }
  draining_.fetch_sub(1, std::memory_order_seq_cst);
}

std::vector<StageAllocation> WorkerPool::allotted(const LoaderStages* loader) const {
  MutexLock lock(publish_mutex_);
  std::vector<StageAllocation> own;
  std::size_t stage = 0;
  for (const LoaderStages* other : owned_->loaders)
    for (std::size_t i = 0; i < other->stages.size(); ++i, ++stage)
      if (other == loader) own.push_back(owned_->allocation.stages[stage]);
  return own;
}

Allocation WorkerPool::allocation() const {
  MutexLock lock(publish_mutex_);
  return owned_->allocation;
}

bool WorkerPool::apply(const Allocation& allocation) {
  {
    MutexLock lock(publish_mutex_);
    if (allocation.structure != structure_ || allocation.stages.size() != owned_->stages.size())
      return false;
    auto next = std::make_unique<Assignment>(*owned_);
    next->allocation = allocation;
    wanted_active_ = allocation.active;
    clamp(*next);
    adjust_depths(*next);
    publish(std::move(next));
  }
  settle_parking();
  work_may_be_ready();
  return true;
}

void WorkerPool::set_budget(int workers) {
  {
    MutexLock lock(publish_mutex_);
    budget_ = std::clamp(workers, 1, this->workers());
    auto next = std::make_unique<Assignment>(*owned_);
    next->allocation.active = wanted_active_;
    clamp(*next);
    adjust_depths(*next);
    publish(std::move(next));
  }
  settle_parking();
  work_may_be_ready();
}

void WorkerPool::clamp(Assignment& assignment) const {
  Allocation& allocation = assignment.allocation;
  allocation.active = std::clamp(allocation.active, 1, budget_);
  for (int& most : allocation.groups) most = std::clamp(most, 1, workers());
  for (std::size_t i = 0; i < assignment.stages.size(); ++i) {
    const Stage::Settings& stage = assignment.stages[i]->settings();
    clamp_allotted(allocation.stages[i], {stage.serial, stage.fixed_workers, stage.hand_cap},
                   workers(), allocation.groups.size());
  }
}

void WorkerPool::adjust_depths(const Assignment& assignment) const {
  const Allocation& allocation = assignment.allocation;
  std::size_t stage = 0;
  for (const LoaderStages* loader : assignment.loaders) {
    for (std::size_t i = 0; i < loader->stages.size(); ++i, ++stage) {
      const bool last = i + 1 == loader->stages.size();
      loader->stages[i]->adjust_depth(allocation.stages[stage], allocation.active,
                                      last ? nullptr : loader->stages[i + 1],
                                      last ? nullptr : &allocation.stages[stage + 1]);
    }
  }
}

// Waking.

bool WorkerPool::look(const Assignment& assignment, std::vector<StageView>& views) {
  views.resize(assignment.stages.size());
  for (std::size_t i = 0; i < views.size(); ++i)
    views[i] = {assignment.stages[i]->running(), assignment.stages[i]->runnable()};
  return choose(assignment.allocation, views, -1) >= 0;
}

void WorkerPool::wake_if_choosable(Worker& worker) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (sleeping_.load(std::memory_order_seq_cst) == 0) return;
  const bool choosable = look(*read(worker), worker.views);
  worker.reading.store(nullptr, std::memory_order_seq_cst);
  if (choosable) wake_one();
}

void WorkerPool::work_may_be_ready() {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (sleeping_.load(std::memory_order_seq_cst) == 0) return;
  MutexLock lock(publish_mutex_);
  if (look(*owned_, outside_views_)) wake_one();
}

// Working.

int WorkerPool::last_index(const Assignment& assignment, Worker& worker) const {
  if (worker.last_assignment != assignment.id) {
    const auto at = std::find(assignment.stages.begin(), assignment.stages.end(), worker.last);
    worker.last_index =
        at == assignment.stages.end() ? -1 : static_cast<int>(at - assignment.stages.begin());
    worker.last_assignment = assignment.id;
  }
  return worker.last_index;
}

bool WorkerPool::enter(const Allocation& allocation, const std::vector<Stage*>& stages, int stage) {
  Stage& entered = *stages[static_cast<std::size_t>(stage)];
  const int group = allocation.stages[static_cast<std::size_t>(stage)].group;
  const int most = most_running(allocation, stage);
  if (group < 0) return entered.enter(most);
  // The sum and not a counter of its own, because the next allocation may group stages otherwise
  // while their packets are still running.
  MutexLock lock(group_mutex_);
  int running = 0;
  for (std::size_t i = 0; i < stages.size(); ++i)
    if (allocation.stages[i].group == group) running += stages[i]->running();
  return running < allocation.groups[static_cast<std::size_t>(group)] && entered.enter(most);
}

void WorkerPool::leave(Stage* stage) {
  stage->leave();  // From here on the stage may be gone.
  if (draining_.load(std::memory_order_seq_cst) > 0) {
    MutexLock lock(drain_mutex_);
    drained_.notify_all();
  }
}

bool WorkerPool::begin(int id) {
  Worker& worker = *workers_[static_cast<std::size_t>(id)];
  const Assignment& assignment = *read(worker);
  const Allocation& allocation = assignment.allocation;
  const std::size_t count = assignment.stages.size();
  const auto claim = [&](int stage) {
    Stage* entered = assignment.stages[static_cast<std::size_t>(stage)];
    if (!enter(allocation, assignment.stages, stage)) return false;
    if (!entered->claim(worker.packet, allocation.stages[static_cast<std::size_t>(stage)],
                        allocation.active)) {
      leave(entered);
      return false;
    }
    worker.stage = entered;
    worker.last = entered;
    worker.last_index = stage;
    worker.last_assignment = assignment.id;
    return true;
  };
  bool begun = false;
  const int last = last_index(assignment, worker);
  if (last >= 0 && allocation.stages[static_cast<std::size_t>(last)].group < 0) {
    const Stage& stage = *assignment.stages[static_cast<std::size_t>(last)];
    begun = stays(allocation, {stage.running(), stage.runnable()}, last) && claim(last);
  }
  if (!begun) {
    (void)look(assignment, worker.views);
    for (std::size_t attempt = 0; attempt < count && !begun; ++attempt) {
      const int stage = choose(allocation, worker.views, last);
      if (settings_.choices != nullptr)
        settings_.choices->chosen(allocation, worker.views, last, stage);
      if (stage < 0) break;
      begun = claim(stage);
      worker.views[static_cast<std::size_t>(stage)].runnable = false;
    }
  }
  worker.reading.store(nullptr, std::memory_order_seq_cst);
  if (begun) wake_if_choosable(worker);
  return begun;
}

void WorkerPool::end(int id) {
  Worker& worker = *workers_[static_cast<std::size_t>(id)];
  Stage* stage = std::exchange(worker.stage, nullptr);
  stage_under_way = stage;
  stage->run(worker.packet, id);
  stage_under_way = nullptr;
  stage->commit(worker.packet, id);
  if (worker.clocks.due()) look_at_clocks(id);
  leave(stage);
  wake_if_choosable(worker);
}

bool WorkerPool::this_thread_works_for(const LoaderStages& loader) {
  return std::find(loader.stages.begin(), loader.stages.end(), stage_under_way) !=
         loader.stages.end();
}

bool WorkerPool::step(int worker) {
  if (!begin(worker)) return false;
  end(worker);
  return true;
}

void WorkerPool::work(int id) {
  Worker& worker = *workers_[static_cast<std::size_t>(id)];
  if (settings_.on_start) settings_.on_start(id);
  const auto take_place = [&] {
    const std::uint64_t places = places_.load(std::memory_order_acquire);
    if (worker.placed == places) return;
    worker.placed = places;
    if (settings_.on_place) settings_.on_place(id);
  };
  take_place();  // Also those that are never unparked have one.
  start_parked_or_not(id);
  while (!stop_.load(std::memory_order_seq_cst)) {
    take_place();
    if (id >= active_.load(std::memory_order_relaxed) && park(id)) continue;
    if (begin(id))
      end(id);
    else
      sleep(id);
  }
  if (settings_.on_end) settings_.on_end(id);
}

// Telemetry.

void WorkerPool::look_at_clocks(int id) {
  Worker& worker = *workers_[static_cast<std::size_t>(id)];
  const Assignment& assignment = *read(worker);
  worker.clocks.read(assignment.stages, id);
  adjust_depths(assignment);
  worker.reading.store(nullptr, std::memory_order_seq_cst);
}

Snapshot WorkerPool::snapshot() const {
  MutexLock lock(publish_mutex_);
  return read_all();
}

WorkerPool::Reading WorkerPool::reading(const LoaderStages* loader) const {
  MutexLock lock(publish_mutex_);
  Reading reading{read_all(), owned_->allocation, -1, peak_unparked()};
  const auto at = std::find(owned_->loaders.begin(), owned_->loaders.end(), loader);
  if (at != owned_->loaders.end()) reading.loader = static_cast<int>(at - owned_->loaders.begin());
  return reading;
}

Snapshot WorkerPool::read_all() const {
  Snapshot snapshot;
  const Nanoseconds now = monotonic_now();
  snapshot.time_seconds = static_cast<double>(now) * 1e-9;
  snapshot.budget = budget_;
  snapshot.active = owned_->allocation.active;
  {
    MutexLock sleep_lock(sleep_mutex_);
    snapshot.unparked = unparked_.load(std::memory_order_relaxed);
    if (unparked_since_ != 0)
      unparked_ns_ += static_cast<double>(now - unparked_since_) * snapshot.unparked;
    unparked_since_ = now;
    snapshot.unparked_seconds = unparked_ns_ * 1e-9;
  }
  snapshot.memory_bytes = ledger_.used();
  snapshot.memory_peak_bytes = ledger_.peak();
  snapshot.memory_bound_bytes = ledger_.bound();
  snapshot.memory_stopped = ledger_.stopped();
  snapshot.structure = structure_;
  snapshot.host = host_.read(snapshot.time_seconds);
  for (const LoaderStages* loader : owned_->loaders) {
    snapshot.loaders.push_back({loader->name, loader->consumer()});
    if (loader->reading) snapshot.loaders.back().reading = loader->reading();
    for (const Stage* stage : loader->stages) {
      snapshot.stages.push_back(stage->snapshot(now));
      snapshot.stages.back().loader = static_cast<int>(snapshot.loaders.size()) - 1;
    }
  }
  return snapshot;
}

}  // namespace weir::detail
