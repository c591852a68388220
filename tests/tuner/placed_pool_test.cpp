// Workers in their places, while what the process may use changes under them.
#include "tuner/placed_pool.hpp"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <weir/loader.hpp>
#include <weir/sources.hpp>

#include "tests/machine/recorded_machine.hpp"

namespace weir::detail {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using weir::testing::recorded_machine;
using weir::testing::ScratchMachine;
namespace fs = std::filesystem;

/// A process of this machine's CPUs in a control group whose quota the test rewrites.
class QuotaMachine {
 public:
  QuotaMachine() {
    machine_.write("/proc/self/cgroup", "0::/\n");
    machine_.write("/proc/self/mountinfo", "30 23 0:26 / /cg rw - cgroup2 cgroup2 rw\n");
    set_quota("max 100000\n");
  }
  void set_quota(const std::string& text) const { machine_.write("/cg/cpu.max", text); }
  [[nodiscard]] MachineView view() const {
    MachineView view = recorded_machine("", mask);
    view.root = machine_.root();
    view.affinity = [this] { return mask; };
    return view;
  }
  [[nodiscard]] std::unique_ptr<PlacedPool> pool(const ThreadBudgetRequest& request = {},
                                                 PlacementMode mode = PlacementMode::core) const {
    PlacedPool::Settings settings;
    settings.request = request;
    settings.machine = view();
    settings.budget = derive_thread_budget(request, settings.machine);
    settings.pool.first.active = settings.budget.threads;
    settings.mode = mode;
    settings.watch = false;
    return std::make_unique<PlacedPool>(std::move(settings));
  }

  CpuSet mask = thread_affinity();

 private:
  ScratchMachine machine_;
};

std::vector<std::string> news(const PlacedPool& pool, std::size_t& seen) {
  return pool.remarks_since(seen);
}

class PlacedPoolTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (machine_.mask.size() < 2) GTEST_SKIP() << "needs two CPUs";
  }
  QuotaMachine machine_;
  std::size_t seen_ = 0;
};

TEST_F(PlacedPoolTest, FollowsTheQuotaDownAndUp) {
  const int all = machine_.mask.size();
  const std::unique_ptr<PlacedPool> pool = machine_.pool();
  (void)pool->look();
  EXPECT_THAT(news(*pool, seen_), SizeIs(0)) << "nothing has changed";
  machine_.set_quota("150000 100000\n");
  (void)pool->look();
  EXPECT_EQ(pool->budget(), 1);
  EXPECT_EQ(pool->workers().snapshot().budget, 1);
  EXPECT_EQ(pool->workers().snapshot().active, 1);
  const std::vector<std::string> said = news(*pool, seen_);
  ASSERT_THAT(said, SizeIs(1));
  EXPECT_THAT(said[0], HasSubstr("1 of " + std::to_string(all) + " workers"));
  EXPECT_THAT(said[0], HasSubstr("/cg/cpu.max"));
  (void)pool->look();
  EXPECT_THAT(news(*pool, seen_), SizeIs(0)) << "said once";
  machine_.set_quota("max 100000\n");
  (void)pool->look();
  EXPECT_EQ(pool->workers().snapshot().budget, all);
  EXPECT_EQ(pool->workers().snapshot().active, all) << "what was asked for comes back";
  machine_.set_quota("nonsense\n");
  (void)pool->look();
  EXPECT_EQ(pool->budget(), all) << "a file that makes no sense is no quota";
}

TEST_F(PlacedPoolTest, NeverGrowsAboveTheWorkersMadeAtTheStart) {
  machine_.set_quota("100000 100000\n");
  const std::unique_ptr<PlacedPool> pool = machine_.pool();
  machine_.set_quota("max 100000\n");
  (void)pool->look();
  EXPECT_EQ(pool->budget(), 1);
  EXPECT_EQ(pool->workers().workers(), 1);
}

TEST_F(PlacedPoolTest, HoldsWhatWasAskedForToWhatThereIs) {
  ThreadBudgetRequest request;
  request.explicit_limit = RequestedThreads{2, "workers"};
  const std::unique_ptr<PlacedPool> pool = machine_.pool(request);
  machine_.set_quota("100000 100000\n");
  (void)pool->look();
  EXPECT_EQ(pool->budget(), 1) << "not refused any more, but held";
  machine_.set_quota("max 100000\n");
  (void)pool->look();
  EXPECT_EQ(pool->budget(), 2);
}

