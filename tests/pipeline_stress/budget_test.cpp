#include <gtest/gtest.h>

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <weir/sources.hpp>

#include "pipeline/engine.hpp"
#include "tests/pipeline_stress/live_run.hpp"
#include "tests/pipeline_stress/rounds.hpp"
#include "tests/pipeline_stress/watchdog.hpp"

namespace weir::test {
namespace {

constexpr int kWorkers = 5;
constexpr std::size_t kStages = 6;  ///< of both loaders together

/// Counts who is inside a user function, which is a part of the time that a packet is running: so
/// it never shows more than the pool has, and each excess of the pool shows sooner or later.
///
/// What is allowed is the larger of the old and the new allocation until the pool has come down to
/// the new one; from there on no packet may start above it.
struct Witness {
  std::array<std::atomic<int>, kStages> inside{};
  std::array<std::atomic<int>, kStages> allowed{};
  std::atomic<int> all_inside{0};
  std::atomic<int> all_allowed{kWorkers};
  std::atomic<int> above_cap{0};
  std::atomic<int> above_active{0};
  std::atomic<int> most_inside{0};
  std::atomic<std::uint64_t> visits{0};
  std::array<std::atomic<std::uint64_t>, kWorkers> visits_of{};

  void visit(std::size_t stage, int worker) {
    if (++inside[stage] > allowed[stage]) ++above_cap;
    const int all = ++all_inside;
    if (all > all_allowed) ++above_active;
    int most = most_inside;
    while (all > most && !most_inside.compare_exchange_weak(most, all)) {
    }
    ++visits_of[static_cast<std::size_t>(worker)];
    ++visits;
    // Long enough that others are inside at the same time, whatever the number of CPUs.
    std::this_thread::sleep_for(std::chrono::microseconds(30));
    --all_inside;
    --inside[stage];
  }
};

/// Three stages that visit the witness, and a consumer that never stops.
class WitnessedLoader {
 public:
  WitnessedLoader(detail::WorkerPool& pool, Witness& witness, std::size_t first_stage) {
    const auto visit = [&witness](std::size_t stage) {
      return [&witness, stage](std::int64_t value, Context& context) {
        witness.visit(stage, context.worker());
        return value;
      };
    };
    const Stream<std::int64_t> stream = range(1'000'000'000)
                                            .map("a", visit(first_stage))
                                            .map("b", visit(first_stage + 1))
                                            .map("c", visit(first_stage + 2));
    const detail::StagePlan plan =
        detail::make_stage_plan(stream.step(), 0, detail::Fusion::off, false);
    detail::Engine::Settings settings;
    settings.name = "witnessed";
    settings.consumer = [] { return ConsumerSnapshot{}; };
    settings.allotted.resize(plan.stages.size());
    for (StageAllocation& stage : settings.allotted) stage.packet_items = 1;
    engine_ = std::make_unique<detail::Engine>(plan, pool, std::move(settings));
    consumer_ = std::thread([this] {
      while (engine_->take() != nullptr) engine_->give_back();
    });
  }
  ~WitnessedLoader() {
    engine_->close();
    consumer_.join();
  }

 private:
  std::unique_ptr<detail::Engine> engine_;
  std::thread consumer_;
};

std::set<int> tasks_of_process() {
  std::set<int> tasks;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task"))
    tasks.insert(std::stoi(entry.path().filename().string()));
  return tasks;
}

char state_of(int task) {
  std::ifstream file("/proc/self/task/" + std::to_string(task) + "/stat");
  std::string text;
  std::getline(file, text);
  const std::size_t name_end = text.rfind(')');
  return name_end == std::string::npos || name_end + 2 >= text.size() ? '?' : text[name_end + 2];
}

/// Context switches of a task so far, or -1.
std::int64_t switches_of(int task) {
  std::ifstream file("/proc/self/task/" + std::to_string(task) + "/status");
  std::int64_t sum = -1;
  for (std::string line; std::getline(file, line);)
    if (line.find("ctxt_switches:") != std::string::npos)
      sum = std::max<std::int64_t>(sum, 0) + std::stoll(line.substr(line.find(':') + 1));
  return sum;
}

/// A pool, and the tasks that it started.
struct WatchedPool {
  std::set<int> tasks_before = tasks_of_process();
  std::unique_ptr<detail::WorkerPool> pool = make_pool(kWorkers, kWorkers, ~std::uint64_t{0});
  std::set<int> workers;

