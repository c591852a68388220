#include "tests/pipeline_stress/live_run.hpp"

#include <algorithm>
#include <utility>

namespace weir::test {

std::unique_ptr<detail::WorkerPool> make_pool(int workers, int active, std::uint64_t memory_bytes) {
  detail::WorkerPool::Settings settings;
  settings.workers = workers;
  settings.memory_bytes = memory_bytes;
  settings.first.active = active;
  return std::make_unique<detail::WorkerPool>(std::move(settings));
}

LiveRun::LiveRun(const StressCase& stress, detail::WorkerPool& pool, std::int64_t packet_items,
                 std::int64_t depth_items)
    : stress_(stress) {
  const detail::StagePlan plan = plan_of(stress);
  detail::Engine::Settings engine;
  engine.name = "live";
  engine.seed = stress.seed;
  engine.any_order = stress.any_order;
  engine.on_bad_sample.action = BadSamplePolicy::Action::skip;
  engine.end_epoch = stress.epochs;
  engine.consumer = [] { return ConsumerSnapshot{}; };
  engine.allotted.resize(plan.stages.size());
  for (StageAllocation& allotted : engine.allotted) {
    allotted.packet_items = packet_items;
    allotted.depth_items = depth_items;
  }
  engine_ = std::make_unique<detail::Engine>(plan, pool, std::move(engine));
}

bool LiveRun::consume(std::uint64_t most) {
  for (std::uint64_t i = 0; i < most; ++i) {
    detail::SlotHeader* slot = engine_->take();
    if (slot == nullptr) return false;
    if (slot->state == detail::SlotState::live) {
      for (const std::uint64_t id : ids_in(stress_, slot)) given_.back().push_back(id);
    } else if (slot->state == detail::SlotState::epoch_end) {
      if (given_.size() == stress_.epochs) {
        engine_->give_back();
        return false;
      }
      given_.emplace_back();
    }
    engine_->give_back();
  }
  return true;
}

std::string LiveRun::judge() const {
  std::vector<std::uint64_t> wanted = stress_.reference();
  const bool any = stress_.shuffled() || stress_.any_order;
  if (any) std::sort(wanted.begin(), wanted.end());
  if (given_.size() != stress_.epochs) return "epochs are missing: " + stress_.text();
  for (std::vector<std::uint64_t> epoch : given_) {
    if (any) std::sort(epoch.begin(), epoch.end());
    if (epoch != wanted)
      return std::to_string(epoch.size()) + " values, wanted " + std::to_string(wanted.size()) +
             ": " + stress_.text();
  }
  return "";
}

Allocation random_allocation(std::mt19937_64& random, Allocation now, int workers) {
  const auto below = [&random](std::uint64_t n) { return random() % n; };
  const auto most = static_cast<std::uint64_t>(workers);
  now.active = static_cast<int>(1 + below(most));
  now.strict = below(3) == 0;
  now.helping = below(4) != 0;
  now.stay_slack = below(3) == 0 ? Allocation::kUnlimited : 1.0;
  now.groups.clear();
  if (now.strict && below(2) == 0)
    for (std::uint64_t groups = 1 + below(3); groups > 0; --groups)
      now.groups.push_back(static_cast<int>(1 + below(3)));
  for (StageAllocation& stage : now.stages) {
    stage.target = below(5) == 0 ? 0.0 : static_cast<double>(below(30)) / 10;
    stage.cap = static_cast<int>(1 + below(most));
    stage.depth_items = static_cast<std::int64_t>(below(6));
    stage.group = static_cast<int>(below(now.groups.size() + 1)) - 1;
  }
  return now;
}

Chaos::Chaos(detail::WorkerPool& pool, std::uint64_t seed, std::uint64_t most_memory_bytes)
    : pool_(pool), random_(seed), most_memory_bytes_(most_memory_bytes) {}

void Chaos::change() {
  switch (below(4)) {
    case 0:
    case 1:
      // False where a loader came or went in between.
      (void)pool_.apply(random_allocation(random_, pool_.allocation(), pool_.workers()));
      break;
    case 2:
      pool_.ledger().set_bound(1 + below(most_memory_bytes_));
      pool_.work_may_be_ready();
      break;
    default:
      (void)pool_.snapshot();
      break;
  }
}

void Chaos::resize(detail::Engine& engine) {
  const std::vector<detail::Stage*>& own = engine.stages().stages;
  (void)engine.resize_queue(own[below(own.size())]->name(),
                            static_cast<std::int64_t>(1 + below(6)));
}

}  // namespace weir::test
