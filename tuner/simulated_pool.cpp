#include "tuner/simulated_pool.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include <weir/random.hpp>

namespace weir::detail {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kHostSeconds = 0.5;    // between two looks at the host, as HostWatch
constexpr double kSliceSeconds = 3e-3;  // of a core, when threads take turns

std::size_t place(int i) { return static_cast<std::size_t>(i); }

}  // namespace

SimulatedPool::SimulatedPool(std::span<const ScenarioProcess> loaders, int workers,
                             std::uint64_t seed, SharedCores& cores, double now)
    : cores_(cores), seed_(seed), budget_(std::max(1, workers)), now_(now), unparked_since_(now) {
  make_loaders(loaders);
}

void SimulatedPool::set_loaders(std::span<const ScenarioProcess> loaders) {
  for (const Worker& worker : workers_)
    if (worker.in_service && worker.needs_core) cores_.want(-1);
  ledger_.release(ledger_.used());
  make_loaders(loaders);
}

void SimulatedPool::make_loaders(std::span<const ScenarioProcess> loaders) {
  stages_.clear();
  edges_.clear();
  loaders_.clear();
  std::size_t count = 0;
  double memory_bytes = 0;
  for (const ScenarioProcess& each : loaders) {
    count += each.stages.size();
    memory_bytes = std::max(memory_bytes, each.memory_bytes);
  }
  ledger_.set_bound(memory_bytes > 0 ? static_cast<std::uint64_t>(memory_bytes)
                                     : ~std::uint64_t{0});
  stages_.reserve(count);
  loaders_.reserve(loaders.size());
  for (const ScenarioProcess& each : loaders) {
    Loader& loader = loaders_.emplace_back(each, now_);
    loader.source.set_flow(each.source, now_);
    make_stages(loader, each.stages);
  }
  views_.resize(stages_.size());
  ends_.assign(stages_.size(), kInfinity);
  wanted_ = Allocation{};
  wanted_.active = budget_;
  wanted_.structure = ++structure_;
  wanted_.stages.resize(stages_.size());
  clamp();
  adjust_depths();
  make_workers();
}

void SimulatedPool::make_stages(Loader& loader, std::span<const ScenarioStage> stages) {
  loader.first_stage = stages_.size();
  for (std::size_t i = 0; i < stages.size(); ++i) {
    using Kind = SimulatedEdge::Kind;
    Kind kind = Kind::plain;
    std::int64_t rows = 1;
    if (i + 1 == stages.size()) {
      kind = Kind::sink;
    } else if (stages[i + 1].batch > 1) {
      kind = Kind::gather;
      rows = stages[i + 1].batch;
    } else if (stages[i].split > 1) {
      kind = Kind::split;
    } else if (stages[i + 1].serial) {
      kind = Kind::serial;
    }
    edges_.push_back(std::make_unique<SimulatedEdge>(kind, rows, stages[i].split, ledger_, now_));
    SimulatedStage::Place where;
    if (i == 0)
      where.source = &loader.source;
    else
      where.in = edges_[edges_.size() - 2].get();
    where.out = edges_.back().get();
    where.ledger = &ledger_;
    where.loader = static_cast<int>(loaders_.size()) - 1;
    where.key = mix_bits(mix_bits(seed_) + stages_.size());
    stages_.emplace_back(stages[i], where, now_);
    if (edges_.back()->renumbers())
      loader.renumbering.insert(loader.renumbering.begin(), stages_.size() - 1);
  }
  loader.end_stage = stages_.size();
}

void SimulatedPool::make_workers() {
  workers_.assign(place(budget_), Worker(stages_.size()));
  sleepers_.clear();
  parked_.clear();
  woken_.clear();
  for (int w = allocation_.active; w-- > 0;) sleepers_.push_back(w);
  for (int w = budget_; w-- > allocation_.active;) parked_.push_back(w);
  count_unparked(allocation_.active - unparked_);
  running_ = 0;
  started_ = false;
}

// Time.

double SimulatedPool::first_end() const {
  // Four at a time, since each minimum waits for the one before it.
  std::array<double, 4> least{kInfinity, kInfinity, kInfinity, kInfinity};
  for (std::size_t i = 0; i + 4 <= ends_.size(); i += 4)
    for (std::size_t k = 0; k < 4; ++k) least[k] = std::min(least[k], ends_[i + k]);
  for (std::size_t i = ends_.size() & ~std::size_t{3}; i < ends_.size(); ++i)
    least[0] = std::min(least[0], ends_[i]);
  return std::min(std::min(least[0], least[1]), std::min(least[2], least[3]));
}

