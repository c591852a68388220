// What must hold for every machine: places on ten thousand random ones.
#include "machine/placement.hpp"

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace weir {
namespace {

int pick(std::mt19937_64& random, int least, int most) {
  return std::uniform_int_distribution<int>(least, most)(random);
}

/// Sockets, nodes without CPUs aside, cache domains, two kinds of core, threads, numbered side by
/// side or all first threads first, with CPUs missing here and there.
Topology random_topology(std::mt19937_64& random) {
  Topology topology;
  const int nodes = pick(random, 1, 4);
  const int domains = pick(random, 1, 3);
  const int cores = pick(random, 1, 6);
  const int slow = pick(random, 0, 2) == 0 ? pick(random, 1, 4) : 0;
  const int threads = pick(random, 1, 4) == 1 ? 1 : 2;
  int core = 0;
  for (int node = 0; node < nodes; ++node) {
    topology.node_numbers.push_back(2 * node);
    for (int domain = 0; domain < domains; ++domain) {
      for (int i = 0; i < cores + slow; ++i, ++core) {
        for (int thread = 0; thread < (i < cores ? threads : 1); ++thread) {
          ProcessingUnit unit;
          unit.core = core;
          unit.cache_domain = node * domains + domain;
          unit.node = node;
          unit.sibling = thread;
          unit.efficiency = slow > 0 && i < cores ? 1 : 0;
          topology.units.push_back(unit);
        }
      }
    }
  }
  if (pick(random, 0, 1) == 1)
    std::stable_sort(
        topology.units.begin(), topology.units.end(),
        [](const auto& left, const auto& right) { return left.sibling < right.sibling; });
  int cpu = 0;
  for (ProcessingUnit& unit : topology.units) {
    if (pick(random, 0, 19) == 0) cpu += pick(random, 1, 3);
    unit.cpu = cpu++;
  }
  topology.cores = core;
  topology.cache_domains = nodes * domains;
  topology.nodes = nodes;
  return topology;
}

struct Case {
  Topology topology;
  CpuSet mask;
  PlacementRequest request;
};

Case random_case(std::mt19937_64& random) {
  Case made;
  made.topology = random_topology(random);
  std::vector<int> cpus;
  const int keep = pick(random, 1, 10);
  for (const ProcessingUnit& unit : made.topology.units)
    if (pick(random, 1, 10) <= keep) cpus.push_back(unit.cpu);
  if (cpus.empty()) cpus.push_back(made.topology.units.front().cpu);
  made.mask = CpuSet(cpus);
  made.topology = made.topology.restricted_to(made.mask);
  constexpr PlacementMode kModes[] = {PlacementMode::none, PlacementMode::cache_domain,
                                      PlacementMode::core, PlacementMode::node};
  PlacementRequest& request = made.request;
  request.mode = kModes[pick(random, 0, 3)];
  request.workers = pick(random, 1, made.mask.size() + 2);
  request.shared_quota = pick(random, 0, 3) == 0;
  if (pick(random, 0, 2) == 0) request.first_node = pick(random, 0, made.topology.nodes - 1);
  if (pick(random, 0, 2) == 0) request.consumer_cpu = cpus[random() % cpus.size()];
  if (pick(random, 0, 2) == 0)
    for (int i = pick(random, 0, 6); i > 0; --i)
      request.taken.push_back(cpus[random() % cpus.size()]);
  if (pick(random, 0, 2) == 0) {
    request.ranks = pick(random, 2, 5);
    request.rank = pick(random, 0, request.ranks - 1);
  }
  return made;
}

const ProcessingUnit& unit_of(const Topology& topology, int cpu) {
  return *std::find_if(topology.units.begin(), topology.units.end(),
                       [&](const ProcessingUnit& unit) { return unit.cpu == cpu; });
}

std::map<int, int> workers_of_cpu(const PlacementPlan& plan) {
  std::map<int, int> count;
  for (const WorkerPlace& place : plan.places) ++count[place.home];
  return count;
}

class PlacementOnRandomMachines : public ::testing::TestWithParam<int> {};

TEST_P(PlacementOnRandomMachines, StaysWithinMaskAndBudgetAndSpreadsEvenly) {
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t seed = static_cast<std::uint64_t>(GetParam()) * 1000 + i;
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    const Case made = random_case(random);
    const PlacementPlan plan = plan_placement(made.topology, made.mask, made.request);
    // One place a worker and no more, all within the mask, each around its own CPU.
    ASSERT_EQ(plan.places.size(), static_cast<std::size_t>(made.request.workers));
    for (std::size_t worker = 0; worker < plan.places.size(); ++worker) {
      const WorkerPlace& place = plan.places[worker];
      ASSERT_EQ(place.worker, static_cast<int>(worker));
      ASSERT_EQ(place.cpus & made.mask, place.cpus);
      ASSERT_TRUE(made.mask.contains(place.home));
      ASSERT_EQ(place.cpus.empty(), plan.mode == PlacementMode::none);
      if (!place.cpus.empty()) {
        ASSERT_TRUE(place.cpus.contains(place.home));
      }
      if (plan.mode == PlacementMode::core) {
        ASSERT_EQ(place.cpus, CpuSet{place.home});
      }
      if (made.request.shared_quota && made.mask.size() > 1) {
        ASSERT_NE(place.cpus.size(), 1);
      }
      for (const int cpu : place.cpus.cpus()) {
        const ProcessingUnit& unit = unit_of(made.topology, cpu);
        if (plan.mode == PlacementMode::cache_domain) {
          ASSERT_EQ(unit.cache_domain, unit_of(made.topology, place.home).cache_domain);
        }
        ASSERT_TRUE(plan.mode == PlacementMode::none || unit.node == place.node);
      }
    }
    // Even: no CPU gets a second worker before each has one.
    const std::map<int, int> count = workers_of_cpu(plan);
    int least = made.request.workers;
    int most = 0;
    for (const auto& [cpu, workers] : count) {
      least = std::min(least, workers);
      most = std::max(most, workers);
    }
    ASSERT_LE(most - least, 1);
    const int share = made.request.ranks == 1 ? made.mask.size()
                                              : std::max(1, made.mask.size() / made.request.ranks);
    ASSERT_GE(static_cast<int>(count.size()), std::min(share, made.request.workers));
  }
}

TEST_P(PlacementOnRandomMachines, TakesWholeCoresFirstAndTheDevicesNode) {
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t seed = static_cast<std::uint64_t>(GetParam()) * 1000 + i;
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    Case made = random_case(random);
    PlacementRequest& request = made.request;
    request.taken.clear();
    request.ranks = 1;
    request.rank = 0;
    request.consumer_cpu.reset();
    request.workers = std::min(request.workers, made.mask.size());
    const PlacementPlan plan = plan_placement(made.topology, made.mask, request);
    std::set<int> cores;
    std::vector<const ProcessingUnit*> homes;
    for (const WorkerPlace& place : plan.places) {
      homes.push_back(&unit_of(made.topology, place.home));
      cores.insert(homes.back()->core);
    }
    ASSERT_EQ(static_cast<int>(cores.size()), std::min(request.workers, made.topology.cores));
    // Among first threads: fast before slow; within a kind, the device's node before others, and
    // node by node.
    const std::size_t first_threads =
        std::min(homes.size(), static_cast<std::size_t>(made.topology.cores));
    std::set<int> left;
    for (std::size_t w = 1; w < first_threads; ++w) {
      const ProcessingUnit& before = *homes[w - 1];
      const ProcessingUnit& here = *homes[w];
      ASSERT_GE(before.efficiency, here.efficiency);
      if (before.efficiency != here.efficiency) left.clear();
      if (before.efficiency == here.efficiency && before.node != here.node) {
        left.insert(before.node);
        ASSERT_EQ(left.count(here.node), 0u) << "came back to a node";
        if (request.first_node) {
          ASSERT_NE(here.node, *request.first_node);
        }
      }
    }
    // The order does not depend on how many ask: fewer workers take the first of the places.
    if (request.workers > 1) {
      PlacementRequest fewer = request;
      --fewer.workers;
      const PlacementPlan shorter = plan_placement(made.topology, made.mask, fewer);
      for (std::size_t w = 0; w < shorter.places.size(); ++w)
        ASSERT_EQ(shorter.places[w].home, plan.places[w].home);
    }
  }
}

