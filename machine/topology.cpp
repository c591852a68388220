#include "machine/topology.hpp"

#include <weir/error.hpp>

#include <algorithm>
#include <cerrno>
#include <map>
#include <memory>
#include <system_error>
#include <tuple>
#include <type_traits>
#include <utility>

#include <hwloc.h>

namespace weir {
namespace {

struct DestroyTopology {
  void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
};
using HwlocTopology = std::unique_ptr<std::remove_pointer_t<hwloc_topology_t>, DestroyTopology>;

HwlocTopology new_hwloc_topology() {
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology) != 0) {
    throw Error(ErrorKind::cannot, "hwloc_topology_init", "no memory for the machine's topology");
  }
  return HwlocTopology(topology);
}

/// Gives each distinct key the next number from 0.
template <class Key>
class Numbering {
 public:
  int operator()(const Key& key) {
    return numbers_.emplace(key, static_cast<int>(numbers_.size())).first->second;
  }

 private:
  std::map<Key, int> numbers_;
};

/// The largest cache above `unit`, which is the last before memory; nullptr if none is reported.
hwloc_obj_t last_level_cache(hwloc_obj_t unit) {
  hwloc_obj_t cache = nullptr;
  for (hwloc_obj_t object = unit->parent; object != nullptr; object = object->parent) {
    if (hwloc_obj_type_is_dcache(object->type)) cache = object;
  }
  return cache;
}

/// The NUMA node of `unit`: the smallest that covers it, and of equals the first, since a node of
/// fast memory beside the ordinary one covers the same CPUs.
hwloc_obj_t node_of(hwloc_topology_t topology, hwloc_obj_t unit) {
  hwloc_obj_t best = nullptr;
  int best_weight = 0;
  hwloc_obj_t node = nullptr;
  while ((node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node)) != nullptr) {
    if (!hwloc_bitmap_isset(node->cpuset, unit->os_index)) continue;
    const int weight = hwloc_bitmap_weight(node->cpuset);
    if (best == nullptr || weight < best_weight) {
      best = node;
      best_weight = weight;
    }
  }
  return best;
}

int efficiency_of(hwloc_topology_t topology, hwloc_obj_t unit) {
  if (hwloc_cpukinds_get_nr(topology, 0) < 2) return 0;
  const int kind = hwloc_cpukinds_get_by_cpuset(topology, unit->cpuset, 0);
  if (kind < 0) return 0;
  int efficiency = -1;
  if (hwloc_cpukinds_get_info(topology, static_cast<unsigned>(kind), nullptr, &efficiency, nullptr,
                              nullptr, 0) != 0) {
    return 0;
  }
  return std::max(efficiency, 0);
}

std::string model_of(hwloc_topology_t topology) {
  hwloc_obj_t const machine = hwloc_get_root_obj(topology);
  const char* model = hwloc_obj_get_info_by_name(machine, "CPUModel");
  if (model == nullptr) {
    hwloc_obj_t const package = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PACKAGE, nullptr);
    if (package != nullptr) model = hwloc_obj_get_info_by_name(package, "CPUModel");
  }
  return model == nullptr ? "" : model;
}

template <class Member>
int distinct(const std::vector<ProcessingUnit>& units, Member member) {
  std::vector<int> values;
  for (const ProcessingUnit& unit : units) values.push_back(unit.*member);
  std::sort(values.begin(), values.end());
  return static_cast<int>(std::unique(values.begin(), values.end()) - values.begin());
}

void sort_and_count(Topology& topology) {
  std::sort(topology.units.begin(), topology.units.end(),
            [](const auto& left, const auto& right) { return left.cpu < right.cpu; });
  topology.cores = distinct(topology.units, &ProcessingUnit::core);
  topology.cache_domains = distinct(topology.units, &ProcessingUnit::cache_domain);
  topology.nodes = distinct(topology.units, &ProcessingUnit::node);
}

/// Caches that a single core of several in its node sees are no domains: the node takes their
/// place.
void widen_private_caches(std::vector<ProcessingUnit>& units) {
  std::map<int, std::pair<int, int>> cores_of_domain;  // first and last core seen
  std::map<int, std::pair<int, int>> cores_of_node;
  const auto see = [](auto& seen, int key, int core) {
    const auto [entry, is_new] = seen.try_emplace(key, core, core);
    if (is_new) return;
    entry->second.first = std::min(entry->second.first, core);
    entry->second.second = std::max(entry->second.second, core);
  };
  for (const ProcessingUnit& unit : units) {
    see(cores_of_domain, unit.cache_domain, unit.core);
    see(cores_of_node, unit.node, unit.core);
  }
  const auto one_core = [](const std::pair<int, int>& seen) { return seen.first == seen.second; };
  Numbering<std::tuple<bool, int>> numbering;
  for (ProcessingUnit& unit : units) {
    const bool is_private =
        one_core(cores_of_domain.at(unit.cache_domain)) && !one_core(cores_of_node.at(unit.node));
    unit.cache_domain = numbering({is_private, is_private ? unit.node : unit.cache_domain});
  }
}