double SimulatedPool::next_event() const {
  if (!started_) return now_;
  double next = first_end();
  for (const Loader& loader : loaders_)
    next = std::min({next, loader.consumer.next_call(), loader.source.next_event()});
  return next;
}

void SimulatedPool::handle_event(double now) {
  now_ = now;
  started_ = true;
  for (Loader& loader : loaders_) loader.source.advance_to(now);
  Loader* caller = nullptr;
  for (Loader& loader : loaders_)
    if (loader.consumer.next_call() <= now) caller = &loader;
  const auto due = std::find_if(ends_.begin(), ends_.end(), [now](double at) { return at <= now; });
  if (caller != nullptr) {
    caller->consumer.call(now);
    serve(*caller);
    wake_if_choosable();
  } else if (due != ends_.end()) {
    const auto stage = static_cast<std::size_t>(due - ends_.begin());
    const int worker = stages_[stage].service().end(now);
    foresee(stage);
    admit_to_device(stage);
    end(worker);
    go_on(worker);
  } else {
    wake_if_choosable();  // A source has something again.
  }
  go_on_woken();
}

void SimulatedPool::set_core_share(double share, double now) {
  now_ = now;
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    stages_[i].service().set_core_share(share, now);
    foresee(i);
  }
}

void SimulatedPool::serve(Loader& loader) {
  SimulatedEdge& sink = *edges_[loader.end_stage - 1];
  while (loader.consumer.waits() && sink.deliverable() > 0) {
    sink.take(now_);
    loader.consumer.take(now_);
    if (loader.consumer.next_call() <= now_) loader.consumer.call(now_);
  }
}

// Choosing.

std::uint64_t SimulatedPool::exempt(std::size_t stage) const {
  const Loader& loader = loaders_[place(stages_[stage].loader())];
  std::uint64_t index = edges_[loader.end_stage - 1]->missing();
  for (const std::size_t edge : loader.renumbering) {
    if (edge < stage) break;
    index = index == edges_[edge]->next_available() ? edges_[edge]->frontier() : kNoIndex;
  }
  return index;
}

bool SimulatedPool::runnable(std::size_t stage) const {
  const std::uint64_t first = stages_[stage].first_ready();
  return first != kNoIndex && (stages_[stage].has_room(first) || first == exempt(stage));
}

void SimulatedPool::look() {
  for (std::size_t i = 0; i < stages_.size(); ++i) views_[i] = {stages_[i].running(), runnable(i)};
}

bool SimulatedPool::claim(int w, int stage) {
  const auto i = place(stage);
  SimulatedStage& entered = stages_[i];
  const int most = weir::most_running(allocation_, stage);
  if (entered.running() >= most) return false;
  const int group = allocation_.stages[i].group;
  if (group >= 0) {
    int running = 0;
    for (std::size_t other = 0; other < stages_.size(); ++other)
      if (allocation_.stages[other].group == group) running += stages_[other].running();
    if (running >= allocation_.groups[place(group)]) return false;
  }
  Worker& worker = workers_[place(w)];
  if (!entered.claim(worker.packet, allocation_.stages[i], allocation_.active, exempt(i), now_))
    return false;
  if (running_ >= budget_ || running_ >= allocation_.active || entered.running() > most)
    ++violations_;
  ++running_;
  most_running_ = std::max(most_running_, running_);
  worker.stage = worker.last = stage;
  worker.began = now_;
  if (entered.service().begin(w, entered.run(worker.packet), now_)) enter_service(worker);
  foresee(i);
  return true;
}

bool SimulatedPool::begin(int w) {
  const int last = workers_[place(w)].last;
  if (last >= 0 && allocation_.stages[place(last)].group < 0) {
    const StageView view{stages_[place(last)].running(), runnable(place(last))};
    if (stays(allocation_, view, last) && claim(w, last)) return true;
  }
  look();
  for (std::size_t attempt = 0; attempt < stages_.size(); ++attempt) {
    const int stage = choose(allocation_, views_, last);
    if (stage < 0) return false;
    if (claim(w, stage)) return true;
    views_[place(stage)].runnable = false;
  }
  return false;
}

