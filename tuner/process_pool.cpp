#include "tuner/process_pool.hpp"

#include <unistd.h>

#include <cmath>
#include <utility>
#include <vector>

#include <weir/error.hpp>
#include <weir/mutex.hpp>

#include "machine/nested_pools.hpp"
#include "machine/placement.hpp"
#include "machine/thread_binding.hpp"
#include "machine/topology.hpp"

namespace weir::detail {
namespace {

struct Shared {
  Mutex mutex;
  std::weak_ptr<WorkerPool> pool WEIR_GUARDED_BY(mutex);
  std::string first_loader WEIR_GUARDED_BY(mutex);
};

Shared& shared() {
  static Shared instance;
  return instance;
}

PlacementPlan plan_places(const ThreadBudget& budget) {
  const Topology topology = read_topology().restricted_to(budget.mask);
  PlacementRequest request;
  request.workers = budget.threads;
  request.shared_quota =
      budget.quota && std::floor(*budget.quota) < static_cast<double>(budget.mask.size());
  if (budget.ranks_divide) {
    request.rank = budget.ranks.rank;
    request.ranks = budget.ranks.size;
  }
  request.spread = static_cast<std::uint64_t>(::getpid());
  return plan_placement(topology, budget.mask, request);
}

std::shared_ptr<WorkerPool> make_pool(const PoolRequest& request) {
  WorkerPool::Settings settings;
  settings.workers = request.run_inline ? 1 : request.budget.threads;
  settings.threads = !request.run_inline;
  settings.memory_bytes = request.memory_bytes;
  settings.first = request.first;
  if (!request.run_inline) {
    // Forced workers stand in for a larger machine; they have no places on this one.
    std::vector<WorkerPlace> places;
    if (request.budget.source != BudgetSource::forced) places = plan_places(request.budget).places;
    settings.on_start = [places](int worker) {
      // A refusal to bind changes speed at most, and the run goes on unbound.
      if (static_cast<std::size_t>(worker) < places.size()) {
        const WorkerPlace& place = places[static_cast<std::size_t>(worker)];
        if (place.cpus.size() > 0) (void)bind_this_thread(place.cpus);
      }
      static thread_local std::unique_ptr<OpenMpHold> hold;
      hold = std::make_unique<OpenMpHold>();
    };
  }
  return std::make_shared<WorkerPool>(std::move(settings));
}

}  // namespace

std::shared_ptr<WorkerPool> process_pool(const PoolRequest& request) {
  if (request.run_inline) return make_pool(request);
  Shared& process = shared();
  MutexLock lock(process.mutex);
  if (std::shared_ptr<WorkerPool> pool = process.pool.lock()) {
    if (pool->workers() != request.budget.threads)
      throw Error(ErrorKind::usage, request.loader,
                  "asks for " + std::to_string(request.budget.threads) + " workers, but loader '" +
                      process.first_loader + "' runs with " + std::to_string(pool->workers()) +
                      "; the loaders of a process share one pool: give both the same workers");
    return pool;
  }
  std::shared_ptr<WorkerPool> pool = make_pool(request);
  process.pool = pool;
  process.first_loader = request.loader;
  return pool;
}

}  // namespace weir::detail
