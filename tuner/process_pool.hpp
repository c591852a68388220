#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <weir/allocation.hpp>
#include <weir/thread_budget.hpp>

#include "pipeline/worker_pool.hpp"

namespace weir::detail {

/// What one loader asks of the process's pool.
struct PoolRequest {
  std::string loader;  ///< its name, for messages
  ThreadBudget budget;
  bool run_inline = false;  ///< a pool of its own, without threads
  std::uint64_t memory_bytes = 0;
  Allocation first;
};

/// The one pool of the process: made with the first loader, shared by those that come while it
/// lives, ended with the last. Throws Error(usage) where a loader asks for another number of
/// workers, naming both. Shared ownership, because which loader is the last is known only when it
/// ends.
[[nodiscard]] std::shared_ptr<WorkerPool> process_pool(const PoolRequest& request);

}  // namespace weir::detail