  WatchedPool() {
    for (const int task : tasks_of_process())
      if (tasks_before.count(task) == 0) workers.insert(task);
  }
};

/// Looks at the tasks of the process once a millisecond, as the kernel shows them.
class TaskSampler {
 public:
  explicit TaskSampler(std::set<int> workers) : workers_(std::move(workers)) {
    const std::set<int> others = tasks_of_process();
    thread_ = std::thread([this, others] { sample(others); });
  }
  ~TaskSampler() {
    stop_ = true;
    thread_.join();
  }
  [[nodiscard]] int most_running() const { return most_running_; }
  [[nodiscard]] int strangers() const { return strangers_; }
  [[nodiscard]] int samples() const { return samples_; }

 private:
  void sample(std::set<int> known) {
    known.insert(static_cast<int>(::syscall(SYS_gettid)));
    while (!stop_) {
      int running = 0;
      for (const int task : workers_) running += state_of(task) == 'R' ? 1 : 0;
      if (running > most_running_) most_running_ = running;
      for (const int task : tasks_of_process()) strangers_ += known.count(task) == 0 ? 1 : 0;
      ++samples_;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  const std::set<int> workers_;
  std::atomic<bool> stop_{false};
  std::atomic<int> most_running_{0};
  std::atomic<int> strangers_{0};
  std::atomic<int> samples_{0};
  std::thread thread_;
};

/// The most workers that stage `i` may have, the share of its group included.
int allowed_in(const Allocation& allocation, std::size_t i) {
  return most_running(allocation, static_cast<int>(i));
}

bool within(const detail::WorkerPool& pool, const Allocation& allocation) {
  if (pool.unparked() > allocation.active) return false;
  const Snapshot snapshot = pool.snapshot();
  for (std::size_t i = 0; i < kStages; ++i)
    if (snapshot.stages[i].running > allowed_in(allocation, i)) return false;
  return true;
}

TEST(Budget, HoldsThroughAThousandAllocations) {
  const Watchdog watchdog("the budget", std::chrono::seconds(250));
  Witness witness;
  for (std::atomic<int>& allowed : witness.allowed) allowed = kWorkers;
  const WatchedPool watched;
  detail::WorkerPool& pool = *watched.pool;
  ASSERT_EQ(watched.workers.size(), static_cast<std::size_t>(kWorkers));
  {
    const WitnessedLoader training(pool, witness, 0);
    const WitnessedLoader validation(pool, witness, 3);
    const TaskSampler sampler(watched.workers);
    std::mt19937_64 random(11);
    for (std::uint64_t move = 0; move < rounds(1000, 150); ++move) {
      Allocation next = random_allocation(random, pool.allocation(), kWorkers);
      for (std::size_t i = 0; i < kStages; ++i)
        witness.allowed[i] = std::max<int>(witness.allowed[i], allowed_in(next, i));
      witness.all_allowed = std::max<int>(witness.all_allowed, next.active);
      ASSERT_TRUE(pool.apply(next));
      next = pool.allocation();
      while (!within(pool, next)) std::this_thread::yield();
      for (std::size_t i = 0; i < kStages; ++i) witness.allowed[i] = allowed_in(next, i);
      witness.all_allowed = next.active;
      // From here on the same A workers have all the work.
      std::array<std::uint64_t, kWorkers> before{};
      for (std::size_t w = 0; w < kWorkers; ++w) before[w] = witness.visits_of[w];
      for (const std::uint64_t until = witness.visits + 20; witness.visits < until;)
        std::this_thread::yield();
      int visitors = 0;
      for (std::size_t w = 0; w < kWorkers; ++w)
        visitors += witness.visits_of[w] != before[w] ? 1 : 0;
      ASSERT_LE(visitors, next.active);
    }
    EXPECT_GT(sampler.samples(), 100);
    EXPECT_LE(sampler.most_running(), kWorkers);
    EXPECT_EQ(sampler.strangers(), 0) << "something else started a thread";
  }
  EXPECT_EQ(witness.above_cap, 0);
  EXPECT_EQ(witness.above_active, 0);
  EXPECT_GT(witness.most_inside, 1) << "nothing was tested";
  EXPECT_LE(pool.peak_unparked(), kWorkers);
}

/// A budget that shrinks while running binds whatever was and is asked for, and what was asked for
/// comes back with it.
TEST(Budget, FollowsWhatTheProcessMayUse) {
  const Watchdog watchdog("a budget that changes", std::chrono::seconds(100));
  Witness witness;
  for (std::atomic<int>& allowed : witness.allowed) allowed = kWorkers;
  const WatchedPool watched;
  detail::WorkerPool& pool = *watched.pool;
  const WitnessedLoader training(pool, witness, 0);
  const WitnessedLoader validation(pool, witness, 3);
  Allocation all = pool.allocation();
  all.active = kWorkers;
  ASSERT_TRUE(pool.apply(all));
  std::mt19937_64 random(5);
  for (std::uint64_t round = 0; round < rounds(200, 40); ++round) {
    const int budget = 1 + static_cast<int>(random() % kWorkers);
    witness.all_allowed = kWorkers;
    pool.set_budget(budget);
    EXPECT_EQ(pool.snapshot().budget, budget);
    EXPECT_EQ(pool.allocation().active, budget) << "all were asked for";
    ASSERT_TRUE(pool.apply(all)) << "asking again changes nothing";
    EXPECT_EQ(pool.allocation().active, budget);
    while (pool.unparked() != budget) std::this_thread::yield();
    while (!within(pool, pool.allocation())) std::this_thread::yield();
    witness.all_allowed = budget;
    for (const std::uint64_t until = witness.visits + 50; witness.visits < until;)
      std::this_thread::yield();
  }
  EXPECT_EQ(witness.above_active, 0);
  pool.set_budget(0);
  EXPECT_EQ(pool.snapshot().budget, 1);
  pool.set_budget(1000);
  EXPECT_EQ(pool.snapshot().budget, kWorkers);
}

/// The workers that stay are the first ones, which have the best places.
TEST(Budget, KeepsTheFirstWorkers) {
  const Watchdog watchdog("the first workers");
  Witness witness;
  for (std::atomic<int>& allowed : witness.allowed) allowed = kWorkers;
  const WatchedPool watched;
  detail::WorkerPool& pool = *watched.pool;
  const WitnessedLoader training(pool, witness, 0);
  const WitnessedLoader validation(pool, witness, 3);
  for (const int active : {kWorkers, 2, 4, 1, 3}) {
    Allocation allocation = pool.allocation();
    allocation.active = active;
    ASSERT_TRUE(pool.apply(allocation));
    while (pool.unparked() != active || !within(pool, allocation)) std::this_thread::yield();
    std::array<std::uint64_t, kWorkers> before{};
    for (std::size_t w = 0; w < kWorkers; ++w) before[w] = witness.visits_of[w];
    for (const std::uint64_t until = witness.visits + 100; witness.visits < until;)
      std::this_thread::yield();
    for (std::size_t w = static_cast<std::size_t>(active); w < kWorkers; ++w)
      EXPECT_EQ(witness.visits_of[w], before[w]) << "worker " << w << " of " << active;
  }
}

/// Workers of one group may be in different stages; their sum is what the group allows.
TEST(Budget, HoldsTheSharesOfGroups) {
  const Watchdog watchdog("groups");
  Witness witness;
  for (std::atomic<int>& allowed : witness.allowed) allowed = kWorkers;
  const WatchedPool watched;
  const WitnessedLoader training(*watched.pool, witness, 0);
  const WitnessedLoader validation(*watched.pool, witness, 3);
  Allocation allocation = watched.pool->allocation();
  allocation.strict = true;
  for (int most = 1; most <= 3; ++most) {
    allocation.groups = {most};
    for (StageAllocation& stage : allocation.stages) {
      stage.group = 0;
      stage.cap = kWorkers;
    }
    witness.all_allowed = kWorkers;
    ASSERT_TRUE(watched.pool->apply(allocation));
    const auto running = [&watched] {
      int sum = 0;
      for (const StageSnapshot& stage : watched.pool->snapshot().stages) sum += stage.running;
      return sum;
    };
    while (running() > most) std::this_thread::yield();
    witness.all_allowed = most;
    for (const std::uint64_t until = witness.visits + 500; witness.visits < until;)
      std::this_thread::yield();
  }
  EXPECT_EQ(witness.above_active, 0);
}

/// Functions that take no time, so that workers choose as often as they can, all at once, and see
/// one another's packets come and go: choosing alone does not keep a group's share.
TEST(Budget, GroupsHoldInARace) {
  const Watchdog watchdog("groups in a race");
  const std::unique_ptr<detail::WorkerPool> pool = make_pool(8, 8, ~std::uint64_t{0});
  std::atomic<int> inside{0};
  std::atomic<int> most{0};
  std::atomic<std::uint64_t> visits{0};
  const auto visit = [&](std::int64_t value) {
    const int now = ++inside;
    if (now > most) most = now;
    std::this_thread::yield();  // Whoever waits for a CPU goes on from where it was.
    ++visits;
    --inside;
    return value;
  };
  const Stream<std::int64_t> stream =
      range(1'000'000'000).map("a", visit).map("b", visit).map("c", visit).map("d", visit);
  const detail::StagePlan plan =
      detail::make_stage_plan(stream.step(), 0, detail::Fusion::off, false);
  detail::Engine::Settings settings;
  settings.name = "groups";
  settings.consumer = [] { return ConsumerSnapshot{}; };
  settings.allotted.resize(plan.stages.size());
  for (StageAllocation& stage : settings.allotted) stage.packet_items = 1;
  detail::Engine engine(plan, *pool, std::move(settings));
  Allocation allocation = pool->allocation();
  allocation.strict = true;
  allocation.groups = {2};
  for (StageAllocation& stage : allocation.stages) stage.group = 0;
  ASSERT_TRUE(pool->apply(allocation));
  std::thread consumer([&engine] {
    while (engine.take() != nullptr) engine.give_back();
  });
  while (pool->snapshot().stages.front().items_in == 0) std::this_thread::yield();
  for (bool within = false; !within;) {
    int running = 0;
    for (const StageSnapshot& stage : pool->snapshot().stages) running += stage.running;
    within = running <= 2;
  }
  most = 0;
  for (const std::uint64_t until = visits + rounds(40'000, 4'000); visits < until;)
    std::this_thread::yield();
  EXPECT_LE(most, 2);
  engine.close();
  consumer.join();
}

/// No work wakes a parked worker: while others have all the work, the kernel gives it no CPU.
TEST(Budget, ParkedWorkersSleepThrough) {
  const Watchdog watchdog("parked workers");
  Witness witness;
  for (std::atomic<int>& allowed : witness.allowed) allowed = kWorkers;
  const WatchedPool watched;
  const WitnessedLoader training(*watched.pool, witness, 0);
  const WitnessedLoader validation(*watched.pool, witness, 3);
  Allocation allocation = watched.pool->allocation();
  allocation.active = 2;
  ASSERT_TRUE(watched.pool->apply(allocation));
  for (bool slept = false; !slept;) {
    std::vector<std::int64_t> before;
    for (const int task : watched.workers) before.push_back(switches_of(task));
    for (const std::uint64_t until = witness.visits + 300; witness.visits < until;)
      std::this_thread::yield();
    std::size_t i = 0;
    int moved = 0;
    for (const int task : watched.workers) moved += switches_of(task) != before[i++] ? 1 : 0;
    // One that is on its way to where it parks may move in the first windows.
    slept = moved <= 2;
  }
}

}  // namespace
}  // namespace weir::test
