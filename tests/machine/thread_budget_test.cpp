#include <weir/thread_budget.hpp>

#include "tests/machine/recorded_machine.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace weir {
namespace {

using testing::cpus_from;
using testing::recorded_machine;
using testing::ScratchMachine;
using Variables = std::map<std::string, std::string>;

ThreadBudgetRequest by_hand(int threads, bool oversubscribe = false) {
  ThreadBudgetRequest request;
  request.explicit_limit = RequestedThreads{threads, "--workers"};
  request.oversubscribe = oversubscribe;
  return request;
}

ThreadBudgetRequest by_reserve(int reserve) {
  ThreadBudgetRequest request;
  request.reserve = reserve;
  return request;
}

bool says(const ThreadBudget& budget, const std::string& part) {
  return std::any_of(budget.derivation.begin(), budget.derivation.end(),
                     [&](const std::string& line) { return line.find(part) != std::string::npos; });
}

Variables torchrun(int rank, int size) {
  return {{"LOCAL_RANK", std::to_string(rank)}, {"LOCAL_WORLD_SIZE", std::to_string(size)}};
}

struct RecordedCase {
  const char* machine;
  CpuSet mask;
  int threads;
  BudgetSource source;
  std::optional<double> quota;
  const char* quota_file;
};

TEST(ThreadBudget, IsDerivedFromEachRecordedMachine) {
  const std::string pod =
      "/sys/fs/cgroup/kubepods.slice/kubepods-burstable.slice/"
      "kubepods-burstable-pod0c3f.slice/cpu.max";
  const std::string deep =
      "/sys/fs/cgroup/kubepods.slice/kubepods-besteffort.slice/"
      "kubepods-besteffort-pod3f9c1c6a_73f0_4c8e_9d0e_2b1f5c7a8d90.slice/"
      "cri-containerd-1b7c9d0e2f3a4b5c6d7e8f900112233445566778899aabbccddeeff0011223344.scope/"
      "cpu.max";
  const RecordedCase cases[] = {
      {"bare_metal", cpus_from(0, 15), 16, BudgetSource::affinity, std::nullopt, ""},
      {"docker_v1", cpus_from(0, 7), 1, BudgetSource::quota, 1.5,
       "/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us"},
      {"docker_v2", cpus_from(0, 7), 2, BudgetSource::quota, 2.5, "/sys/fs/cgroup/cpu.max"},
      {"docker_v2", cpus_from(6, 7), 2, BudgetSource::affinity, 2.5, "/sys/fs/cgroup/cpu.max"},
      {"kubernetes_parent_quota", cpus_from(0, 63), 3, BudgetSource::quota, 3.5, pod.c_str()},
      {"cpuset_narrowed", cpus_from(2, 5), 4, BudgetSource::affinity, std::nullopt, ""},
      {"long_cgroup_path", cpus_from(4, 7), 2, BudgetSource::quota, 2.0, deep.c_str()},
      {"mounted_above_namespace", cpus_from(0, 7), 3, BudgetSource::quota, 3.0,
       "/mnt/control groups/cpu.max"},
      {"garbage", cpus_from(0, 3), 4, BudgetSource::affinity, std::nullopt, ""},
      {"no_such_machine", cpus_from(0, 3), 4, BudgetSource::affinity, std::nullopt, ""},
  };
  for (const RecordedCase& expected : cases) {
    SCOPED_TRACE(expected.machine);
    const ThreadBudget budget =
        derive_thread_budget({}, recorded_machine(expected.machine, expected.mask));
    EXPECT_FALSE(budget.refusal);
    EXPECT_EQ(budget.threads, expected.threads);
    EXPECT_EQ(budget.source, expected.source);
    EXPECT_EQ(budget.quota, expected.quota);
    EXPECT_EQ(budget.quota_file, expected.quota_file);
    EXPECT_EQ(budget.mask, expected.mask);
    EXPECT_EQ(budget.allowed, expected.threads);
    EXPECT_TRUE(says(budget, "mask: " + std::to_string(expected.mask.size())));
    if (expected.quota) {
      EXPECT_TRUE(says(budget, expected.quota_file));
    }
  }
}

TEST(ThreadBudget, SaysWhichFilesMadeNoSense) {
  const ThreadBudget budget = derive_thread_budget({}, recorded_machine("garbage", {0, 1}));
  EXPECT_TRUE(says(budget, "/sys/fs/cgroup/cpu/cpu.cfs_quota_us: not understood"));
  EXPECT_TRUE(says(budget, "/sys/fs/cgroup/unified/cpu.max: not understood"));
}

TEST(ThreadBudget, IsOneUnderAQuotaBelowOneCpu) {
  const ScratchMachine machine;
  machine.write("/proc/self/cgroup", "0::/\n");
  machine.write("/proc/self/mountinfo", "30 23 0:26 / /cg rw - cgroup2 cgroup2 rw\n");
  machine.write("/cg/cpu.max", "20000 100000\n");
  MachineView view = recorded_machine("", {0, 1});
  view.root = machine.root();
  const ThreadBudget budget = derive_thread_budget({}, view);
  EXPECT_EQ(budget.threads, 1);
  EXPECT_EQ(budget.quota, 0.2);
}

TEST(ThreadBudget, SurvivesAQuotaBeyondAnyNumberOfCpus) {
  const ScratchMachine machine;
  machine.write("/proc/self/cgroup", "0::/\n");
  machine.write("/proc/self/mountinfo", "30 23 0:26 / /cg rw - cgroup2 cgroup2 rw\n");
  machine.write("/cg/cpu.max", "18446744073709551615 1\n");
  MachineView view = recorded_machine("", {0, 1});
  view.root = machine.root();
  EXPECT_EQ(derive_thread_budget({}, view).threads, 2);
}

TEST(ThreadBudget, TakesTheSmallerOfBothVersionsWhereBothAreMounted) {
  const ScratchMachine machine;
  machine.write("/proc/self/cgroup", "4:cpu:/a\n0::/b\n");
  machine.write("/proc/self/mountinfo",
                "30 23 0:26 / /one rw - cgroup cgroup rw,cpu\n"
                "31 23 0:27 / /two rw - cgroup2 cgroup2 rw\n");
  machine.write("/one/a/cpu.cfs_quota_us", "300000\n");
  machine.write("/one/a/cpu.cfs_period_us", "100000\n");
  machine.write("/two/b/cpu.max", "400000 100000\n");
  MachineView view = recorded_machine("", cpus_from(0, 7));
  view.root = machine.root();
  EXPECT_EQ(derive_thread_budget({}, view).threads, 3);
}

TEST(ThreadBudget, IsSharedByLocalRanksWithTheRestGoingToTheLowest) {
  std::vector<int> shares;
  for (int rank = 0; rank < 3; ++rank) {
    const ThreadBudget budget = derive_thread_budget(
        {}, recorded_machine("bare_metal", cpus_from(0, 15), torchrun(rank, 3)));
    EXPECT_EQ(budget.source, BudgetSource::ranks);
    EXPECT_TRUE(budget.ranks_divide);
    shares.push_back(budget.threads);
  }
  EXPECT_EQ(shares, (std::vector<int>{6, 5, 5}));
}

TEST(ThreadBudget, SumsOverTheRanksToWhatTheMachineAllows) {
  for (int ranks = 1; ranks <= 20; ++ranks) {
    for (int reserve = 0; reserve <= 17; ++reserve) {
      int sum = 0;
      for (int rank = 0; rank < ranks; ++rank) {
        const ThreadBudget budget = derive_thread_budget(
            by_reserve(reserve),
            recorded_machine("bare_metal", cpus_from(0, 15), torchrun(rank, ranks)));
        EXPECT_EQ(budget.refusal.has_value(), budget.threads < 1);
        sum += budget.threads;
      }
      EXPECT_EQ(sum, std::max(0, 16 - reserve)) << ranks << " ranks, reserve " << reserve;
    }
  }
}

TEST(ThreadBudget, IsNotDividedWhereTheLauncherGaveEachRankItsCpus) {
  // The job's cpuset holds four CPUs, this rank was bound to two of them.
  const ThreadBudget bound =
      derive_thread_budget({}, recorded_machine("cpuset_narrowed", {2, 3}, torchrun(0, 2)));
  EXPECT_EQ(bound.threads, 2);
  EXPECT_FALSE(bound.ranks_divide);
  EXPECT_EQ(bound.source, BudgetSource::affinity);
  // All four of a cpuset below the machine's sixteen: that narrowing is shared by all ranks.
  const ThreadBudget unbound =
      derive_thread_budget({}, recorded_machine("cpuset_narrowed", {2, 3, 4, 5}, torchrun(0, 2)));
  EXPECT_EQ(unbound.threads, 2);
  EXPECT_EQ(unbound.source, BudgetSource::ranks);
}

TEST(ThreadBudget, LeavesTheReserveToOthers) {
  const MachineView view = recorded_machine("bare_metal", cpus_from(0, 15));
  EXPECT_EQ(derive_thread_budget(by_reserve(2), view).threads, 14);
  EXPECT_EQ(derive_thread_budget(by_reserve(2), view).allowed, 16);
}

TEST(ThreadBudget, OfNothingCannotRunHere) {
  const ThreadBudget budget =
      derive_thread_budget(by_reserve(2), recorded_machine("docker_v2", cpus_from(0, 7)));
  EXPECT_EQ(budget.threads, 0);
  ASSERT_TRUE(budget.refusal);
  EXPECT_EQ(budget.refusal->kind, ErrorKind::cannot);
  for (const char* part :
       {"8 CPUs (0-7)", "2.5 CPUs", "/sys/fs/cgroup/cpu.max", "reserve 2", "lower the reserve"}) {
    EXPECT_NE(budget.refusal->message.find(part), std::string::npos) << budget.refusal->message;
  }
  EXPECT_THROW(budget.throw_if_refused(), Error);
}

TEST(ThreadBudget, OfMoreRanksThanCpusCannotRunHere) {
  const ThreadBudget last =
      derive_thread_budget({}, recorded_machine("docker_v2", cpus_from(0, 7), torchrun(3, 4)));
  ASSERT_TRUE(last.refusal);
  EXPECT_EQ(last.refusal->kind, ErrorKind::cannot);
  EXPECT_NE(last.refusal->message.find("local rank 3 of 4"), std::string::npos);
  EXPECT_NE(last.refusal->message.find("fewer local ranks"), std::string::npos);
}

TEST(ThreadBudget, AskedForIsFinal) {
  ThreadBudgetRequest request = by_hand(5);
  request.reserve = 12;
  const ThreadBudget budget = derive_thread_budget(
      request, recorded_machine("bare_metal", cpus_from(0, 15), torchrun(1, 4)));
  EXPECT_EQ(budget.threads, 5);
  EXPECT_EQ(budget.source, BudgetSource::user);
}

TEST(ThreadBudget, OverridesHaveAnOrder) {
  const MachineView view =
      recorded_machine("bare_metal", cpus_from(0, 15), {{"WEIR_THREADS", "7"}});
  EXPECT_EQ(derive_thread_budget({}, view).threads, 7);
  EXPECT_EQ(derive_thread_budget({}, view).source, BudgetSource::environment);
  ThreadBudgetRequest request;
  request.file_limit = RequestedThreads{6, "train.yaml:4:3"};
  EXPECT_EQ(derive_thread_budget(request, view).threads, 6);
  EXPECT_EQ(derive_thread_budget(request, view).source, BudgetSource::user);
  request.explicit_limit = RequestedThreads{5, "--workers"};
  EXPECT_EQ(derive_thread_budget(request, view).threads, 5);
}

TEST(ThreadBudget, IsComputedWhereTheVariableIsEmptyOrAuto) {
  for (const char* text : {"", "auto"}) {
    const ThreadBudget budget = derive_thread_budget(
        {}, recorded_machine("bare_metal", cpus_from(0, 15), {{"WEIR_THREADS", text}}));
    EXPECT_EQ(budget.threads, 16);
    EXPECT_EQ(budget.source, BudgetSource::affinity);
  }
}

TEST(ThreadBudget, RefusesNonsenseInTheVariable) {
  for (const char* text : {"many", "3.5", "4 ", "0x4", "99999999999999999999"}) {
    const ThreadBudget budget = derive_thread_budget(
        {}, recorded_machine("bare_metal", cpus_from(0, 15), {{"WEIR_THREADS", text}}));
    ASSERT_TRUE(budget.refusal) << text;
    EXPECT_EQ(budget.refusal->kind, ErrorKind::usage);
    EXPECT_EQ(budget.refusal->where, "WEIR_THREADS");
    EXPECT_NE(budget.refusal->message.find(text), std::string::npos);
  }
}

TEST(ThreadBudget, RefusesMoreThanTheMachineAllows) {
  const MachineView view = recorded_machine("docker_v2", cpus_from(0, 7));
  const ThreadBudget budget = derive_thread_budget(by_hand(3), view);
  ASSERT_TRUE(budget.refusal);
  EXPECT_EQ(budget.threads, 0);
  EXPECT_EQ(budget.refusal->kind, ErrorKind::usage);
  EXPECT_EQ(budget.refusal->where, "--workers");
  for (const char* part : {"3 threads", "which is 2", "8 CPUs (0-7)", "2.5 CPUs",
                           "/sys/fs/cgroup/cpu.max", "1 to 2", "oversubscribe"}) {
    EXPECT_NE(budget.refusal->message.find(part), std::string::npos) << budget.refusal->message;
  }
  EXPECT_FALSE(derive_thread_budget(by_hand(2), view).refusal);
}

TEST(ThreadBudget, RefusesTheVariableAboveTheMachineToo) {
  const ThreadBudget budget = derive_thread_budget(
      {}, recorded_machine("docker_v2", cpus_from(0, 7), {{"WEIR_THREADS", "4"}}));
  ASSERT_TRUE(budget.refusal);
  EXPECT_EQ(budget.refusal->where, "WEIR_THREADS");
}

TEST(ThreadBudget, IsForcedOnlyAboveTheMachine) {
  const MachineView view = recorded_machine("docker_v2", cpus_from(0, 7));
  EXPECT_EQ(derive_thread_budget(by_hand(12, true), view).threads, 12);
  EXPECT_EQ(derive_thread_budget(by_hand(12, true), view).source, BudgetSource::forced);
  EXPECT_EQ(derive_thread_budget(by_hand(2, true), view).source, BudgetSource::user);
}

TEST(ThreadBudget, RefusesNumbersThatCannotBe) {
  const MachineView view = recorded_machine("bare_metal", cpus_from(0, 15));
  for (const int threads : {0, -1, -2147483647}) {
    for (const bool oversubscribe : {false, true}) {
      const ThreadBudget budget = derive_thread_budget(by_hand(threads, oversubscribe), view);
      ASSERT_TRUE(budget.refusal) << threads;
      EXPECT_EQ(budget.refusal->kind, ErrorKind::usage);
      EXPECT_NE(budget.refusal->message.find("1 to 16"), std::string::npos);
    }
  }
  EXPECT_TRUE(derive_thread_budget(by_hand(2147483647, true), view).refusal);
  EXPECT_TRUE(derive_thread_budget(by_reserve(-1), view).refusal);
}

TEST(ThreadBudget, SaysThatTheCallingThreadIsBoundMoreTightlyThanItsProcess) {
  EXPECT_TRUE(says(derive_thread_budget({}, recorded_machine("bare_metal", {3})),
                   "bound more tightly than its process, which has 16 CPUs"));
  EXPECT_FALSE(says(derive_thread_budget({}, recorded_machine("bare_metal", cpus_from(0, 15))),
                    "bound more tightly"));
}

TEST(ThreadBudget, TakesTheSharedCpusWhereTheMaskCannotBeRead) {
  EXPECT_EQ(derive_thread_budget({}, recorded_machine("docker_v2", {})).mask, cpus_from(0, 7));
  EXPECT_EQ(derive_thread_budget({}, recorded_machine("no_such_machine", {})).threads, 1);
}

TEST(ThreadBudget, OfThisMachineIsWithinItsMask) {
  const ThreadBudget budget = derive_thread_budget();
  EXPECT_EQ(budget.mask, thread_affinity());
  EXPECT_LE(budget.allowed, budget.mask.size());
  EXPECT_GE(budget.allowed, 1);
}

}  // namespace
}  // namespace weir
