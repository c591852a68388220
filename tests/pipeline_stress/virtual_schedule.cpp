#include "tests/pipeline_stress/virtual_schedule.hpp"

#include <algorithm>

#include <weir/allocation.hpp>

namespace weir::test {
namespace {

detail::WorkerPool::Settings pool_settings(const ScheduleSettings& settings) {
  detail::WorkerPool::Settings pool;
  pool.workers = settings.workers;
  pool.threads = false;
  pool.memory_bytes = settings.memory_bytes;
  pool.first.active = settings.workers;
  return pool;
}

/// More steps than any schedule of these cases takes, far fewer than forever.
constexpr std::uint64_t kMostActions = 2'000'000;

}  // namespace

std::string ScheduleSettings::text() const {
  return "schedule " + std::to_string(seed) + ": " + std::to_string(workers) + " workers, " +
         std::to_string(memory_bytes) + " bytes, packets of " + std::to_string(packet_items) +
         (changes ? ", changes" : "") + (pauses ? ", pauses" : "") + (leaves ? ", leaves" : "");
}

VirtualSchedule::VirtualSchedule(const ScheduleSettings& settings)
    : settings_(settings),
      random_(settings.seed),
      pool_(pool_settings(settings)),
      busy_(static_cast<std::size_t>(settings.workers)),
      most_bound_(settings.memory_bytes) {}

void VirtualSchedule::add(const StressCase& stress) {
  auto loader = std::make_unique<LoaderRun>();
  loader->stress = stress;
  loader->given.resize(1);
  const detail::StagePlan plan = plan_of(stress);
  detail::Engine::Settings engine;
  engine.name = "loader" + std::to_string(loaders_.size());
  engine.seed = stress.seed;
  engine.any_order = stress.any_order;
  engine.on_bad_sample.action = BadSamplePolicy::Action::skip;
  engine.end_epoch = stress.epochs;
  engine.consumer = [] { return ConsumerSnapshot{}; };
  engine.allotted.resize(plan.stages.size());
  for (StageAllocation& allotted : engine.allotted) {
    allotted.packet_items = settings_.packet_items;
    allotted.depth_items = static_cast<std::int64_t>(below(5));
  }
  loader->engine = std::make_unique<detail::Engine>(plan, pool_, std::move(engine));
  loaders_.push_back(std::move(loader));
}

std::vector<detail::Stage*> VirtualSchedule::stages() const {
  std::vector<detail::Stage*> all;
  for (const std::unique_ptr<LoaderRun>& loader : loaders_)
    if (loader->engine)
      all.insert(all.end(), loader->engine->stages().stages.begin(),
                 loader->engine->stages().stages.end());
  return all;
}

bool VirtualSchedule::all_done() const {
  return std::all_of(loaders_.begin(), loaders_.end(),
                     [](const std::unique_ptr<LoaderRun>& loader) { return loader->done; });
}

std::string VirtualSchedule::run() {
  for (std::uint64_t action = 0; failure_.empty() && !all_done(); ++action) {
    if (action == kMostActions) return "still not done after " + std::to_string(action) + " steps";
    const int worker = static_cast<int>(below(static_cast<std::uint64_t>(settings_.workers)));
    const std::uint64_t draw = below(100);
    if (draw < 45) {
      if (busy_[static_cast<std::size_t>(worker)])
        end(worker);
      else
        (void)try_begin(worker);
    } else if (draw < 75) {
      (void)try_consume(*loaders_[below(loaders_.size())]);
    } else if (draw < 77) {
      change();
    } else if (draw < 78 && settings_.leaves && below(30) == 0) {
      close(*loaders_[below(loaders_.size())]);
    } else if (draw < 80 && settings_.pauses) {
      LoaderRun& loader = *loaders_[below(loaders_.size())];
      loader.paused = !loader.paused;
    } else {
      check_stalled();
    }
  }
  for (std::size_t worker = 0; worker < busy_.size(); ++worker)
    if (busy_[worker]) end(static_cast<int>(worker));
  if (failure_.empty() && pool_.ledger().used() != 0)
    failure_ = std::to_string(pool_.ledger().used()) + " bytes are still counted at the end";
  for (const std::unique_ptr<LoaderRun>& loader : loaders_) loader->engine.reset();
  if (failure_.empty() && pool_.ledger().used() != 0) failure_ = "bytes are left after the end";
  return failure_;
}

bool VirtualSchedule::try_begin(int worker) {
  const auto running = std::count(busy_.begin(), busy_.end(), true);
  if (running >= pool_.allocation().active) return false;
  std::vector<int> before;
  for (const detail::Stage* stage : stages()) before.push_back(stage->running());
  if (!pool_.begin(worker)) return false;
  busy_[static_cast<std::size_t>(worker)] = true;
  ++packets_;
  check_started(before);
  check_bytes();
  return true;
}

void VirtualSchedule::end(int worker) {
  pool_.end(worker);
  busy_[static_cast<std::size_t>(worker)] = false;
  check_bytes();
}

bool VirtualSchedule::try_consume(LoaderRun& loader) {
  if (loader.paused || loader.done) return false;
  detail::SlotHeader* slot = nullptr;
  if (loader.engine->try_take(slot) != detail::SinkEdge::Take::slot) return false;
  if (slot->notes) loader.bad += slot->notes->size();
  if (slot->state == detail::SlotState::live) {
    for (const std::uint64_t id : ids_in(loader.stress, slot)) loader.given.back().push_back(id);
  } else if (slot->state == detail::SlotState::epoch_end) {
    if (loader.given.size() == loader.stress.epochs)
      loader.done = true;
    else
      loader.given.emplace_back();
  }
  loader.engine->give_back();
  return true;
}

void VirtualSchedule::close(LoaderRun& loader) {
  if (loader.done) return;
  // Closing waits for packets under way, which nobody else would end here.
  for (std::size_t worker = 0; worker < busy_.size(); ++worker)
    if (busy_[worker]) end(static_cast<int>(worker));
  loader.engine.reset();
  loader.done = loader.closed_early = true;
}

Allocation VirtualSchedule::random_allocation() {
  Allocation allocation = pool_.allocation();
  allocation.active = static_cast<int>(1 + below(static_cast<std::uint64_t>(settings_.workers)));
  allocation.strict = below(3) == 0;
  allocation.helping = below(4) != 0;
  allocation.stay_slack = below(3) == 0 ? Allocation::kUnlimited : 1.0;
  allocation.groups.clear();
  if (allocation.strict && below(2) == 0) {
    const std::uint64_t groups = 1 + below(3);
    for (std::uint64_t i = 0; i < groups; ++i)
      allocation.groups.push_back(static_cast<int>(1 + below(3)));
  }
  for (StageAllocation& stage : allocation.stages) {
    stage.target = below(5) == 0 ? 0.0 : static_cast<double>(below(30)) / 10;
    stage.cap = static_cast<int>(1 + below(static_cast<std::uint64_t>(settings_.workers)));
    stage.depth_items = static_cast<std::int64_t>(below(6));
    stage.packet_items = settings_.packet_items;
    stage.group = static_cast<int>(below(allocation.groups.size() + 1)) - 1;
  }
  return allocation;
}

void VirtualSchedule::change() {
  if (!settings_.changes) return;
  switch (below(3)) {
    case 0:
      if (!pool_.apply(random_allocation())) failure_ = "an allocation was refused";
      break;
    case 1: {
      LoaderRun& loader = *loaders_[below(loaders_.size())];
      if (!loader.engine) break;
      const std::vector<detail::Stage*>& own = loader.engine->stages().stages;
      if (!loader.engine->resize_queue(own[below(own.size())]->name(),
                                       static_cast<std::int64_t>(1 + below(6))))
        failure_ = "a queue was not found";
      break;
    }
    default: {
      if (settings_.memory_bytes == ~std::uint64_t{0}) break;
      const std::uint64_t bound = 1 + below(2 * settings_.memory_bytes);
      most_bound_ = std::max(most_bound_, bound);
      pool_.ledger().set_bound(bound);
      break;
    }
  }
}

void VirtualSchedule::check_started(const std::vector<int>& before) {
  const Allocation allocation = pool_.allocation();
  const std::vector<detail::Stage*> all = stages();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i]->running() == before[i]) continue;
    if (all[i]->running() > most_running(allocation, static_cast<int>(i)))
      failure_ = "stage " + all[i]->name() + " started above its cap";
    const int group = allocation.stages[i].group;
    if (group < 0) continue;
    int running = 0;
    for (std::size_t other = 0; other < all.size(); ++other)
      if (allocation.stages[other].group == group) running += all[other]->running();
    if (running > allocation.groups[static_cast<std::size_t>(group)])
      failure_ = "stage " + all[i]->name() + " started above its group's share";
  }
}