TEST_F(PlacedPoolTest, PlacesAnewWithinANarrowedMask) {
  const std::unique_ptr<PlacedPool> pool = machine_.pool();
  const CpuSet all = machine_.mask;
  machine_.mask = CpuSet{all.cpus().back()};
  (void)pool->look();
  EXPECT_EQ(pool->budget(), 1);
  EXPECT_THAT(pool->standing().cpus, Each(machine_.mask.to_string()));
  machine_.mask = all;
  (void)pool->look();
  std::vector<std::string> places = pool->standing().cpus;
  std::sort(places.begin(), places.end());
  EXPECT_EQ(std::unique(places.begin(), places.end()), places.end()) << "one CPU each again";
}

std::vector<int> tasks_named(const std::string& prefix) {
  std::vector<int> tasks;
  for (const auto& entry : fs::directory_iterator("/proc/self/task")) {
    std::string name;
    std::getline(std::ifstream(entry.path() / "comm"), name);
    if (name.starts_with(prefix)) tasks.push_back(std::stoi(entry.path().filename().string()));
  }
  return tasks;
}

void set_affinity_of_all_tasks(const CpuSet& cpus) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  for (const int cpu : cpus.cpus()) CPU_SET(static_cast<std::size_t>(cpu), &mask);
  for (const int task : tasks_named("")) (void)sched_setaffinity(task, sizeof mask, &mask);
}

Loader<Batch<std::int64_t>> start_numbers(std::optional<PlacementMode> pin) {
  Options options;
  options.seed = 11;
  options.digest = true;
  options.pin = pin;
  return range(1000)
      .shuffle()
      .map("work",
           [](std::int64_t value) {
             std::this_thread::sleep_for(std::chrono::microseconds(100));
             return value * 3;
           })
      .batch(10)
      .start(options);
}

/// What `taskset -ap` or an orchestrator does to a process that runs.
TEST(LiveMask, NarrowedAndWidenedWhileRunningLosesAndRepeatsNothing) {
  const CpuSet all = thread_affinity();
  if (all.size() < 2) GTEST_SKIP() << "needs two CPUs";
  const CpuSet one{all.cpus().front()};
  std::uint64_t batches = 0;
  std::string digest;
  std::vector<std::string> remarks;
  {
    Loader<Batch<std::int64_t>> loader = start_numbers(PlacementMode::core);
    ASSERT_EQ(loader.telemetry().budget, all.size());
    const auto consume = [&] {
      while (!loader.next()) {
      }
      ++batches;
    };
    const auto consume_until_budget_is = [&](int budget) {
      const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
      while (loader.telemetry().budget != budget) {
        consume();
        ASSERT_LT(std::chrono::steady_clock::now(), deadline) << "nobody noticed";
      }
    };
    for (int i = 0; i < 50; ++i) consume();
    set_affinity_of_all_tasks(one);
    consume_until_budget_is(1);
    while (loader.telemetry().unparked > 1) consume();
    EXPECT_EQ(loader.telemetry().active, 1);
    for (const int task : tasks_named("weir-worker")) EXPECT_EQ(affinity_of_thread(task), one);
    set_affinity_of_all_tasks(all);
    consume_until_budget_is(all.size());
    while (loader.telemetry().unparked < all.size()) consume();
    // Each worker takes a place of its own again, by the kernel's word.
    for (bool placed = false; !placed;) {
      consume();
      const std::vector<int> tasks = tasks_named("weir-worker");
      placed = std::all_of(tasks.begin(), tasks.end(),
                           [](int task) { return affinity_of_thread(task).size() == 1; });
    }
    EXPECT_EQ(thread_affinity(), all) << "the consumer is left alone";
    loader.close();
    digest = loader.summary().digest;
    remarks = loader.remarks();
  }
  EXPECT_THAT(remarks, ::testing::Contains(HasSubstr("1 of ")));
  Loader<Batch<std::int64_t>> undisturbed = start_numbers(PlacementMode::none);
  for (std::uint64_t i = 0; i < batches; ++i)
    while (!undisturbed.next()) {
    }
  undisturbed.close();
  EXPECT_EQ(undisturbed.summary().digest, digest);
}

}  // namespace
}  // namespace weir::detail
