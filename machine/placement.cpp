#include "machine/placement.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace weir {
namespace {

/// One CPU in the order in which workers take places; compared from left to right.
struct PlaceKey {
  int before;           // who uses the core already: its earlier threads, other processes
  bool with_consumer;   // the consumer's core last among its like
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

std::map<int, int> counted(const std::vector<int>& values) {
  std::map<int, int> counts;
  for (const int value : values) ++counts[value];
  return counts;
}

/// The cache domains in the order of use: node by node, the wanted node first, then those with
/// fewer strangers.
std::map<int, int> domain_positions(const std::vector<ProcessingUnit>& units,
                                    const PlacementRequest& request, std::uint64_t spread) {
  const std::map<int, int> taken = counted(request.taken);
  std::map<int, std::set<int>> domains_of_node;
  std::map<int, int> taken_of_node;
  std::map<int, int> taken_of_domain;
  for (const ProcessingUnit& unit : units) {
    domains_of_node[unit.node].insert(unit.cache_domain);
    const auto found = taken.find(unit.cpu);
    const int strangers = found == taken.end() ? 0 : found->second;
    taken_of_node[unit.node] += strangers;
    taken_of_domain[unit.cache_domain] += strangers;
  }
  const auto by_strangers = [](std::map<int, int>& strangers) {
    return [&strangers](int left, int right) { return strangers[left] < strangers[right]; };
  };
  std::vector<int> nodes;
  for (const auto& [node, domains] : domains_of_node) nodes.push_back(node);
  turn(nodes, spread);
  std::stable_sort(nodes.begin(), nodes.end(), by_strangers(taken_of_node));
  if (request.first_node) {
    std::stable_partition(nodes.begin(), nodes.end(),
                          [&](int node) { return node == *request.first_node; });
  }
  std::map<int, int> positions;
  for (const int node : nodes) {
    std::vector<int> domains(domains_of_node[node].begin(), domains_of_node[node].end());
    turn(domains, spread / nodes.size());
    std::stable_sort(domains.begin(), domains.end(), by_strangers(taken_of_domain));
    for (const int domain : domains) {
      positions.emplace(domain, static_cast<int>(positions.size()));
    }
  }
  return positions;
}

/// What falls to one of several local ranks on the same CPUs: as many of each kind, side by side,
/// so that a core is shared only where the numbers do not come out even. The remainder goes to the
/// lowest ranks, as it does in the budget.
std::vector<ProcessingUnit> share_of_rank(std::vector<ProcessingUnit> units, int rank, int ranks) {
  const auto place = [](const ProcessingUnit& unit) {
    return std::tuple(-unit.efficiency, unit.node, unit.cache_domain, unit.core, unit.cpu);
  };
  std::sort(units.begin(), units.end(),
            [&](const auto& left, const auto& right) { return place(left) < place(right); });
  const int count = static_cast<int>(units.size());
  // Only a number of workers set by hand lets so many ranks live.
  if (count < ranks) return {units[static_cast<std::size_t>(rank % count)]};
  std::vector<ProcessingUnit> share;
  int cursor = 0;  // the rank that the next odd unit goes to
  for (std::size_t first = 0; first < units.size();) {
    std::size_t end = first;
    while (end < units.size() && units[end].efficiency == units[first].efficiency) ++end;
    const int of_kind = static_cast<int>(end - first);
    const int odd = of_kind % ranks;
    const auto gets_odd = [&](int other) { return (other - cursor + ranks) % ranks < odd; };
    std::size_t begin = first;
    for (int other = 0; other < rank; ++other) {
      begin += static_cast<std::size_t>(of_kind / ranks) + (gets_odd(other) ? 1 : 0);
    }
    const std::size_t own = static_cast<std::size_t>(of_kind / ranks) + (gets_odd(rank) ? 1 : 0);
    for (std::size_t i = begin; i < begin + own; ++i) share.push_back(units[i]);
    cursor = (cursor + odd) % ranks;
    first = end;
  }
  return share;
}

/// How many use the core of each CPU before a worker there does. Within a core the CPUs on which
/// nobody works come first, and the consumer's own comes behind them.
std::map<int, int> users_before(const std::vector<ProcessingUnit>& units,
                                const PlacementRequest& request) {
  const std::map<int, int> taken = counted(request.taken);
  using Thread = std::tuple<int, bool, int>;  // strangers, consumer's, cpu
  std::map<int, std::vector<Thread>> threads_of_core;
  for (const ProcessingUnit& unit : units) {
    const auto found = taken.find(unit.cpu);
    threads_of_core[unit.core].emplace_back(found == taken.end() ? 0 : found->second,
                                            request.consumer_cpu == unit.cpu, unit.cpu);
  }
  std::map<int, int> before;
  for (auto& [core, threads] : threads_of_core) {
    std::sort(threads.begin(), threads.end());
    int users = 0;
    for (const Thread& thread : threads) users += std::get<0>(thread);
    for (const Thread& thread : threads) before[std::get<2>(thread)] = users++;
  }
  return before;
}

std::vector<ProcessingUnit> in_order_of_use(const std::vector<ProcessingUnit>& units,
                                            const PlacementRequest& request) {
  const bool all_are_used = request.workers >= static_cast<int>(units.size());
  const std::map<int, int> positions =
      domain_positions(units, request, all_are_used ? 0 : request.spread);
  const std::map<int, int> before = users_before(units, request);
  int consumers_core = -1;
  for (const ProcessingUnit& unit : units) {
    if (request.consumer_cpu == unit.cpu) consumers_core = unit.core;
  }
  std::vector<std::pair<PlaceKey, ProcessingUnit>> keyed;
  for (const ProcessingUnit& unit : units) {
    keyed.push_back({{before.at(unit.cpu), unit.core == consumers_core, -unit.efficiency,
                      positions.at(unit.cache_domain), unit.core, unit.cpu},
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

PlacementRequest placement_request(const ThreadBudget& budget, PlacementMode mode) {
  PlacementRequest request;
  request.workers = budget.threads;
  request.mode = mode;
  request.shared_quota =
      budget.quota && std::floor(*budget.quota) < static_cast<double>(budget.mask.size());
  if (budget.ranks_divide) {
    request.rank = budget.ranks.rank;
    request.ranks = budget.ranks.size;
  }
  return request;
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
        {worker, cpus_of_place(units, unit, plan.mode), unit.cpu, node_is_known ? unit.node : -1});
  }
  return plan;
}

}  // namespace weir
