#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <weir/machine_view.hpp>
#include <weir/memory_limit.hpp>
#include <weir/placement_mode.hpp>
#include <weir/thread_budget.hpp>

#include "machine/graphics_devices.hpp"
#include "machine/host_findings.hpp"
#include "machine/memory_nodes.hpp"
#include "machine/placement.hpp"
#include "machine/topology.hpp"

namespace weir::program {

/// Everything that `weir machine` tells.
struct MachineReport {
  ThreadBudget budget;
  MemoryLimit memory;
  Topology topology;  ///< what is left of it within the mask
  std::vector<MemoryNode> nodes;
  std::vector<GraphicsDevice> devices;
  std::vector<HostFinding> findings;
  PlacementPlan placement;
  int taken = 0;  ///< places that other processes of weir hold
};

/// Reads `view`; the processors are handed in, since only hwloc knows them. `taken` are the CPUs
/// where workers of other processes have their places.
[[nodiscard]] MachineReport make_machine_report(const MachineView& view, const Topology& whole,
                                                PlacementMode mode, const std::vector<int>& taken);

[[nodiscard]] std::string machine_text(const MachineReport& report);
[[nodiscard]] nlohmann::ordered_json machine_json(const MachineReport& report);

}  // namespace weir::program
