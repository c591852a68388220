#include <weir/memory_limit.hpp>

#include "tests/machine/recorded_machine.hpp"

#include <cstdint>
#include <optional>
#include <string>

#include <gtest/gtest.h>

namespace weir {
namespace {

using testing::recorded_machine;

constexpr std::uint64_t kGibibyte = std::uint64_t{1} << 30;

struct RecordedCase {
  const char* machine;
  std::uint64_t bytes;
  MemorySource source;
  std::optional<std::uint64_t> cgroup_limit;
  const char* file;
};

TEST(MemoryLimit, IsAQuarterOfTheSmallestLimit) {
  const RecordedCase cases[] = {
      {"bare_metal", 6 * kGibibyte, MemorySource::available, std::nullopt, ""},
      // The container's own file has no limit; a parent that is not mounted has.
      {"docker_v1", kGibibyte / 2, MemorySource::cgroup, 2 * kGibibyte,
       "/sys/fs/cgroup/memory/memory.stat"},
      {"docker_v2", kGibibyte, MemorySource::cgroup, 4 * kGibibyte, "/sys/fs/cgroup/memory.max"},
      {"kubernetes_parent_quota", 2 * kGibibyte, MemorySource::cgroup, 8 * kGibibyte,
       "/sys/fs/cgroup/kubepods.slice/kubepods-burstable.slice/"
       "kubepods-burstable-pod0c3f.slice/memory.max"},
      {"cpuset_narrowed", 4 * kGibibyte, MemorySource::cgroup, 16 * kGibibyte,
       "/sys/fs/cgroup/memory/slurm/uid_1000/job_7/memory.limit_in_bytes"},
      {"garbage", kGibibyte / 4, MemorySource::unknown, std::nullopt, ""},
      {"no_such_machine", kGibibyte / 4, MemorySource::unknown, std::nullopt, ""},
  };
  for (const RecordedCase& expected : cases) {
    SCOPED_TRACE(expected.machine);
    const MemoryLimit limit =
        derive_memory_limit(std::nullopt, recorded_machine(expected.machine, {0}));
    EXPECT_EQ(limit.bytes, expected.bytes);
    EXPECT_EQ(limit.source, expected.source);
    EXPECT_EQ(limit.cgroup_limit_bytes, expected.cgroup_limit);
    EXPECT_EQ(limit.cgroup_file, expected.file);
    EXPECT_FALSE(limit.derivation.empty());
  }
}

TEST(MemoryLimit, IsSharedByTheLocalRanks) {
  const MachineView view =
      recorded_machine("docker_v2", {0}, {{"LOCAL_RANK", "1"}, {"LOCAL_WORLD_SIZE", "4"}});
  EXPECT_EQ(derive_memory_limit(std::nullopt, view).bytes, kGibibyte / 4);
}

TEST(MemoryLimit, AskedForIsFinal) {
  const MachineView view =
      recorded_machine("docker_v2", {0}, {{"LOCAL_RANK", "1"}, {"LOCAL_WORLD_SIZE", "4"}});
  const MemoryLimit limit = derive_memory_limit(3 * kGibibyte, view);
  EXPECT_EQ(limit.bytes, 3 * kGibibyte);
  EXPECT_EQ(limit.source, MemorySource::user);
}

TEST(MemoryLimit, IsTheAvailableMemoryWhereThatIsLess) {
  const testing::ScratchMachine machine;
  machine.write("/proc/self/cgroup", "0::/\n");
  machine.write("/proc/self/mountinfo", "30 23 0:26 / /cg rw - cgroup2 cgroup2 rw\n");
  machine.write("/cg/memory.max", "4294967296\n");
  machine.write("/proc/meminfo", "MemAvailable: 1048576 kB\n");
  MachineView view = recorded_machine("", {0});
  view.root = machine.root();
  const MemoryLimit limit = derive_memory_limit(std::nullopt, view);
  EXPECT_EQ(limit.bytes, kGibibyte / 4);
  EXPECT_EQ(limit.source, MemorySource::available);
  EXPECT_EQ(limit.cgroup_limit_bytes, 4 * kGibibyte);
}

TEST(MemoryLimit, KnowsHowVersionOneWritesNoLimit) {
  const testing::ScratchMachine machine;
  machine.write("/proc/self/cgroup", "3:memory:/\n");
  machine.write("/proc/self/mountinfo", "30 23 0:26 / /cg rw - cgroup cgroup rw,memory\n");
  machine.write("/cg/memory.limit_in_bytes", "9223372036854771712\n");
  MachineView view = recorded_machine("", {0});
  view.root = machine.root();
  const MemoryLimit limit = derive_memory_limit(std::nullopt, view);
  EXPECT_EQ(limit.cgroup_limit_bytes, std::nullopt);
  EXPECT_EQ(limit.source, MemorySource::unknown);
}

TEST(MemoryLimit, OfThisMachineIsSomething) { EXPECT_GT(derive_memory_limit().bytes, 0u); }

}  // namespace
}  // namespace weir
