#include "machine/host_counters.hpp"

#include "tests/machine/recorded_machine.hpp"

#include <chrono>
#include <optional>

#include <gtest/gtest.h>
#include <unistd.h>

namespace weir {
namespace {

using std::chrono::microseconds;
using std::chrono::nanoseconds;
using testing::recorded_root;

TEST(HostCounters, AreReadInTheUnitsOfEachVersion) {
  const HostCounters one = read_host_counters(recorded_root("docker_v1"));
  EXPECT_EQ(one.quota_periods, 1200u);
  EXPECT_EQ(one.throttled_periods, 37u);
  EXPECT_EQ(one.throttled_time, nanoseconds(5'000'000'000));
  const HostCounters two = read_host_counters(recorded_root("docker_v2"));
  EXPECT_EQ(two.quota_periods, 10u);
  EXPECT_EQ(two.throttled_periods, 4u);
  EXPECT_EQ(two.throttled_time, microseconds(7000));
}

TEST(HostCounters, CountWhatAParentThrottles) {
  const HostCounters counters = read_host_counters(recorded_root("kubernetes_parent_quota"));
  EXPECT_EQ(counters.throttled_periods, 21u);
  EXPECT_EQ(counters.throttled_time, microseconds(1500));
}

TEST(HostCounters, HoldThePressureOfTheHost) {
  EXPECT_EQ(read_host_counters(recorded_root("bare_metal")).cpu_pressure, microseconds(4343369));
  EXPECT_EQ(read_host_counters(recorded_root("docker_v1")).cpu_pressure, std::nullopt);
}

TEST(HostCounters, TellTheHostFromTheProcess) {
  const testing::ScratchMachine machine;
  machine.write("/proc/stat",
                "cpu  1000 100 500 8000 300 20 30 50 400 0\n"
                "cpu0 500 50 250 4000 150 10 15 25 200 0\n"
                "cpu1 500 50 250 4000 150 10 15 25 200 0\n"
                "intr 123 4 5\nctxt 99\n");
  machine.write("/proc/self/stat", "42 (a (b) c) S 1 42 42 0 -1 4194304 100 0 0 0 150 50 0 0 20 0");
  machine.write("/proc/pressure/memory",
                "some avg10=0.00 avg60=0.00 avg300=0.00 total=77\n"
                "full avg10=0.00 avg60=0.00 avg300=0.00 total=5\n");
  const HostCounters counters = read_host_counters(machine.root());
  EXPECT_EQ(counters.host_cpus, 2);
  const auto per_tick = nanoseconds(1'000'000'000 / ::sysconf(_SC_CLK_TCK));
  EXPECT_EQ(counters.host_cpu, 1700 * per_tick);  // neither idle nor waiting, guests once
  EXPECT_EQ(counters.process_cpu, 200 * per_tick);
  EXPECT_EQ(counters.memory_pressure, microseconds(77));
}

TEST(HostCounters, HoldTheMemoryOfTheOwnGroupAndTheLeastLimit) {
  const testing::ScratchMachine machine;
  machine.write("/proc/self/cgroup", "0::/pod/box\n");
  machine.write("/proc/self/mountinfo",
                "30 20 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate\n");
  machine.write("/sys/fs/cgroup/pod/box/memory.current", "1000\n");
  machine.write("/sys/fs/cgroup/pod/box/memory.max", "max\n");
  machine.write("/sys/fs/cgroup/pod/memory.current", "5000\n");
  machine.write("/sys/fs/cgroup/pod/memory.max", "8000\n");
  const HostCounters counters = read_host_counters(machine.root());
  EXPECT_EQ(counters.memory_bytes, 1000u);
  EXPECT_EQ(counters.memory_limit_bytes, 8000u);
}

TEST(HostCounters, AreMissingWhereNothingMakesSense) {
  for (const char* machine : {"garbage", "no_such_machine", "long_cgroup_path"}) {
    const HostCounters counters = read_host_counters(recorded_root(machine));
    EXPECT_EQ(counters.quota_periods, std::nullopt) << machine;
    EXPECT_EQ(counters.throttled_periods, std::nullopt) << machine;
    EXPECT_EQ(counters.throttled_time, std::nullopt) << machine;
    EXPECT_EQ(counters.cpu_pressure, std::nullopt) << machine;
  }
}

}  // namespace
}  // namespace weir
