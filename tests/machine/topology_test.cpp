#include "machine/topology.hpp"

#include <weir/error.hpp>
#include <weir/machine_view.hpp>

#include "tests/machine/recorded_machine.hpp"

#include <set>

#include <gtest/gtest.h>

namespace weir {
namespace {

using testing::cpus_from;
using testing::recorded_root;

TEST(Topology, ReadsEachLevelOfASyntheticMachine) {
  const Topology topology = synthetic_topology("node:2 l3:2 core:4 pu:2");
  ASSERT_EQ(topology.units.size(), 32u);
  EXPECT_EQ(topology.cores, 16);
  EXPECT_EQ(topology.cache_domains, 4);
  EXPECT_EQ(topology.nodes, 2);
  EXPECT_EQ(topology.node_numbers, (std::vector<int>{0, 1}));
  EXPECT_FALSE(topology.this_machine);
  EXPECT_EQ(topology.cpus(), cpus_from(0, 31));
  // CPUs 8 to 15 are the second cache domain of the first node, two threads a core.
  for (int cpu = 8; cpu < 16; ++cpu) {
    const ProcessingUnit& unit = topology.units[static_cast<std::size_t>(cpu)];
    EXPECT_EQ(unit.cache_domain, 1);
    EXPECT_EQ(unit.node, 0);
    EXPECT_EQ(unit.core, cpu / 2);
    EXPECT_EQ(unit.sibling, cpu % 2);
    EXPECT_EQ(unit.efficiency, 0);
  }
}

TEST(Topology, TakesTheNodeForDomainWhereCachesArePrivate) {
  const Topology topology = synthetic_topology("node:2 l2:4 core:1 pu:2");
  ASSERT_EQ(topology.units.size(), 16u);
  EXPECT_EQ(topology.cache_domains, 2);
  for (const ProcessingUnit& unit : topology.units) EXPECT_EQ(unit.cache_domain, unit.node);
}

TEST(Topology, TakesTheNodeForDomainWhereNoCacheIsReported) {
  const Topology topology = synthetic_topology("node:2 core:3 pu:1");
  ASSERT_EQ(topology.units.size(), 6u);
  EXPECT_EQ(topology.cache_domains, 2);
}

TEST(Topology, CutsACacheAtTheBordersOfNodes) {
  const Topology topology = synthetic_topology("l3:1 node:2 core:2 pu:1");
  ASSERT_EQ(topology.units.size(), 4u);
  EXPECT_EQ(topology.nodes, 2);
  EXPECT_EQ(topology.cache_domains, 2);
}

TEST(Topology, HoldsMachinesBeyondOneMaskOfTheKernel) {
  const Topology topology = synthetic_topology("node:16 l3:4 core:16 pu:2");
  ASSERT_EQ(topology.units.size(), 2048u);
  EXPECT_EQ(topology.cache_domains, 64);
  EXPECT_EQ(topology.cpus().cpus().back(), 2047);
}

TEST(Topology, TellsKindsOfCoresApart) {
  const Topology topology = recorded_topology(recorded_root("hybrid.xml"));
  ASSERT_EQ(topology.units.size(), 8u);
  EXPECT_EQ(topology.cores, 6);
  EXPECT_EQ(topology.cache_domains, 1);
  for (const ProcessingUnit& unit : topology.units) {
    EXPECT_EQ(unit.efficiency, unit.cpu < 4 ? 1 : 0) << unit.cpu;
  }
}

TEST(Topology, RestrictedKeepsIndexesAndCountsWhatIsLeft) {
  const Topology whole = synthetic_topology("node:2 l3:2 core:4 pu:2");
  const Topology rest = whole.restricted_to({16, 17, 24, 26});
  ASSERT_EQ(rest.units.size(), 4u);
  EXPECT_EQ(rest.cores, 3);
  EXPECT_EQ(rest.cache_domains, 2);
  EXPECT_EQ(rest.nodes, 1);
  EXPECT_EQ(rest.units[0].node, 1);
  EXPECT_EQ(rest.units[3].cache_domain, 3);
}

TEST(Topology, BelievesTheMaskAboutCpusThatItDoesNotKnow) {
  const Topology rest = synthetic_topology("node:1 core:2 pu:1").restricted_to({1, 5, 6});
  EXPECT_EQ(rest.cpus(), (CpuSet{1, 5, 6}));
  EXPECT_EQ(rest.cores, 3);
}

TEST(Topology, RefusesWhatIsNoTopology) {
  const testing::ScratchMachine scratch;
  scratch.write("/broken.xml", "<topology version=\"2.0\"><object>");
  EXPECT_THROW((void)synthetic_topology("three sockets"), Error);
  EXPECT_THROW((void)recorded_topology(recorded_root("no_such.xml")), Error);
  EXPECT_THROW((void)recorded_topology(scratch.root() + "/broken.xml"), Error);
}

TEST(Topology, OfThisMachineCoversTheMask) {
  const CpuSet mask = thread_affinity();
  const Topology topology = read_topology();
  EXPECT_EQ(topology.cpus() & mask, mask);
  const Topology rest = topology.restricted_to(mask);
  EXPECT_EQ(rest.cpus(), mask);
  std::set<int> nodes;
  for (const ProcessingUnit& unit : rest.units) nodes.insert(unit.node);
  EXPECT_LE(*nodes.rbegin(), static_cast<int>(topology.node_numbers.size()) - 1);
}

}  // namespace
}  // namespace weir
