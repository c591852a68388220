#pragma once

#include <weir/machine_view.hpp>
#include <weir/thread_budget.hpp>

#include <string>
#include <vector>

namespace weir {

/// Something about the host that costs speed, and what may be done about it.
struct HostFinding {
  std::string what;    ///< "powersave governor"
  std::string detail;  ///< which file says what
  std::string advice;
};

/// What is found for a process with `budget` on a machine of `nodes` NUMA nodes. Empty: nothing
/// that these files would show.
[[nodiscard]] std::vector<HostFinding> find_host_hindrances(const ThreadBudget& budget, int nodes,
                                                            const MachineView& view = {});

}  // namespace weir