// Working.

void SimulatedPool::enter_service(Worker& worker) {
  worker.in_service = true;
  worker.needs_core = stages_[place(worker.stage)].service().needs_core();
  worker.service_began = now_;
  worker.granted_before = cores_.granted_seconds();
  worker.shared_before = cores_.shared_seconds();
  if (worker.needs_core) cores_.want(1);
}

void SimulatedPool::admit_to_device(std::size_t stage) {
  SimulatedService& service = stages_[stage].service();
  for (int w = service.admit(now_); w >= 0; w = service.admit(now_)) {
    workers_[place(w)].clocks.add_sleep();
    enter_service(workers_[place(w)]);
  }
  foresee(stage);
}

void SimulatedPool::end(int w) {
  Worker& worker = workers_[place(w)];
  SimulatedStage& stage = stages_[place(worker.stage)];
  const double elapsed = now_ - worker.began;
  if (worker.needs_core) {
    cores_.want(-1);
    const double granted = cores_.granted_seconds() - worker.granted_before;
    const double shared = cores_.shared_seconds() - worker.shared_before;
    worker.clocks.add_cpu(granted, std::max(0.0, now_ - worker.service_began - granted),
                          shared / kSliceSeconds);
    cpu_seconds_ += granted;
  } else {
    worker.clocks.add_sleep();
  }
  worker.clocks.add_packet(place(worker.stage), elapsed);
  worker.in_service = false;
  worker.stage = -1;
  --running_;
  stage.commit(worker.packet, elapsed, now_);
  Loader& loader = loaders_[place(stage.loader())];
  if (&stage == &stages_[loader.end_stage - 1]) serve(loader);
  if (!worker.clocks.due(now_)) return;
  worker.clocks.read(stages_, now_);
  if (now_ - depths_adjusted_at_ >= SimulatedClocks::kIntervalSeconds) adjust_depths();
}

void SimulatedPool::go_on(int w) {
  if (unparked_ > allocation_.active) {
    parked_.push_back(w);
    count_unparked(-1);
    wake_if_choosable();  // It may have been woken for work that it leaves to another now.
    return;
  }
  if (begin(w)) {
    wake_if_choosable();
  } else {
    workers_[place(w)].clocks.add_sleep();
    sleepers_.push_back(w);
  }
}

void SimulatedPool::go_on_woken() {
  for (std::size_t i = 0; i < woken_.size(); ++i) go_on(woken_[i]);
  woken_.clear();
}

// Parking and sleeping.

void SimulatedPool::wake_one() {
  woken_.push_back(sleepers_.back());
  sleepers_.pop_back();
}

void SimulatedPool::wake_if_choosable() {
  if (sleepers_.empty()) return;
  look();
  if (choose(allocation_, views_, -1) >= 0) wake_one();
}

void SimulatedPool::count_unparked(int change) {
  unparked_seconds_ += (now_ - unparked_since_) * unparked_;
  unparked_since_ = now_;
  unparked_ += change;
}

void SimulatedPool::settle_parking() {
  // Sleepers need no packet boundary: they are parked where they sleep, the longest sleeper first.
  while (!sleepers_.empty() && unparked_ > allocation_.active) {
    parked_.push_back(sleepers_.front());
    sleepers_.erase(sleepers_.begin());
    count_unparked(-1);
  }
  while (!parked_.empty() && unparked_ < allocation_.active) {
    woken_.push_back(parked_.back());
    parked_.pop_back();
    count_unparked(1);
  }
}

// Control.

bool SimulatedPool::apply(const Allocation& allocation) {
  if (allocation.structure != structure_ || allocation.stages.size() != stages_.size())
    return false;
  wanted_ = allocation;
  ++applied_;
  clamp();
  adjust_depths();
  settle_parking();
  wake_if_choosable();
  go_on_woken();
  return true;
}

void SimulatedPool::clamp() {
  allocation_ = wanted_;
  allocation_.active = std::clamp(allocation_.active, 1, budget_);
  for (int& most : allocation_.groups) most = std::clamp(most, 1, budget_);
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    const ScenarioStage& is = stages_[i].is();
    clamp_allotted(allocation_.stages[i], {is.serial, is.fixed_workers, is.hand_cap}, budget_,
                   allocation_.groups.size());
  }
}

