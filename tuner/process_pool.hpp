#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <weir/allocation.hpp>
#include <weir/placement_mode.hpp>
#include <weir/thread_budget.hpp>

#include "machine/placement.hpp"
#include "tuner/placed_pool.hpp"

namespace weir::detail {

/// What one loader asks of the process's pool.
struct PoolRequest {
  std::string loader;  ///< its name, for messages
  ThreadBudgetRequest request;
  ThreadBudget budget;      ///< derived from it
  bool run_inline = false;  ///< a pool of its own, without threads
  std::uint64_t memory_bytes = 0;
  Allocation first;
  std::optional<PlacementMode> pin;      ///< asked for; none: as in the tuned file, or by cache
  std::optional<PlacementPlan> written;  ///< the tuned file's; only without `pin`
};

/// The one pool of the process: made with the first loader, shared by those that come while it
/// lives, ended with the last. Throws Error(usage) where a loader asks for another number of
/// workers or for other places, naming both. Shared ownership, because which loader is the last is
/// known only when it ends.
[[nodiscard]] std::shared_ptr<PlacedPool> process_pool(const PoolRequest& request);

}  // namespace weir::detail
