#pragma once

#include <weir/cpu_set.hpp>

#include <string>
#include <vector>

namespace weir {

/// One hardware thread and where it sits. Everything but `cpu` is an index counted from 0 within
/// its Topology.
struct ProcessingUnit {
  int cpu = 0;  ///< the kernel's number
  int core = 0;
  int cache_domain = 0;  ///< the cores that share the last-level cache
  int node = 0;          ///< NUMA node
  int sibling = 0;       ///< which hardware thread of its core: 0 is the first
  int efficiency = 0;    ///< kind of core: a larger number is a faster kind; all 0 where alike
};

/// The processors of one machine as plain values.
///
/// A last-level cache that only one core of several sees (a core's own L2 where nothing larger is
/// reported) makes no domain: the node is the domain then.
///
/// **Thread safety**: a value.
/// **Invariants**: `units` is ascending by cpu, and never empty.
struct Topology {
  std::vector<ProcessingUnit> units;
  std::vector<int> node_numbers;  ///< the kernel's number of each node
  int cores = 0;
  int cache_domains = 0;
  int nodes = 0;
  std::string cpu_model;     ///< empty if not known
  bool this_machine = true;  ///< false for a synthetic or loaded one: binding there does nothing

  /// The CPUs it holds.
  [[nodiscard]] CpuSet cpus() const;
  /// What is left of it within `mask`; indexes keep their meaning, counts are those of what is
  /// left. CPUs of the mask that the topology does not know are added as cores of their own, since
  /// the kernel's mask is the better witness.
  [[nodiscard]] Topology restricted_to(const CpuSet& mask) const;
};

/// The machine underneath, whole: including CPUs outside this process's mask, since the library's
/// own view of what is allowed is wrong in containers (it ignores a taskset, and cgroup paths of
/// more than 127 characters). Always follow with `restricted_to(thread_affinity())`.
[[nodiscard]] Topology read_topology();

/// A machine drawn in hwloc's synthetic notation, "node:2 l3:2 core:4 pu:2". Throws Error (usage)
/// if the text is not understood.
[[nodiscard]] Topology synthetic_topology(const std::string& description);

/// A machine recorded as hwloc 2 XML. Throws Error (usage) if the file cannot be used.
[[nodiscard]] Topology recorded_topology(const std::string& xml_file);

}  // namespace weir