void SimulatedPool::adjust_depths() {
  depths_adjusted_at_ = now_;
  for (const Loader& loader : loaders_) {
    for (std::size_t i = loader.first_stage; i < loader.end_stage; ++i) {
      EdgeSide consumer;
      const bool last = i + 1 == loader.end_stage;
      if (!last) consumer = stages_[i + 1].side(allocation_.stages[i + 1]);
      stages_[i].adjust_depth(allocation_.stages[i], allocation_.active, last ? nullptr : &consumer,
                              now_);
    }
  }
}

void SimulatedPool::set_stage(int stage, const ScenarioStage& to) {
  SimulatedStage& changed = stages_[place(stage)];
  changed.set(to, now_);
  admit_to_device(place(stage));
  clamp();
  wake_if_choosable();
  go_on_woken();
}

const ScenarioStage& SimulatedPool::stage(int stage) const { return stages_[place(stage)].is(); }

void SimulatedPool::set_consumer(const ScenarioFlow& to, int loader) {
  loaders_[place(loader)].consumer.set_flow(to);
}

void SimulatedPool::set_source(const ScenarioFlow& to, int loader) {
  loaders_[place(loader)].source.set_flow(to, now_);
  wake_if_choosable();
  go_on_woken();
}

void SimulatedPool::set_workers(int workers) {
  budget_ = std::max(1, workers);
  while (static_cast<int>(workers_.size()) < budget_) {
    parked_.push_back(static_cast<int>(workers_.size()));
    workers_.emplace_back(stages_.size());
  }
  clamp();
  adjust_depths();
  settle_parking();
  wake_if_choosable();
  go_on_woken();
}

void SimulatedPool::pause_consumer(double seconds, int loader) {
  loaders_[place(loader)].consumer.pause(seconds);
}

// Telemetry.

double SimulatedPool::cpu_seconds() const {
  double total = cpu_seconds_;
  for (const Worker& worker : workers_)
    if (worker.in_service && worker.needs_core)
      total += cores_.granted_seconds() - worker.granted_before;
  return total;
}

std::vector<double> SimulatedPool::last_ran_seconds() const {
  std::vector<double> times;
  for (const Worker& worker : workers_) times.push_back(worker.began);
  return times;
}

const HostSnapshot& SimulatedPool::host() const {
  if (host_.read_seconds > 0 && now_ - host_.read_seconds < kHostSeconds) return host_;
  host_.read_seconds = now_;
  host_.cores = cores_.usable_cores();
  host_.host_cores = cores_.cores();
  host_.host_cpu_seconds = cores_.used_seconds() + cores_.used_by_others_seconds();
  host_.process_cpu_seconds = cpu_seconds();
  host_.quota_periods = cores_.periods();
  host_.throttled_periods = cores_.throttled_periods();
  host_.throttled_seconds = cores_.throttled_seconds();
  host_.cpu_pressure_seconds = cores_.pressure_seconds();
  host_.resident_bytes = host_.memory_bytes = ledger_.used();
  return host_;
}

Snapshot SimulatedPool::snapshot() const {
  Snapshot snapshot;
  snapshot.time_seconds = now_;
  snapshot.budget = budget_;
  snapshot.active = allocation_.active;
  snapshot.unparked = unparked_;
  snapshot.unparked_seconds = unparked_seconds_ + (now_ - unparked_since_) * unparked_;
  snapshot.memory_bytes = ledger_.used();
  snapshot.memory_peak_bytes = ledger_.peak();
  snapshot.memory_bound_bytes = ledger_.bound();
  snapshot.memory_stopped = ledger_.stopped();
  snapshot.structure = structure_;
  snapshot.host = host();
  for (const Loader& loader : loaders_)
    snapshot.loaders.push_back({loader.name, loader.consumer.snapshot(now_)});
  for (const SimulatedStage& stage : stages_) snapshot.stages.push_back(stage.snapshot(now_));
  for (const Worker& worker : workers_) {
    if (worker.stage < 0) continue;
    StageSnapshot& own = snapshot.stages[place(worker.stage)];
    const double age = now_ - worker.began;
    own.running_seconds += age;
    own.oldest_running_seconds = std::max(own.oldest_running_seconds, age);
  }
  return snapshot;
}

}  // namespace weir::detail
