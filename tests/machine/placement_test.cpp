#include "machine/placement.hpp"

#include "tests/machine/recorded_machine.hpp"

#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace weir {
namespace {

using testing::cpus_from;
using testing::recorded_root;

/// Two nodes of two cache domains of four cores of two threads: CPUs 0-31, siblings side by side.
Topology two_nodes() {
  Topology topology = synthetic_topology("node:2 l3:2 core:4 pu:2");
  EXPECT_EQ(topology.units.size(), 32u);
  return topology;
}

PlacementRequest request_for(int workers, PlacementMode mode) {
  PlacementRequest request;
  request.workers = workers;
  request.mode = mode;
  return request;
}

std::vector<std::string> cpus_of(const PlacementPlan& plan) {
  std::vector<std::string> texts;
  for (const WorkerPlace& place : plan.places) texts.push_back(place.cpus.to_string());
  return texts;
}

using Texts = std::vector<std::string>;

TEST(Placement, FillsFirstThreadsNodeByNodeThenSiblings) {
  const Topology topology = synthetic_topology("node:2 l3:1 core:2 pu:2");
  ASSERT_EQ(topology.units.size(), 8u);
  const PlacementPlan plan =
      plan_placement(topology, topology.cpus(), request_for(8, PlacementMode::core));
  EXPECT_EQ(cpus_of(plan), (Texts{"0", "2", "4", "6", "1", "3", "5", "7"}));
  EXPECT_EQ(plan.places[0].node, 0);
  EXPECT_EQ(plan.places[2].node, 1);
}

TEST(Placement, TakesFastCoresBeforeSlowOnesBeforeSiblings) {
  const Topology topology = recorded_topology(recorded_root("hybrid.xml"));
  ASSERT_EQ(topology.units.size(), 8u);
  const PlacementPlan plan =
      plan_placement(topology, topology.cpus(), request_for(8, PlacementMode::core));
  EXPECT_EQ(cpus_of(plan), (Texts{"0", "2", "4", "6", "8", "10", "1", "3"}));
  // The same with the slow kind numbered first.
  Topology turned = topology;
  for (ProcessingUnit& unit : turned.units) unit.efficiency = 1 - unit.efficiency;
  const PlacementPlan turned_plan =
      plan_placement(turned, turned.cpus(), request_for(8, PlacementMode::core));
  EXPECT_EQ(cpus_of(turned_plan), (Texts{"4", "6", "8", "10", "0", "2", "1", "3"}));
}

TEST(Placement, BindsToTheCacheDomainByDefault) {
  const Topology topology = two_nodes();
  PlacementRequest request;
  request.workers = 16;
  const PlacementPlan plan = plan_placement(topology, topology.cpus(), request);
  EXPECT_EQ(plan.mode, PlacementMode::cache_domain);
  EXPECT_EQ(plan.note, "");
  const Texts domains{"0-7", "8-15", "16-23", "24-31"};
  for (int worker = 0; worker < 16; ++worker) {
    EXPECT_EQ(plan.places[static_cast<std::size_t>(worker)].cpus.to_string(),
              domains[static_cast<std::size_t>(worker / 4)]);
  }
}

TEST(Placement, BindsToTheNodeWhereAsked) {
  const Topology topology = two_nodes();
  const PlacementPlan plan =
      plan_placement(topology, topology.cpus(), request_for(9, PlacementMode::node));
  EXPECT_EQ(plan.places[0].cpus, cpus_from(0, 15));
  EXPECT_EQ(plan.places[8].cpus, cpus_from(16, 31));
}

TEST(Placement, LeavesUnboundWhereAsked) {
  const Topology topology = two_nodes();
  const PlacementPlan plan =
      plan_placement(topology, topology.cpus(), request_for(3, PlacementMode::none));
  ASSERT_EQ(plan.places.size(), 3u);
  EXPECT_TRUE(plan.places[0].cpus.empty());
  EXPECT_EQ(plan.places[0].node, -1);
  // With a single node in reach, memory has nowhere else to be.
  EXPECT_EQ(plan_placement(topology, cpus_from(16, 31), request_for(1, PlacementMode::none))
                .places[0]
                .node,
            1);
}

TEST(Placement, NeverLeavesTheMask) {
  const Topology topology = two_nodes();
  const CpuSet mask{1, 2, 3, 9, 17, 30};
  for (const PlacementMode mode :
       {PlacementMode::cache_domain, PlacementMode::core, PlacementMode::node}) {
    for (const bool quota : {false, true}) {
      for (int ranks = 1; ranks <= 3; ++ranks) {
        PlacementRequest request = request_for(7, mode);
        request.shared_quota = quota;
        request.ranks = ranks;
        request.rank = ranks - 1;
        const PlacementPlan plan = plan_placement(topology, mask, request);
        ASSERT_EQ(plan.places.size(), 7u);
        for (const WorkerPlace& place : plan.places) {
          EXPECT_EQ(place.cpus & mask, place.cpus);
        }
      }
    }
  }
}

TEST(Placement, CountsSiblingsWithinTheMask) {
  // Of the first core only the second thread is in reach: it is as good as any first one.
  const Topology topology = synthetic_topology("node:1 l3:1 core:2 pu:2");
  ASSERT_EQ(topology.units.size(), 4u);
  const PlacementPlan plan =
      plan_placement(topology, {1, 2, 3}, request_for(3, PlacementMode::core));
  EXPECT_EQ(cpus_of(plan), (Texts{"1", "2", "3"}));
}

TEST(Placement, GoesRoundWithMoreWorkersThanCpus) {
  const Topology topology = synthetic_topology("node:1 core:2 pu:1");
  const PlacementPlan plan =
      plan_placement(topology, topology.cpus(), request_for(5, PlacementMode::core));
  EXPECT_EQ(cpus_of(plan), (Texts{"0", "1", "0", "1", "0"}));
}

TEST(Placement, NeverBindsToASingleCpuUnderAQuotaOnSharedCpus) {
  const Topology topology = two_nodes();
  for (const CpuSet& mask :
       {cpus_from(0, 31), cpus_from(0, 1), CpuSet{0, 8}, CpuSet{0, 16}, CpuSet{0, 1, 8, 16}}) {
    for (const PlacementMode mode :
         {PlacementMode::cache_domain, PlacementMode::core, PlacementMode::node}) {
      PlacementRequest request = request_for(4, mode);
      request.shared_quota = true;
      const PlacementPlan plan = plan_placement(topology, mask, request);
      for (const WorkerPlace& place : plan.places) {
        EXPECT_NE(place.cpus.size(), 1) << mask.to_string() << " " << to_string(mode);
      }
      EXPECT_EQ(plan.note.empty(), plan.mode == mode);
    }
  }
}

TEST(Placement, UnderAQuotaLoosensNoFurtherThanNeeded) {
  const Topology topology = two_nodes();
  PlacementRequest request = request_for(4, PlacementMode::core);
  request.shared_quota = true;
  EXPECT_EQ(plan_placement(topology, topology.cpus(), request).mode, PlacementMode::cache_domain);
  EXPECT_EQ(plan_placement(topology, {0, 8}, request).mode, PlacementMode::node);
  EXPECT_EQ(plan_placement(topology, {0, 16}, request).mode, PlacementMode::none);
}

TEST(Placement, FillsTheDevicesNodeFirst) {
  const Topology topology = two_nodes();
  PlacementRequest request;
  request.workers = 12;
  request.first_node = 1;
  for (std::uint64_t spread = 0; spread < 8; ++spread) {
    request.spread = spread;
    const PlacementPlan plan = plan_placement(topology, topology.cpus(), request);
    for (std::size_t worker = 0; worker < 12; ++worker) {
      EXPECT_EQ(plan.places[worker].node, worker < 8 ? 1 : 0) << worker;
    }
  }
}

TEST(Placement, SpreadsProcessesThatUseAPartOfTheMachine) {
  const Topology topology = two_nodes();
  std::set<std::string> first;
  for (std::uint64_t spread = 0; spread < 4; ++spread) {
    PlacementRequest request;
    request.workers = 4;
    request.spread = spread;
    const PlacementPlan plan = plan_placement(topology, topology.cpus(), request);
    // One process still keeps together.
    EXPECT_EQ(plan.places[0].cpus, plan.places[3].cpus);
    first.insert(plan.places[0].cpus.to_string());
  }
  EXPECT_EQ(first, (std::set<std::string>{"0-7", "8-15", "16-23", "24-31"}));
}

TEST(Placement, GivesEachLocalRankWholeCoresOfItsOwn) {
  const Topology topology = two_nodes();
  std::multiset<std::string> taken;
  for (int rank = 0; rank < 4; ++rank) {
    PlacementRequest request = request_for(8, PlacementMode::core);
    request.rank = rank;
    request.ranks = 4;
    const PlacementPlan plan = plan_placement(topology, topology.cpus(), request);
    std::set<int> domains;
    for (const WorkerPlace& place : plan.places) {
      taken.insert(place.cpus.to_string());
      domains.insert(place.cpus.cpus().front() / 8);
    }
    EXPECT_EQ(domains, std::set<int>{rank});
  }
  EXPECT_EQ(taken.size(), 32u);
  EXPECT_EQ(std::set<std::string>(taken.begin(), taken.end()).size(), 32u);
}

TEST(Placement, GivesEachLocalRankItsPartOfEveryKindOfCore) {
  const Topology topology = recorded_topology(recorded_root("hybrid.xml"));
  ASSERT_EQ(topology.units.size(), 8u);
  PlacementRequest request = request_for(4, PlacementMode::core);
  request.ranks = 2;
  EXPECT_EQ(cpus_of(plan_placement(topology, topology.cpus(), request)),
            (Texts{"0", "4", "6", "1"}));
  request.rank = 1;
  EXPECT_EQ(cpus_of(plan_placement(topology, topology.cpus(), request)),
            (Texts{"2", "8", "10", "3"}));
}

TEST(Placement, SharesOutFewerCoresThanRanks) {
  const Topology topology = synthetic_topology("node:1 core:2 pu:1");
  for (int rank = 0; rank < 5; ++rank) {
    PlacementRequest request = request_for(1, PlacementMode::core);
    request.rank = rank;
    request.ranks = 5;
    EXPECT_EQ(plan_placement(topology, topology.cpus(), request).places.size(), 1u);
  }
}

TEST(Placement, ModesHaveTheWordsOfTheCommandLine) {
  for (const char* word : {"none", "cache_domain", "core", "node"}) {
    EXPECT_EQ(to_string(parse_placement_mode(word).value()), word);
  }
  EXPECT_EQ(parse_placement_mode("numa"), std::nullopt);
}

}  // namespace
}  // namespace weir
