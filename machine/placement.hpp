#pragma once

#include <weir/cpu_set.hpp>

#include "machine/topology.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir {

/// How tightly a worker is bound.
enum class PlacementMode {
  none,          ///< not at all
  cache_domain,  ///< to the CPUs that share a last-level cache (the default)
  core,          ///< to one hardware thread
  node,          ///< to a NUMA node
};

[[nodiscard]] std::string_view to_string(PlacementMode mode);
[[nodiscard]] std::optional<PlacementMode> parse_placement_mode(std::string_view word);

/// What a plan is made for.
struct PlacementRequest {
  int workers = 0;
  PlacementMode mode = PlacementMode::cache_domain;
  bool shared_quota = false;  ///< a CPU quota, not the mask, is the limit: others run on these CPUs
  int rank = 0;               ///< local rank of this process among `ranks` on the same mask
  int ranks = 1;
  std::optional<int> first_node;  ///< index of the node to fill first (the device's)
  /// Turns the order of the cache domains where workers fill only a part of the mask, so that two
  /// processes do not settle on the same first cores. Any number, such as the process id.
  std::uint64_t spread = 0;
};

/// The place of one worker.
struct WorkerPlace {
  int worker = 0;
  CpuSet cpus;    ///< empty: leave unbound
  int node = -1;  ///< index of the node its memory belongs to; -1: the CPUs span several
};

struct PlacementPlan {
  PlacementMode mode = PlacementMode::none;  ///< may be looser than asked for
  std::string note;                          ///< why it is; empty if it is not
  std::vector<WorkerPlace> places;           ///< one a worker
};

/// Plans where workers run. It calls nothing and depends on nothing but its arguments.
///
/// Order of places: first hardware threads of the fastest cores, then of slower kinds, then the
/// siblings, each grouped by node and cache domain. More workers than CPUs go round again.
///
/// Requires: `topology` holds at least one unit within `mask`.
[[nodiscard]] PlacementPlan plan_placement(const Topology& topology, const CpuSet& mask,
                                           const PlacementRequest& request);

}  // namespace weir
