#include "machine/machine_description.hpp"

#include "tests/machine/recorded_machine.hpp"

#include <set>
#include <string>

#include <gtest/gtest.h>

namespace weir {
namespace {

using testing::recorded_machine;

MachineDescription recorded_description() {
  const Topology topology = synthetic_topology("node:1 l3:1 core:8 pu:2");
  EXPECT_EQ(topology.units.size(), 16u);
  return describe_machine(topology, recorded_machine("bare_metal", {0}));
}

TEST(MachineDescription, IsThatOfTheWholeMachine) {
  const MachineDescription machine = recorded_description();
  EXPECT_EQ(machine.cpu_model, "AMD Ryzen 7 7700X 8-Core Processor");
  EXPECT_EQ(machine.threads, 16);
  EXPECT_EQ(machine.cores, 8);
  EXPECT_EQ(machine.nodes, 1);
  EXPECT_EQ(machine.memory_bytes, 32594020u * std::uint64_t{1024});
  EXPECT_EQ(machine.quota, std::nullopt);
}

TEST(MachineDescription, HasASteadyFingerprint) {
  // Tuned files hold it: a change here makes every one of them another machine's.
  EXPECT_EQ(recorded_description().fingerprint, "2357a0af99474a47");
}

TEST(MachineDescription, FingerprintsDifferWithEachFact) {
  std::set<std::string> seen;
  MachineDescription machine = recorded_description();
  seen.insert(fingerprint_of(machine));
  machine.cpu_model += "X";
  seen.insert(fingerprint_of(machine));
  machine.threads += 1;
  seen.insert(fingerprint_of(machine));
  machine.cores += 1;
  seen.insert(fingerprint_of(machine));
  machine.nodes += 1;
  seen.insert(fingerprint_of(machine));
  machine.memory_bytes += std::uint64_t{2} << 30;
  seen.insert(fingerprint_of(machine));
  machine.quota = 1.5;
  seen.insert(fingerprint_of(machine));
  EXPECT_EQ(seen.size(), 7u);
}

TEST(MachineDescription, FingerprintForgivesWhatAnotherKernelKeepsForItself) {
  MachineDescription machine = recorded_description();
  const std::string before = fingerprint_of(machine);
  machine.memory_bytes += std::uint64_t{20} << 20;
  EXPECT_EQ(fingerprint_of(machine), before);
}

TEST(MachineDescription, IsMadeEvenWhereNothingCanBeRead) {
  const Topology topology = synthetic_topology("node:1 core:2 pu:1");
  const MachineDescription machine =
      describe_machine(topology, recorded_machine("no_such_machine", {0}));
  EXPECT_EQ(machine.cpu_model, "unknown");
  EXPECT_EQ(machine.memory_bytes, 0u);
  EXPECT_EQ(machine.fingerprint.size(), 16u);
}

TEST(MachineDescription, NamesTheQuota) {
  const Topology topology = synthetic_topology("node:1 core:8 pu:1");
  EXPECT_EQ(describe_machine(topology, recorded_machine("docker_v2", {0})).quota, 2.5);
}

}  // namespace
}  // namespace weir
