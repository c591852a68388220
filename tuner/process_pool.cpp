#include "tuner/process_pool.hpp"

#include <utility>

#include <fmt/format.h>

#include <weir/error.hpp>
#include <weir/mutex.hpp>

#include "machine/place_registry.hpp"

namespace weir::detail {
namespace {

struct Shared {
  Mutex mutex;
  std::weak_ptr<PlacedPool> pool WEIR_GUARDED_BY(mutex);
  std::string first_loader WEIR_GUARDED_BY(mutex);
};

Shared& shared() {
  static Shared instance;
  return instance;
}

std::shared_ptr<PlacedPool> make_pool(const PoolRequest& request) {
  PlacedPool::Settings settings;
  settings.pool.threads = !request.run_inline;
  settings.pool.memory_bytes = request.memory_bytes;
  settings.pool.first = request.first;
  settings.request = request.request;
  settings.budget = request.budget;
  if (request.run_inline) settings.budget.threads = 1;
  if (request.pin) {
    settings.mode = *request.pin;
  } else if (request.written) {
    settings.mode = request.written->mode;
    if (!request.written->places.empty()) settings.written = request.written;
  }
  if (settings.mode != PlacementMode::none)
    settings.registry_folder = runtime_folder(settings.machine);
  return std::make_shared<PlacedPool>(std::move(settings));
}

void check_fits(const PoolRequest& request, PlacedPool& pool, const std::string& first_loader) {
  const int workers = pool.workers().workers();
  // What is computed may have been narrowed since: that is the pool's budget too.
  if (request.budget.threads != workers && request.budget.threads != pool.budget())
    throw Error(ErrorKind::usage, request.loader,
                fmt::format("asks for {} workers, but loader '{}' runs with {}; the loaders of a "
                            "process share one pool: give both the same workers",
                            request.budget.threads, first_loader, workers));
  if (request.pin && *request.pin != pool.mode())
    throw Error(ErrorKind::usage, request.loader,
                fmt::format("asks for workers placed by '{}', but loader '{}' runs with '{}'; the "
                            "loaders of a process share one pool: give both the same pin",
                            to_string(*request.pin), first_loader, to_string(pool.mode())));
}

}  // namespace

std::shared_ptr<PlacedPool> process_pool(const PoolRequest& request) {
  if (request.run_inline) return make_pool(request);
  Shared& process = shared();
  MutexLock lock(process.mutex);
  if (std::shared_ptr<PlacedPool> pool = process.pool.lock()) {
    check_fits(request, *pool, process.first_loader);
    return pool;
  }
  std::shared_ptr<PlacedPool> pool = make_pool(request);
  process.pool = pool;
  process.first_loader = request.loader;
  return pool;
}

}  // namespace weir::detail
