#pragma once

#include <weir/cpu_set.hpp>
#include <weir/placement_mode.hpp>
#include <weir/thread_budget.hpp>

#include "machine/topology.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weir {

/// What a plan is made for.
struct PlacementRequest {
  int workers = 0;
  PlacementMode mode = PlacementMode::cache_domain;
  bool shared_quota = false;  ///< a CPU quota, not the mask, is the limit: others run on these CPUs
  int rank = 0;               ///< local rank of this process among `ranks` on the same mask
  int ranks = 1;
  std::optional<int> first_node;  ///< index of the node to fill first (the device's)
  /// Where workers of other processes have their places, a CPU for each: those are taken last.
  std::vector<int> taken;
  /// Where the consumer runs: workers stay away from its core while there is another.
  std::optional<int> consumer_cpu;
  /// Stands in for `taken` where that is not known: turns the order of the cache domains where
  /// workers fill only a part of the mask. Any number, such as the process id.
  std::uint64_t spread = 0;
};

/// The place of one worker.
struct WorkerPlace {
  int worker = 0;
  CpuSet cpus;    ///< empty: leave unbound
  int home = -1;  ///< the CPU in whose place it is; others stay away from it
  int node = -1;  ///< index of the node its memory belongs to; -1: the CPUs span several
};

/// What a budget asks for; the caller adds what he knows of others, the consumer and the device.
[[nodiscard]] PlacementRequest placement_request(const ThreadBudget& budget, PlacementMode mode);

struct PlacementPlan {
  PlacementMode mode = PlacementMode::none;  ///< may be looser than asked for
  std::string note;                          ///< why it is; empty if it is not
  std::vector<WorkerPlace> places;           ///< one a worker
};

/// Plans where workers run. It calls nothing and depends on nothing but its arguments.
///
/// Order of places: first hardware threads of the fastest cores, then of slower kinds, then the
/// siblings, each grouped by node and cache domain. A core on which somebody else works counts as
/// one whose first thread is gone. More workers than CPUs go round again.
///
/// Requires: `topology` holds at least one unit within `mask`.
[[nodiscard]] PlacementPlan plan_placement(const Topology& topology, const CpuSet& mask,
                                           const PlacementRequest& request);

}  // namespace weir
