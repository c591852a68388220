// What `weir machine` tells, of machines that are recorded or drawn.
#include "src/machine_report.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/machine/recorded_machine.hpp"
#include "tests/program/program_run.hpp"

namespace weir::program {
namespace {

using nlohmann::ordered_json;
using ::testing::HasSubstr;
using ::testing::Not;
using weir::testing::cpus_from;
using weir::testing::recorded_machine;
using weir::testing::ScratchMachine;

/// A server of two sockets with a card near the second, and much that costs speed.
ScratchMachine& server() {
  static ScratchMachine machine;
  static const bool kMade = [] {
    machine.write("/sys/devices/system/cpu/online", "0-31\n");
    for (int cpu = 0; cpu < 32; ++cpu) {
      const std::string folder = "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/cpufreq";
      machine.write(folder + "/scaling_governor", cpu < 8 ? "powersave\n" : "performance\n");
      machine.write(folder + "/scaling_driver", "acpi-cpufreq\n");
    }
    machine.write("/sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", "12\n");
    machine.write("/sys/devices/system/node/online", "0-2\n");
    machine.write("/sys/devices/system/node/node0/cpulist", "0-15\n");
    machine.write("/sys/devices/system/node/node0/meminfo",
                  "Node 0 MemTotal:       67108864 kB\nNode 0 MemFree:        33554432 kB\n");
    machine.write("/sys/devices/system/node/node1/cpulist", "16-31\n");
    machine.write("/sys/devices/system/node/node1/meminfo", "garbage\n");
    machine.write("/sys/devices/system/node/node2/cpulist", "\n");
    machine.write("/sys/devices/system/node/node2/meminfo",
                  "Node 2 MemTotal: 1048576 kB\nNode 2 MemFree: 1048576 kB\n");
    const std::string card = "/sys/bus/pci/devices/0000:3b:00.0";
    machine.write(card + "/class", "0x030200\n");
    machine.write(card + "/vendor", "0x10de\n");
    machine.write(card + "/numa_node", "1\n");
    machine.write("/proc/driver/nvidia/gpus/0000:3b:00.0/information",
                  "Model: \t\t NVIDIA H200\nIRQ: 5\n");
    const std::string screen = "/sys/bus/pci/devices/0000:00:02.0";
    machine.write(screen + "/class", "0x030000\n");
    machine.write(screen + "/vendor", "0x1234\n");
    machine.write("/proc/sys/kernel/numa_balancing", "1\n");
    machine.write("/proc/loadavg", "20.50 3.0 2.0 5/800 4711\n");
    return true;
  }();
  (void)kMade;
  return machine;
}

MachineReport report_of_server(PlacementMode mode, const std::vector<int>& taken = {}) {
  MachineView view = recorded_machine("", cpus_from(0, 31));
  view.root = server().root();
  return make_machine_report(view, synthetic_topology("node:2 l3:2 core:4 pu:2"), mode, taken);
}

TEST(MachineReport, DrawsTheTreeWithItsMemory) {
  const std::string text = machine_text(report_of_server(PlacementMode::cache_domain));
  for (const char* part :
       {"threads: 32 (affinity)", "mask: 32 CPUs (0-31)", "32 CPUs, 16 cores, 4 cache domains",
        "node 0: 64 GiB, 32 GiB free", "cache domain: 4 cores, 8 CPUs (0-7)",
        "node 2: memory without CPUs, 1.0 GiB", "0000:3b:00.0  NVIDIA NVIDIA H200, node 1",
        "places: by cache_domain"})
    EXPECT_THAT(text, HasSubstr(part));
  EXPECT_THAT(text, Not(HasSubstr("0000:00:02.0")));
}

TEST(MachineReport, NamesWhatCostsSpeedWithItsFile) {
  const std::string text = machine_text(report_of_server(PlacementMode::node));
  for (const char* part :
       {"scaling_governor is powersave on 8 of 32 CPUs", "acpi-cpufreq",
        "/proc/sys/kernel/numa_balancing", "/proc/loadavg says 20.5", "slowed down 12 times"})
    EXPECT_THAT(text, HasSubstr(part));
}

TEST(MachineReport, FindsNothingWhereNothingIs) {
  for (const char* machine : {"garbage", "no_such_machine"}) {
    const MachineReport report =
        make_machine_report(recorded_machine(machine, {0, 1}), synthetic_topology("core:2 pu:1"),
                            PlacementMode::core, {});
    EXPECT_TRUE(report.findings.empty()) << report.findings.front().what;
    EXPECT_TRUE(report.devices.empty());
    EXPECT_THAT(machine_text(report), HasSubstr("nothing found that costs speed"));
  }
}

TEST(MachineReport, SaysThatAPathIsLongAndThrottlingWasSeen) {
  const MachineReport deep =
      make_machine_report(recorded_machine("long_cgroup_path", cpus_from(4, 7)),
                          synthetic_topology("core:8 pu:1"), PlacementMode::core, {});
  EXPECT_THAT(machine_text(deep), HasSubstr("long control group path"));
}

TEST(MachineReport, TakesPlacesThatNobodyHolds) {
  const MachineReport report = report_of_server(PlacementMode::core, {0, 2, 4, 6});
  EXPECT_EQ(report.taken, 4);
  EXPECT_THAT(machine_text(report), HasSubstr("4 places held by other processes"));
  const ordered_json document = machine_json(report);
  EXPECT_EQ(document["placement"]["taken"], 4);
  EXPECT_EQ(document["placement"]["workers"].size(), 32u);
  EXPECT_EQ(document["placement"]["workers"][0]["cpus"], "16") << "the emptier node";
}

TEST(MachineReport, JsonHasWhatScriptsRelyOn) {
  const ordered_json document = machine_json(report_of_server(PlacementMode::none));
  for (const char* key :
       {"threads", "source", "refusal", "allowed", "mask", "quota", "quota_file", "ranks",
        "derivation", "memory", "topology", "devices", "findings", "placement"})
    EXPECT_TRUE(document.contains(key)) << key;
  EXPECT_EQ(document["topology"]["nodes"].size(), 2u);
  EXPECT_EQ(document["topology"]["nodes"][0]["free_bytes"], 32ULL << 30U);
  EXPECT_EQ(document["devices"][0]["node"], 1);
  EXPECT_EQ(document["placement"]["workers"][0]["cpus"], nullptr);
}

TEST(MachineReport, DeviceIsFoundByItsBusId) {
  const MachineReport report = report_of_server(PlacementMode::core);
  for (const char* id : {"0000:3b:00.0", "00000000:3B:00.0", "3b:00.0"})
    EXPECT_EQ(node_of_device(report.topology, report.devices, id), 1) << id;
  EXPECT_EQ(node_of_device(report.topology, report.devices, "0000:3c:00.0"), std::nullopt);
}

TEST(MachineVerb, TellsOfThisMachine) {
  const test::ProgramEnd end = test::run_program({"machine"});
  EXPECT_EQ(end.status, 0) << end.err;
  EXPECT_THAT(end.out, HasSubstr("threads: "));
  EXPECT_THAT(end.out, HasSubstr("places: by cache_domain"));
  EXPECT_EQ(end.err, "");
  const test::ProgramEnd document = test::run_program({"machine", "--json", "--pin", "core"});
  EXPECT_EQ(ordered_json::parse(document.out)["placement"]["mode"], "core");
}

}  // namespace
}  // namespace weir::program
