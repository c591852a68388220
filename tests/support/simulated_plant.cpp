#include "tests/support/simulated_plant.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace weir::test {
namespace {

constexpr double kPi = 3.14159265358979323846;

std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

std::size_t index(int i) { return static_cast<std::size_t>(i); }

}  // namespace

SimulatedPlant::SimulatedPlant(int workers, std::vector<SimulatedLoader> loaders,
                               std::uint64_t seed)
    : workers_(workers), seed_(seed) {
  set_loaders(std::move(loaders));
}

void SimulatedPlant::set_loaders(std::vector<SimulatedLoader> loaders) {
  loaders_.clear();
  for (SimulatedLoader& loader : loaders) loaders_.emplace_back().is = std::move(loader);
  rebuild();
}

void SimulatedPlant::rebuild() {
  ++structure_;
  stages_.clear();
  events_ = {};
  pool_.assign(index(workers_), Worker{});
  sleepers_.clear();
  for (int w = workers_; w-- > 0;) sleepers_.push_back(w);
  busy_ = 0;
  for (std::size_t l = 0; l < loaders_.size(); ++l) {
    Loader& loader = loaders_[l];
    loader.first_stage = static_cast<int>(stages_.size());
    for (const SimulatedStage& is : loader.is.stages) {
      Stage& stage = stages_.emplace_back();
      stage.is = is;
      stage.loader = static_cast<int>(l);
      stage.meters.name = is.name;
      stage.meters.loader = stage.loader;
    }
    loader.last_stage = static_cast<int>(stages_.size()) - 1;
    stages_[index(loader.first_stage)].first = true;
    stages_[index(loader.last_stage)].last = true;
    loader.meters = {};
    loader.waiting = false;
    loader.called = loader.returned = now_;
    push({now_, 0, -1, static_cast<int>(l), 0, 0});
  }
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    const int gathered = i + 1 < stages_.size() && !stages_[i].last ? stages_[i + 1].is.batch : 1;
    stages_[i].capacity = stages_[i].is.depth > 0   ? stages_[i].is.depth
                          : stages_[i].is.batch > 1 ? 4
                                                    : 2 * workers_ + 2 * gathered;
    if (stages_[i].is.depth == 0 && gathered > 1)
      stages_[i].capacity = std::max<std::int64_t>(stages_[i].capacity, workers_ * gathered);
  }
  allocation_ = Allocation{};
  allocation_.active = workers_;
  allocation_.structure = structure_;
  allocation_.stages.resize(stages_.size());
}

double SimulatedPlant::uniform(std::uint64_t stream, std::uint64_t count) const {
  const std::uint64_t bits = mixed(mixed(seed_ * 1000003 + stream) + count);
  return (static_cast<double>(bits >> 11) + 0.5) * 0x1.0p-53;
}

double SimulatedPlant::drawn(double mean, double cv, std::uint64_t stream,
                             std::uint64_t count) const {
  if (cv <= 0) return mean;
  const double normal = std::sqrt(-2.0 * std::log(uniform(2 * stream, count))) *
                        std::cos(2.0 * kPi * uniform(2 * stream + 1, count));
  const double variance = std::log(1.0 + cv * cv);
  return mean * std::exp(std::sqrt(variance) * normal - 0.5 * variance);
}

void SimulatedPlant::push(Event event) {
  event.order = order_++;
  events_.push(event);
}

bool SimulatedPlant::has_input(int i) const {
  const Stage& stage = stages_[index(i)];
  if (!stage.first) return stages_[index(i - 1)].length >= stage.is.batch;
  const Loader& loader = loaders_[index(stage.loader)];
  return loader.is.source_per_second <= 0 || loader.source_ready >= stage.is.batch;
}

std::int64_t SimulatedPlant::depth_of(int i) const {
  return i < static_cast<int>(allocation_.stages.size()) &&
                 allocation_.stages[index(i)].depth_items > 0
             ? allocation_.stages[index(i)].depth_items
             : stages_[index(i)].capacity;
}

