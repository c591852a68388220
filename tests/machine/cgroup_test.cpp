#include "machine/cgroup.hpp"

#include "tests/machine/recorded_machine.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace weir::detail {
namespace {

using testing::recorded_root;
using testing::ScratchMachine;
using Folders = std::vector<std::string>;

/// The folders where the kernel shows `group` in /proc/self/cgroup and a version two mount of
/// `mount_root` at /m.
Folders folders_of(const std::string& group, const std::string& mount_root) {
  const ScratchMachine machine;
  machine.write("/proc/self/cgroup", "0::" + group + "\n");
  machine.write("/proc/self/mountinfo",
                "30 23 0:26 " + mount_root + " /m rw shared:9 master:2 - cgroup2 cgroup2 rw\n");
  return Cgroups(machine.root()).folders(CgroupVersion::two, "cpu");
}

TEST(Cgroups, GoUpFromTheOwnGroupToTheMount) {
  EXPECT_EQ(folders_of("/a/b", "/"), (Folders{"/m/a/b", "/m/a", "/m"}));
  EXPECT_EQ(folders_of("/", "/"), Folders{"/m"});
}

TEST(Cgroups, FindTheOwnGroupUnderAMountOfAPartOfTheTree) {
  EXPECT_EQ(folders_of("/docker/x", "/docker/x"), Folders{"/m"});
  EXPECT_EQ(folders_of("/docker/x/y", "/docker/x"), (Folders{"/m/y", "/m"}));
}

TEST(Cgroups, LeaveOutMountsOfAnotherPart) {
  EXPECT_EQ(folders_of("/docker/x", "/docker/xy"), Folders{});
  EXPECT_EQ(folders_of("/docker/x", "/other"), Folders{});
  EXPECT_EQ(folders_of("/", "/docker/x"), Folders{});
}

TEST(Cgroups, UnderstandPathsSeenFromANamespace) {
  // The namespace's root lies below what is mounted: in between, the names are not known.
  EXPECT_EQ(folders_of("/", "/.."), Folders{"/m"});
  EXPECT_EQ(folders_of("/a", "/../.."), Folders{"/m"});
  // The process was moved out of the namespace's root.
  EXPECT_EQ(folders_of("/../x", "/.."), (Folders{"/m/x", "/m"}));
  EXPECT_EQ(folders_of("/../x", "/../.."), Folders{"/m"});
  EXPECT_EQ(folders_of("/../x", "/"), Folders{});
  EXPECT_EQ(folders_of("/../x", "/../y"), Folders{});
  EXPECT_EQ(folders_of("/../../x", "/.."), Folders{});
}

TEST(Cgroups, VersionOneHasATreeForEachController) {
  const Cgroups cgroups(recorded_root("cpuset_narrowed"));
  EXPECT_EQ(cgroups.folders(CgroupVersion::one, "cpu"),
            (Folders{"/sys/fs/cgroup/cpu,cpuacct/slurm/uid_1000/job_7/step_0",
                     "/sys/fs/cgroup/cpu,cpuacct/slurm/uid_1000/job_7",
                     "/sys/fs/cgroup/cpu,cpuacct/slurm/uid_1000",
                     "/sys/fs/cgroup/cpu,cpuacct/slurm", "/sys/fs/cgroup/cpu,cpuacct"}));
  EXPECT_EQ(cgroups.folders(CgroupVersion::one, "pids"), Folders{});
  EXPECT_EQ(cgroups.folders(CgroupVersion::two, "cpu"), Folders{});
}

TEST(Cgroups, UndoTheEscapesOfMountPoints) {
  const Cgroups cgroups(recorded_root("mounted_above_namespace"));
  EXPECT_EQ(cgroups.folders(CgroupVersion::two, "cpu"), Folders{"/mnt/control groups"});
}

TEST(Cgroups, KeepColonsInAPath) { EXPECT_EQ(folders_of("/a:b", "/"), (Folders{"/m/a:b", "/m"})); }

TEST(Cgroups, AreNoneWhereNothingCanBeRead) {
  const Cgroups cgroups(recorded_root("no_such_machine"));
  EXPECT_EQ(cgroups.folders(CgroupVersion::two, "cpu"), Folders{});
  EXPECT_EQ(cgroups.folders(CgroupVersion::one, "cpu"), Folders{});
}

}  // namespace
}  // namespace weir::detail
