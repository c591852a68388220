#include "pipeline/host_watch.hpp"

#include "tests/machine/recorded_machine.hpp"

#include <gtest/gtest.h>

namespace weir::detail {
namespace {

void write_host(const weir::testing::ScratchMachine& machine, int throttled) {
  machine.write("/proc/self/cgroup", "0::/box\n");
  machine.write("/proc/self/mountinfo",
                "30 20 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate\n");
  machine.write("/sys/fs/cgroup/box/cpu.max", "150000 100000\n");
  machine.write("/sys/fs/cgroup/box/cpu.stat", "usage_usec 5\nnr_periods 100\nnr_throttled " +
                                                   std::to_string(throttled) +
                                                   "\nthrottled_usec 2500000\n");
  machine.write("/proc/self/status", "VmHWM:  80 kB\nVmRSS:  40 kB\n");
}

TEST(HostWatch, ReadsTheInjectedMachine) {
  const weir::testing::ScratchMachine machine;
  write_host(machine, 7);
  MachineView view;
  view.root = machine.root();
  view.affinity = [] { return weir::testing::cpus_from(0, 3); };
  HostWatch watch(view);
  const HostSnapshot& host = watch.read(100);
  EXPECT_EQ(host.read_seconds, 100);
  EXPECT_EQ(host.cores, 1.5);
  EXPECT_EQ(host.throttled_periods, 7u);
  EXPECT_EQ(host.throttled_seconds, 2.5);
  EXPECT_EQ(host.resident_bytes, 40u * 1024);
  EXPECT_EQ(host.host_cpu_seconds, 0);  // not there
}

TEST(HostWatch, ReadsAtMostTwiceASecond) {
  const weir::testing::ScratchMachine machine;
  write_host(machine, 7);
  MachineView view;
  view.root = machine.root();
  HostWatch watch(view);
  (void)watch.read(100);
  write_host(machine, 9);
  EXPECT_EQ(watch.read(100.49).throttled_periods, 7u);
  EXPECT_EQ(watch.read(100.51).throttled_periods, 9u);
}

}  // namespace
}  // namespace weir::detail