bool SimulatedPlant::has_room(int i) const {
  const Stage& stage = stages_[index(i)];
  return stage.length + stage.reserved_out < depth_of(i);
}

void SimulatedPlant::start_packet(int w, int i) {
  Stage& stage = stages_[index(i)];
  Worker& worker = pool_[index(w)];
  ++stage.running;
  ++stage.reserved_out;
  ++busy_;
  most_busy_ = std::max(most_busy_, busy_);
  if (stage.first)
    loaders_[index(stage.loader)].source_ready -= stage.is.batch;
  else
    stages_[index(i - 1)].length -= stage.is.batch;
  const double n = stage.running;
  double service = drawn(stage.is.seconds, stage.is.cv, index(i) + 1, stage.draws++);
  service *= 1.0 + stage.is.contention * (n - 1) + stage.is.coherence * n * (n - 1);
  if (stage.is.slow_above > 0 && stage.running > stage.is.slow_above)
    service *= stage.is.slow_factor;
  worker.stage = worker.last = i;
  worker.since = now_;
  stage.started.push_back(now_);
  push({now_ + service / (1.0 - run_queue_share_), 0, w, stage.loader, stage.is.batch, service});
}

void SimulatedPlant::end_packet(const Event& event) {
  Worker& worker = pool_[index(event.worker)];
  Stage& stage = stages_[index(worker.stage)];
  const double slot = now_ - worker.since;
  StageSnapshot& meters = stage.meters;
  const auto items = static_cast<std::uint64_t>(event.items);
  meters.items_in += items;
  ++meters.packets;
  meters.slot_seconds += slot;
  meters.slot_seconds_squared += slot * slot / static_cast<double>(items);
  meters.run_queue_seconds += slot - event.service;
  meters.cpu_user_seconds += event.service;
  meters.service_times.add(static_cast<std::uint64_t>(slot / static_cast<double>(items) * 1e9),
                           items);
  stage.started.erase(std::find(stage.started.begin(), stage.started.end(), worker.since));
  --stage.running;
  --stage.reserved_out;
  --busy_;
  const bool kept =
      stage.is.keep >= 1 || uniform(1000 + index(worker.stage), meters.packets) < stage.is.keep;
  if (kept) {
    ++stage.length;
    ++meters.items_out;
    meters.bytes_out += 1000;
  }
  worker.stage = -1;
  sleepers_.push_back(event.worker);
}

void SimulatedPlant::call_next(int l) {
  Loader& loader = loaders_[index(l)];
  if (loader.meters.items > 0) {
    const double service = now_ - loader.returned;
    loader.meters.service_seconds += service;
    loader.meters.service_seconds_squared += service * service;
  }
  loader.waiting = true;
  loader.called = now_;
}

void SimulatedPlant::serve_consumers() {
  for (std::size_t l = 0; l < loaders_.size(); ++l) {
    Loader& loader = loaders_[l];
    Stage& last = stages_[index(loader.last_stage)];
    while (loader.waiting && last.length > 0) {
      --last.length;
      loader.waiting = false;
      const double wait = now_ - loader.called;
      loader.meters.wait_seconds += wait;
      if (loader.meters.items == 0) loader.meters.first_wait_seconds = wait;
      ++loader.meters.items;
      loader.returned = now_;
      const double service =
          drawn(loader.is.consumer_seconds, loader.is.consumer_cv, 500 + l, loader.draws++) +
          std::exchange(loader.pause, 0.0);
      if (service > 0)
        push({now_ + service, 0, -1, static_cast<int>(l), 0, 0});
      else
        call_next(static_cast<int>(l));
    }
  }
}

void SimulatedPlant::dispatch() {
  serve_consumers();
  std::vector<StageView> views(stages_.size());
  while (busy_ < allocation_.active && !sleepers_.empty()) {
    for (std::size_t i = 0; i < stages_.size(); ++i)
      views[i] = {stages_[i].running,
                  has_input(static_cast<int>(i)) && has_room(static_cast<int>(i))};
    const int w = sleepers_.back();
    const int chosen = choose(allocation_, views, pool_[index(w)].last);
    if (chosen < 0) return;
    sleepers_.pop_back();
    start_packet(w, chosen);
  }
}

