#include "machine/placement.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace weir {
namespace {

/// One CPU in the order in which workers take places; compared from left to right.
struct PlaceKey {
  int sibling;          // first hardware threads before their siblings
  int slowness;         // fast kinds of core first
  int domain_position;  // grouped by node and cache domain
  int core;
  int cpu;
  friend auto operator<=>(const PlaceKey&, const PlaceKey&) = default;
};

/// Turns `values` so that the one at `spread` (modulo their number) comes first.
template <class Value>
void turn(std::vector<Value>& values, std::uint64_t spread) {
  if (values.empty()) return;
  std::rotate(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(spread % values.size()),
              values.end());
}

/// The cache domains in the order of use: node by node, the wanted node first.
std::map<int, int> domain_positions(const std::vector<ProcessingUnit>& units,
                                    std::optional<int> first_node, std::uint64_t spread) {
  std::map<int, std::set<int>> domains_of_node;
  for (const ProcessingUnit& unit : units) domains_of_node[unit.node].insert(unit.cache_domain);
  std::vector<int> nodes;
  for (const auto& [node, domains] : domains_of_node) nodes.push_back(node);
  turn(nodes, spread);
  if (first_node) {
    std::stable_partition(nodes.begin(), nodes.end(),
                          [&](int node) { return node == *first_node; });
  }
  std::map<int, int> positions;
  for (const int node : nodes) {
    std::vector<int> domains(domains_of_node[node].begin(), domains_of_node[node].end());
    turn(domains, spread / nodes.size());
    for (const int domain : domains) {
      positions.emplace(domain, static_cast<int>(positions.size()));
    }
  }
  return positions;
}

/// What falls to one of several local ranks on the same CPUs: whole cores side by side, and as many
/// of each kind. With fewer cores of a kind than ranks they are shared out in turn.
std::vector<ProcessingUnit> share_of_rank(const std::vector<ProcessingUnit>& units, int rank,
                                          int ranks) {
  using CorePlace = std::tuple<int, int, int>;  // node, cache domain, core
  std::map<int, std::set<CorePlace>> cores_of_kind;
  for (const ProcessingUnit& unit : units) {
    cores_of_kind[unit.efficiency].emplace(unit.node, unit.cache_domain, unit.core);
  }
  std::set<int> mine;
  for (const auto& [kind, cores] : cores_of_kind) {
    const int count = static_cast<int>(cores.size());
    int position = 0;
    for (const CorePlace& place : cores) {
      const bool taken = count < ranks ? position == rank % count
                                       : static_cast<long>(position) * ranks / count == rank;
      if (taken) mine.insert(std::get<2>(place));
      ++position;
    }
  }
  std::vector<ProcessingUnit> share;
  for (const ProcessingUnit& unit : units) {
    if (mine.count(unit.core) != 0) share.push_back(unit);
  }
  return share;
}

std::vector<ProcessingUnit> in_order_of_use(const std::vector<ProcessingUnit>& units,
                                            const PlacementRequest& request) {
  const bool all_are_used = request.workers >= static_cast<int>(units.size());
  const std::map<int, int> positions =
      domain_positions(units, request.first_node, all_are_used ? 0 : request.spread);
  std::map<int, int> siblings_seen;  // counted afresh: the mask may leave out first threads
  std::vector<std::pair<PlaceKey, ProcessingUnit>> keyed;
  for (const ProcessingUnit& unit : units) {
    keyed.push_back({{siblings_seen[unit.core]++, -unit.efficiency, positions.at(unit.cache_domain),
                      unit.core, unit.cpu},
                     unit});
  }
  std::sort(keyed.begin(), keyed.end(),
            [](const auto& left, const auto& right) { return left.first < right.first; });
  std::vector<ProcessingUnit> order;
  for (const auto& [key, unit] : keyed) order.push_back(unit);
  return order;
}

CpuSet cpus_where(const std::vector<ProcessingUnit>& units, int ProcessingUnit::*member,
                  int value) {
  std::vector<int> cpus;
  for (const ProcessingUnit& unit : units) {
    if (unit.*member == value) cpus.push_back(unit.cpu);
  }
  return CpuSet(std::move(cpus));
}

CpuSet cpus_of_place(const std::vector<ProcessingUnit>& units, const ProcessingUnit& unit,
                     PlacementMode mode) {
  switch (mode) {
    case PlacementMode::none:
      return {};
    case PlacementMode::core:
      return {unit.cpu};
    case PlacementMode::cache_domain:
      return cpus_where(units, &ProcessingUnit::cache_domain, unit.cache_domain);
    case PlacementMode::node:
      return cpus_where(units, &ProcessingUnit::node, unit.node);
  }
  return {};
}

PlacementMode looser(PlacementMode mode) {
  if (mode == PlacementMode::core) return PlacementMode::cache_domain;
  if (mode == PlacementMode::cache_domain) return PlacementMode::node;
  return PlacementMode::none;
}

/// Whether some place of this mode is a single CPU.
bool has_single_cpu(const std::vector<ProcessingUnit>& units, PlacementMode mode) {
  return std::any_of(units.begin(), units.end(), [&](const ProcessingUnit& unit) {
    return cpus_of_place(units, unit, mode).size() == 1;
  });
}

}  // namespace

std::string_view to_string(PlacementMode mode) {
  switch (mode) {
    case PlacementMode::none:
      return "none";
    case PlacementMode::cache_domain:
      return "cache_domain";
    case PlacementMode::core:
      return "core";
    case PlacementMode::node:
      return "node";
  }
  return "none";
}

std::optional<PlacementMode> parse_placement_mode(std::string_view word) {
  for (const PlacementMode mode : {PlacementMode::none, PlacementMode::cache_domain,
                                   PlacementMode::core, PlacementMode::node}) {
    if (word == to_string(mode)) return mode;
  }
  return std::nullopt;
}

PlacementPlan plan_placement(const Topology& topology, const CpuSet& mask,
                             const PlacementRequest& request) {
  std::vector<ProcessingUnit> units;
  for (const ProcessingUnit& unit : topology.units) {
    if (mask.contains(unit.cpu)) units.push_back(unit);
  }
  PlacementPlan plan;
  plan.mode = request.mode;
  // Under a quota others run on these CPUs too; a worker tied to one of them waits behind whoever
  // happens to be there while its neighbour is idle.
  while (request.shared_quota && units.size() > 1 && has_single_cpu(units, plan.mode)) {
    plan.mode = looser(plan.mode);
  }
  if (plan.mode != request.mode) {
    plan.note = "the limit is a CPU quota on shared CPUs: workers are not bound to single ones";
  }

  const bool one_node = std::all_of(units.begin(), units.end(), [&](const ProcessingUnit& unit) {
    return unit.node == units.front().node;
  });
  const std::vector<ProcessingUnit> mine =
      request.ranks > 1 ? share_of_rank(units, request.rank, request.ranks) : units;
  const std::vector<ProcessingUnit> order = in_order_of_use(mine, request);
  for (int worker = 0; worker < request.workers && !order.empty(); ++worker) {
    const ProcessingUnit& unit = order[static_cast<std::size_t>(worker) % order.size()];
    const bool node_is_known = one_node || plan.mode != PlacementMode::none;
    plan.places.push_back(
        {worker, cpus_of_place(units, unit, plan.mode), node_is_known ? unit.node : -1});
  }
  return plan;
}

}  // namespace weir