TEST_P(PlacementOnRandomMachines, KeepsAwayFromOthersWhileThereIsRoom) {
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t seed = static_cast<std::uint64_t>(GetParam()) * 1000 + i;
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    Case made = random_case(random);
    PlacementRequest& request = made.request;
    request.ranks = 1;
    request.rank = 0;
    std::set<int> busy;
    for (const int cpu : request.taken) busy.insert(unit_of(made.topology, cpu).core);
    if (request.consumer_cpu) busy.insert(unit_of(made.topology, *request.consumer_cpu).core);
    const int room = made.topology.cores - static_cast<int>(busy.size());
    if (room < 1) continue;
    request.workers = pick(random, 1, room);
    const PlacementPlan plan = plan_placement(made.topology, made.mask, request);
    for (const WorkerPlace& place : plan.places)
      ASSERT_EQ(busy.count(unit_of(made.topology, place.home).core), 0u);
    // With every CPU at work nobody is turned away.
    request.workers = made.mask.size();
    ASSERT_EQ(workers_of_cpu(plan_placement(made.topology, made.mask, request)).size(),
              static_cast<std::size_t>(made.mask.size()));
  }
}

TEST_P(PlacementOnRandomMachines, SharesTheCpusOutAmongRanks) {
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t seed = static_cast<std::uint64_t>(GetParam()) * 1000 + i;
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    Case made = random_case(random);
    PlacementRequest& request = made.request;
    request.ranks = pick(random, 1, std::min(6, made.mask.size()));
    std::map<int, int> taken;
    for (request.rank = 0; request.rank < request.ranks; ++request.rank) {
      // The budget of this rank: the remainder goes to the lowest.
      request.workers = made.mask.size() / request.ranks +
                        (request.rank < made.mask.size() % request.ranks ? 1 : 0);
      for (const auto& [cpu, workers] :
           workers_of_cpu(plan_placement(made.topology, made.mask, request)))
        taken[cpu] += workers;
    }
    ASSERT_EQ(static_cast<int>(taken.size()), made.mask.size());
    for (const auto& [cpu, workers] : taken) ASSERT_EQ(workers, 1) << "CPU " << cpu;
  }
}

INSTANTIATE_TEST_SUITE_P(TenThousand, PlacementOnRandomMachines, ::testing::Range(0, 10));

}  // namespace
}  // namespace weir
