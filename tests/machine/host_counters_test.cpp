#include "machine/host_counters.hpp"

#include "tests/machine/recorded_machine.hpp"

#include <chrono>
#include <optional>

#include <gtest/gtest.h>

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