Topology plain_values(hwloc_topology_t loaded) {
  Topology topology;
  topology.this_machine = hwloc_topology_is_thissystem(loaded) != 0;
  topology.cpu_model = model_of(loaded);
  Numbering<hwloc_obj_t> core_numbers;
  Numbering<std::pair<int, hwloc_obj_t>> domain_numbers;
  Numbering<hwloc_obj_t> node_numbers;
  std::map<int, int> siblings_seen;
  hwloc_obj_t object = nullptr;
  while ((object = hwloc_get_next_obj_by_type(loaded, HWLOC_OBJ_PU, object)) != nullptr) {
    hwloc_obj_t const core = hwloc_get_ancestor_obj_by_type(loaded, HWLOC_OBJ_CORE, object);
    hwloc_obj_t const node = node_of(loaded, object);
    ProcessingUnit unit;
    unit.cpu = static_cast<int>(object->os_index);
    unit.core = core_numbers(core == nullptr ? object : core);
    unit.node = node_numbers(node);
    if (unit.node == static_cast<int>(topology.node_numbers.size())) {
      topology.node_numbers.push_back(node == nullptr ? 0 : static_cast<int>(node->os_index));
    }
    // A cache that spans nodes is cut at their borders: memory matters more.
    unit.cache_domain = domain_numbers({unit.node, last_level_cache(object)});
    unit.sibling = siblings_seen[unit.core]++;
    unit.efficiency = efficiency_of(loaded, object);
    topology.units.push_back(unit);
  }
  widen_private_caches(topology.units);
  sort_and_count(topology);
  return topology;
}

}  // namespace

CpuSet Topology::cpus() const {
  std::vector<int> all;
  for (const ProcessingUnit& unit : units) all.push_back(unit.cpu);
  return CpuSet(std::move(all));
}

Topology Topology::restricted_to(const CpuSet& mask) const {
  Topology rest = *this;
  std::erase_if(rest.units, [&](const ProcessingUnit& unit) { return !mask.contains(unit.cpu); });
  int next_core = 0;
  for (const ProcessingUnit& unit : units) next_core = std::max(next_core, unit.core + 1);
  const CpuSet known = cpus();
  for (const int cpu : mask.cpus()) {
    if (known.contains(cpu)) continue;
    ProcessingUnit unit;
    unit.cpu = cpu;
    unit.core = next_core++;
    rest.units.push_back(unit);
  }
  sort_and_count(rest);
  return rest;
}

Topology read_topology() {
  const HwlocTopology topology = new_hwloc_topology();
  if (hwloc_topology_set_flags(topology.get(), HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED) != 0 ||
      hwloc_topology_load(topology.get()) != 0) {
    throw Error(ErrorKind::cannot, "hwloc_topology_load",
                "this machine's topology cannot be read: " +
                    std::generic_category().message(errno) + "; see what lstopo says");
  }
  return plain_values(topology.get());
}

Topology synthetic_topology(const std::string& description) {
  const HwlocTopology topology = new_hwloc_topology();
  if (hwloc_topology_set_synthetic(topology.get(), description.c_str()) != 0 ||
      hwloc_topology_load(topology.get()) != 0) {
    throw Error(ErrorKind::usage, description,
                "not a synthetic topology: write levels from the machine down with their counts, "
                "such as \"node:2 l3:2 core:4 pu:2\"");
  }
  return plain_values(topology.get());
}

Topology recorded_topology(const std::string& xml_file) {
  const HwlocTopology topology = new_hwloc_topology();
  if (hwloc_topology_set_xml(topology.get(), xml_file.c_str()) != 0 ||
      hwloc_topology_load(topology.get()) != 0) {
    throw Error(ErrorKind::usage, xml_file,
                "cannot be used as a recorded topology: give a file that lstopo of hwloc 2 wrote "
                "(lstopo machine.xml)");
  }
  return plain_values(topology.get());
}

}  // namespace weir
