#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include <weir/sources.hpp>

#include "tests/pipeline_stress/live_run.hpp"
#include "tests/pipeline_stress/rounds.hpp"
#include "tests/pipeline_stress/watchdog.hpp"

namespace weir::test {
namespace {

constexpr std::int64_t kPackets[] = {0, 1, 3};

StressCase live_case(std::uint64_t seed) {
  StressCase stress = stress_case(seed);
  stress.items = stress.items * 10 + 5;
  stress.jitters = true;
  return stress;
}

TEST(EngineStress, GivesEverythingWhateverChanges) {
  const Watchdog watchdog("a run under changes", std::chrono::seconds(200));
  for (std::uint64_t round = 1; round <= rounds(150, 25); ++round) {
    std::mt19937_64 random(round);
    const int workers = static_cast<int>(1 + random() % 6);
    const std::vector<StressCase> cases = {live_case(round), live_case(round + 100'000)};
    const std::uint64_t memory = 4 * (cases[0].batch_bytes() + cases[1].batch_bytes());
    SCOPED_TRACE("round " + std::to_string(round) + ": " + cases[0].text() + "\n" +
                 cases[1].text());
    const std::unique_ptr<detail::WorkerPool> pool = make_pool(workers, workers, memory);
    {
      std::vector<std::unique_ptr<LiveRun>> runs;
      for (const StressCase& stress : cases)
        runs.push_back(
            std::make_unique<LiveRun>(stress, *pool, kPackets[random() % 3], 1 + random() % 4));
      std::atomic<int> over{0};
      std::vector<std::thread> consumers;
      for (const std::unique_ptr<LiveRun>& run : runs)
        consumers.emplace_back([&over, &run] {
          while (run->consume(100)) {
          }
          ++over;
        });
      Chaos chaos(*pool, round, memory);
      while (over < static_cast<int>(runs.size())) {
        chaos.change();
        chaos.resize(runs[random() % runs.size()]->engine());
        std::this_thread::yield();
      }
      for (std::thread& consumer : consumers) consumer.join();
      for (const std::unique_ptr<LiveRun>& run : runs) ASSERT_EQ(run->judge(), "");
    }
    EXPECT_EQ(pool->ledger().used(), 0U);
    EXPECT_LE(pool->peak_unparked(), workers);
  }
}

TEST(EngineStress, EndsAtEveryMoment) {
  const Watchdog watchdog("an engine that ends", std::chrono::seconds(100));
  for (int workers : {1, 2, 5}) {
    const std::unique_ptr<detail::WorkerPool> pool = make_pool(workers, workers, 100'000);
    for (std::uint64_t round = 0; round < rounds(300, 60); ++round) {
      const StressCase stress = live_case(round);
      SCOPED_TRACE(stress.text());
      LiveRun run(stress, *pool, kPackets[round % 3], 3);
      (void)run.consume(round % 40);
    }
    EXPECT_EQ(pool->ledger().used(), 0U);
  }
}

TEST(EngineStress, ClosesBesideAConsumer) {
  const Watchdog watchdog("closing beside a consumer", std::chrono::seconds(100));
  for (int workers : {1, 3}) {
    const std::unique_ptr<detail::WorkerPool> pool = make_pool(workers, workers, 100'000);
    for (std::uint64_t round = 0; round < rounds(300, 60); ++round) {
      StressCase stress = live_case(round);
      stress.epochs = 1'000'000;  // It ends by being closed.
      if (stress.reference().empty()) continue;
      LiveRun run(stress, *pool, kPackets[round % 3], 3);
      std::thread consumer([&run] {
        while (run.consume(1000)) {
        }
      });
      for (std::uint64_t i = 0; i < (round * 37) % 40; ++i) std::this_thread::yield();
      std::thread other([&run] { run.close(); });
      run.close();
      other.join();
      consumer.join();
    }
    EXPECT_EQ(pool->ledger().used(), 0U);
  }
}

TEST(EngineStress, ClosingWaitsForWhatIsUnderWay) {
  const Watchdog watchdog("closing beside a function");
  const std::unique_ptr<detail::WorkerPool> pool = make_pool(2, 2, ~std::uint64_t{0});
  std::atomic<int> inside{0};
  std::atomic<bool> release{false};
  const Stream<std::int64_t> stream = range(100).map("slow", [&](std::int64_t value) {
    ++inside;
    while (!release) std::this_thread::yield();
    --inside;
    return value;
  });
  detail::Engine::Settings settings;
  settings.name = "slow";
  settings.consumer = [] { return ConsumerSnapshot{}; };
  detail::Engine engine(detail::make_stage_plan(stream.step(), 0, detail::Fusion::off, false),
                        *pool, std::move(settings));
  while (inside == 0) std::this_thread::yield();
  std::atomic<bool> closed{false};
  std::thread releases([&] {
    // A close that waits is waiting long before this has run out; one that does not has returned.
    for (int i = 0; i < 2000 && !closed; ++i) std::this_thread::yield();
    release = true;
  });
  engine.close();
  closed = true;
  EXPECT_EQ(inside, 0);
  releases.join();
}

/// All workers are inside at once: each was woken by one that was awake.
TEST(EngineStress, WakesAllWorkers) {
  const Watchdog watchdog("waking all workers");
  constexpr int kAll = 4;
  const std::unique_ptr<detail::WorkerPool> pool = make_pool(kAll, kAll, ~std::uint64_t{0});
  std::atomic<int> inside{0};
  std::atomic<bool> all{false};
  const Stream<std::int64_t> stream = range(100).map("together", [&](std::int64_t value) {
    if (++inside == kAll) all = true;
    while (!all) std::this_thread::yield();
    return value;
  });
  // Asleep before there is anything to do.
  while (pool->sleeping() < kAll) std::this_thread::yield();
  detail::Engine::Settings settings;
  settings.name = "together";
  settings.consumer = [] { return ConsumerSnapshot{}; };
  settings.allotted.resize(1);
  settings.allotted[0].packet_items = 1;
  settings.allotted[0].depth_items = 8;
  settings.allotted[0].target = kAll;
  const detail::Engine engine(detail::make_stage_plan(stream.step(), 0, detail::Fusion::off, false),
                              *pool, std::move(settings));
  while (!all) std::this_thread::yield();
}

TEST(EngineStress, LoadersComeAndGo) {
  const Watchdog watchdog("loaders that come and go", std::chrono::seconds(100));
  for (int workers : {1, 4}) {
    const std::unique_ptr<detail::WorkerPool> pool = make_pool(workers, 1, 50'000);
    std::atomic<int> over{0};
    std::vector<std::thread> users;
    for (std::uint64_t user = 0; user < 2; ++user)
      users.emplace_back([&pool, &over, user] {
        for (std::uint64_t round = 0; round < rounds(200, 40); ++round) {
          const StressCase stress = live_case(round * 2 + user);
          LiveRun run(stress, *pool, kPackets[round % 3], 2);
          if (round % 3 == 0) {
            (void)run.consume(round % 50);
          } else {
            while (run.consume(100)) {
            }
            EXPECT_EQ(run.judge(), "");
          }
        }
        ++over;
      });
    Chaos chaos(*pool, 7, 50'000);
    while (over < 2) {
      chaos.change();
      std::this_thread::yield();
    }
    for (std::thread& user : users) user.join();
    EXPECT_EQ(pool->ledger().used(), 0U);
  }
}

/// Queues of one item and packets of one: every hand-over is a chance to lose a wake-up, and a lost
/// one leaves nobody who would wake the sleeper later.
TEST(EngineStress, LosesNoWakeUp) {
  for (int workers : {1, 2, 3, 4, 8}) {
    for (int active = 1; active <= workers; active += active < 3 ? 1 : 3) {
      const std::unique_ptr<detail::WorkerPool> pool =
          make_pool(workers, active, ~std::uint64_t{0});
      const Watchdog watchdog("a hunt for lost wake-ups");
      for (std::uint64_t round = 0; round < rounds(12, 2); ++round) {
        StressCase stress;
        stress.seed = round;
        stress.items = 400;
        for (std::uint64_t i = 0; i < 1 + round % 4; ++i)
          stress.links.push_back(
              {i % 2 == 0 ? StressLink::Kind::map : StressLink::Kind::serial_map, 0});
        if (round % 2 == 0) stress.rows = 3;
        LiveRun run(stress, *pool, 1, 1);
        while (run.consume(100)) {
        }
        ASSERT_EQ(run.judge(), "");
      }
    }
  }
}

/// Parking must not take a wake-up with it: one round of work at a time, A changed in between.
TEST(EngineStress, LosesNoWakeUpWhenActiveChanges) {
  const std::unique_ptr<detail::WorkerPool> pool = make_pool(4, 4, ~std::uint64_t{0});
  for (std::uint64_t round = 0; round < rounds(20, 4); ++round) {
    const Watchdog watchdog("a hunt for wake-ups lost in parking");
    StressCase stress;
    stress.seed = round;
    stress.items = 500;
    stress.links = {{StressLink::Kind::map, 0}, {StressLink::Kind::map, 0}};
    LiveRun run(stress, *pool, 1, 1);
    std::mt19937_64 random(round);
    bool more = true;
    while (more) {
      Allocation allocation = pool->allocation();
      allocation.active = static_cast<int>(1 + random() % 4);
      ASSERT_TRUE(pool->apply(allocation));
      more = run.consume(random() % 4);
    }
    ASSERT_EQ(run.judge(), "");
  }
}

}  // namespace
}  // namespace weir::test