void SimulatedPlant::integrate(double to) {
  const double dt = to - now_;
  if (dt > 0) {
    unparked_seconds_ += dt * std::max(allocation_.active, busy_);
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      Stage& stage = stages_[i];
      const bool input = has_input(static_cast<int>(i));
      const bool room = has_room(static_cast<int>(i));
      stage.meters.running_seconds += dt * stage.running;
      if (stage.running == 0 && !input) stage.meters.wait_input_seconds += dt;
      if (input && !room) stage.meters.wait_output_seconds += dt;
      stage.meters.queue.item_seconds += dt * static_cast<double>(stage.length);
      if (stage.length == 0) stage.meters.queue.empty_seconds += dt;
      if (!room) stage.meters.queue.full_seconds += dt;
    }
    for (Loader& loader : loaders_)
      if (loader.is.source_per_second > 0)
        loader.source_ready =
            std::min(loader.source_ready + dt * loader.is.source_per_second, 64.0);
  }
  now_ = to;
}

void SimulatedPlant::advance(double seconds) {
  const double end = now_ + seconds;
  while (true) {
    dispatch();
    double next = events_.empty() ? std::numeric_limits<double>::infinity() : events_.top().time;
    // A source that runs dry is an event of its own: when the next item is there.
    for (const Loader& loader : loaders_) {
      const double missing = stages_[index(loader.first_stage)].is.batch - loader.source_ready;
      if (loader.is.source_per_second > 0 && missing > 0)
        next = std::min(next, now_ + missing / loader.is.source_per_second + 1e-9);
    }
    if (next > end) break;
    integrate(next);
    while (!events_.empty() && events_.top().time <= now_) {
      const Event event = events_.top();
      events_.pop();
      if (event.worker >= 0)
        end_packet(event);
      else
        call_next(event.loader);
      dispatch();
    }
  }
  integrate(end);
}

void SimulatedPlant::pause_consumer(int loader, double seconds) {
  loaders_[index(loader)].pause = seconds;
}

bool SimulatedPlant::apply(const Allocation& allocation) {
  if (allocation.structure != structure_ || allocation.stages.size() != stages_.size())
    return false;
  allocation_ = allocation;
  allocation_.active = std::clamp(allocation.active, 1, workers_);
  ++applied_;
  return true;
}

Snapshot SimulatedPlant::snapshot() const {
  Snapshot result;
  result.time_seconds = now_;
  result.budget = workers_;
  result.active = allocation_.active;
  result.unparked = std::max(allocation_.active, busy_);
  result.unparked_seconds = unparked_seconds_;
  result.memory_bound_bytes = 1 << 30;
  result.structure = structure_;
  for (const Loader& loader : loaders_) {
    LoaderSnapshot& own = result.loaders.emplace_back();
    own.name = loader.is.name;
    own.consumer = loader.meters;
    own.consumer.waiting = loader.waiting;
    if (loader.waiting) {
      own.consumer.wait_seconds += now_ - loader.called;
      if (loader.meters.items == 0) own.consumer.first_wait_seconds += now_ - loader.called;
    }
  }
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    const Stage& stage = stages_[i];
    StageSnapshot& own = result.stages.emplace_back(stage.meters);
    own.serial = stage.is.serial;
    own.fixed_workers = stage.is.fixed_workers;
    own.hand_cap = stage.is.hand_cap;
    own.running = stage.running;
    if (!stage.started.empty())
      own.oldest_running_seconds =
          now_ - *std::min_element(stage.started.begin(), stage.started.end());
    own.queue.capacity_items = depth_of(static_cast<int>(i));
    own.queue.length_items = stage.length;
  }
  return result;
}

}  // namespace weir::test