void VirtualSchedule::check_bytes() {
  if (settings_.memory_bytes == ~std::uint64_t{0} || settings_.packet_items == 0) return;
  std::uint64_t most = most_bound_;
  std::uint64_t most_output = 0;
  for (const std::unique_ptr<LoaderRun>& loader : loaders_) {
    most_output = std::max(most_output, loader->stress.most_output_bytes());
    most += loader->stress.batch_bytes();
  }
  most += static_cast<std::uint64_t>(settings_.workers) * most_output *
          static_cast<std::uint64_t>(settings_.packet_items);
  if (pool_.ledger().used() > most)
    failure_ = std::to_string(pool_.ledger().used()) + " bytes are owned where at most " +
               std::to_string(most) + " may be (bound " + std::to_string(most_bound_) + ")";
}

/// Something must go on, or no consumer may be waiting.
void VirtualSchedule::check_stalled() {
  if (std::any_of(busy_.begin(), busy_.end(), [](bool busy) { return busy; })) return;
  for (int worker = 0; worker < settings_.workers; ++worker)
    if (try_begin(worker)) return;
  const std::vector<detail::Stage*> all = stages();
  std::vector<StageView> views;
  for (const detail::Stage* stage : all) views.push_back({stage->running(), stage->runnable()});
  if (choose(pool_.allocation(), views, -1) >= 0) {
    failure_ = "a stage looks runnable and gives no packet: a worker would spin";
    return;
  }
  bool waiting = false;
  for (const std::unique_ptr<LoaderRun>& loader : loaders_) {
    if (loader->done) continue;
    if (!loader->paused && try_consume(*loader)) return;
    waiting = waiting || !loader->paused;
  }
  if (waiting) {
    failure_ = "a consumer waits, and no worker can begin:";
    for (const detail::Stage* stage : all)
      failure_ += " " + stage->name() + (stage->runnable() ? " runnable" : "") + ",";
  }
  for (const std::unique_ptr<LoaderRun>& loader : loaders_) loader->paused = false;
}

}  // namespace weir::test
