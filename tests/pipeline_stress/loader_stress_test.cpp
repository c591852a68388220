#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <weir/error.hpp>
#include <weir/loader.hpp>
#include <weir/sources.hpp>

#include "tests/pipeline_stress/live_run.hpp"
#include "tests/pipeline_stress/rounds.hpp"
#include "tests/pipeline_stress/watchdog.hpp"

namespace weir::test {
namespace {

Options options_for(int workers, std::uint64_t seed) {
  Options options;
  options.workers = workers;
  options.oversubscribe = true;
  options.seed = seed;
  options.memory_bytes = 1 << 20;
  return options;
}

/// Items 0 .. count-1 through two maps into batches; `bad` throws.
Stream<Batch<std::int64_t>> chain(std::int64_t count, std::int64_t bad = -1) {
  return range(count)
      .map("first", [](std::int64_t value) { return value + 1; })
      .map("second",
           [bad](std::int64_t value) {
             if (value % 64 == 0) std::this_thread::yield();
             if (value == bad) throw std::runtime_error("by design");
             return value;
           })
      .batch(7);
}

/// Turns every knob that another thread may turn.
void turn_knobs(detail::LoaderBase& loader, std::mt19937_64& random, int workers) {
  switch (random() % 5) {
    case 0:
      try {
        loader.set_allocation(random_allocation(random, loader.allocation(), workers));
      } catch (const Error&) {
        // Another loader came or went in between; the caller would look again.
      }
      break;
    case 1:
      loader.resize_queue("second", static_cast<std::int64_t>(1 + random() % 20));
      break;
    case 2:
      (void)loader.telemetry();
      break;
    case 3:
      (void)loader.summary();
      break;
    default:
      (void)loader.remarks();
      break;
  }
}

TEST(LoaderStress, EveryKnobWhileEpochsRun) {
  const Watchdog watchdog("a loader whose knobs are turned", std::chrono::seconds(120));
  for (std::uint64_t round = 0; round < rounds(40, 8); ++round) {
    Options options = options_for(4, round);
    options.fuse = round % 2 == 0 ? Fuse::off : Fuse::all;
    if (options.fuse == Fuse::all) options.fuse = Fuse::automatic;
    Loader<Batch<std::int64_t>> loader = chain(500).start(options);
    std::atomic<bool> over{false};
    std::thread other([&loader, &over, round] {
      std::mt19937_64 random(round);
      while (!over) turn_knobs(loader, random, 4);
    });
    for (std::uint32_t epoch = 0; epoch < 3; ++epoch) {
      std::int64_t next = 1;
      for (const Batch<std::int64_t>& batch : loader.epoch(epoch))
        for (const std::int64_t value : batch.items()) ASSERT_EQ(value, next++);
      EXPECT_EQ(next, 501);
    }
    over = true;
    other.join();
  }
}

TEST(LoaderStress, ClosesBesideTheConsumer) {
  const Watchdog watchdog("closing beside next()", std::chrono::seconds(120));
  for (std::uint64_t round = 0; round < rounds(150, 30); ++round) {
    Loader<Batch<std::int64_t>> loader = chain(1'000'000'000).start(options_for(3, round));
    std::atomic<bool> begun{false};
    std::thread consumer([&loader, &begun] {
      std::int64_t next = 1;
      begun = true;
      while (std::optional<Batch<std::int64_t>> batch = loader.next())
        for (const std::int64_t value : batch->items()) ASSERT_EQ(value, next++);
      EXPECT_FALSE(loader.next().has_value());
    });
    while (!begun) std::this_thread::yield();
    for (std::uint64_t i = 0; i < (round * 31) % 20; ++i) std::this_thread::yield();
    std::thread also([&loader] { loader.close(); });
    loader.close();
    also.join();
    consumer.join();
    EXPECT_FALSE(loader.next().has_value());
  }
}

TEST(LoaderStress, ExceptionsReachTheConsumerAndEndCleanly) {
  const Watchdog watchdog("an exception", std::chrono::seconds(120));
  for (std::uint64_t round = 0; round < rounds(200, 40); ++round) {
    const std::int64_t bad = static_cast<std::int64_t>(1 + (round * 53) % 400);
    Loader<Batch<std::int64_t>> loader = chain(1'000, bad).start(options_for(4, round));
    std::int64_t next = 1;
    try {
      while (std::optional<Batch<std::int64_t>> batch = loader.next())
        for (const std::int64_t value : batch->items()) ASSERT_EQ(value, next++);
      ADD_FAILURE() << "the exception of sample " << bad - 1 << " was lost";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("by design"), std::string::npos);
      // In index order: all whole batches in front of it, and nothing behind.
      EXPECT_EQ(next, (bad - 1) / 7 * 7 + 1);
    }
    if (round % 2 == 0) loader.close();
  }
}

TEST(LoaderStress, EpochsAreJumpedTo) {
  const Watchdog watchdog("epoch jumps", std::chrono::seconds(120));
  for (std::uint64_t round = 0; round < rounds(30, 6); ++round) {
    Loader<Batch<std::int64_t>> loader = chain(200).start(options_for(3, round));
    std::mt19937_64 random(round);
    for (int jump = 0; jump < 15; ++jump) {
      const auto epoch = static_cast<std::uint32_t>(random() % 20);
      std::uint64_t most = random() % 40;
      for (const Batch<std::int64_t>& batch : loader.epoch(epoch)) {
        ASSERT_EQ(batch.epoch(), epoch);
        if (most-- == 0) break;
      }
    }
  }
}

TEST(LoaderStress, EveryKnobWhileEpochsAreJumpedTo) {
  const Watchdog watchdog("epoch jumps beside knobs", std::chrono::seconds(120));
  for (std::uint64_t round = 0; round < rounds(30, 6); ++round) {
    Loader<Batch<std::int64_t>> loader = chain(200).start(options_for(3, round));
    std::mt19937_64 random(round);
    std::atomic<bool> over{false};
    std::thread other([&loader, &over, round] {
      std::mt19937_64 own(round);
      while (!over) turn_knobs(loader, own, 3);
    });
    for (int jump = 0; jump < 15; ++jump) {
      const auto epoch = static_cast<std::uint32_t>(random() % 20);
      std::uint64_t most = random() % 40;
      for (const Batch<std::int64_t>& batch : loader.epoch(epoch)) {
        ASSERT_EQ(batch.epoch(), epoch);
        if (most-- == 0) break;
      }
    }
    over = true;
    other.join();
  }
}

TEST(LoaderStress, TwoLoadersComeAndGo) {
  const Watchdog watchdog("two loaders", std::chrono::seconds(120));
  std::vector<std::thread> users;
  for (std::uint64_t user = 0; user < 2; ++user)
    users.emplace_back([user] {
      for (std::uint64_t round = 0; round < rounds(60, 12); ++round) {
        Options options = options_for(3, round);
        options.name = user == 0 ? "training" : "validation";
        options.epochs = 1;
        Loader<Batch<std::int64_t>> loader = chain(400).start(options);
        std::int64_t next = 1;
        std::uint64_t most = round % 3 == 0 ? round : ~std::uint64_t{0};
        std::mt19937_64 random(round + user);
        while (most-- > 0) {
          const std::optional<Batch<std::int64_t>> batch = loader.next();
          if (!batch) break;
          for (const std::int64_t value : batch->items()) ASSERT_EQ(value, next++);
          if (random() % 16 == 0) turn_knobs(loader, random, 3);
        }
      }
    });
  for (std::thread& user : users) user.join();
}

TEST(LoaderStress, TunedWhileItRuns) {
  const Watchdog watchdog("a tuned loader", std::chrono::seconds(120));
  for (std::uint64_t round = 0; round < rounds(6, 3); ++round) {
    Options options = options_for(4, round);
    options.autotune = true;
    options.strict = round % 2 == 1;
    options.epochs = 1;
    Loader<Batch<std::int64_t>> loader =
        range(4000)
            .map("waits",
                 [](std::int64_t value) {
                   std::this_thread::sleep_for(std::chrono::microseconds(300));
                   return value;
                 })
            .map("second", [](std::int64_t value) { return value; })
            .batch(8)
            .start(options);
    std::int64_t next = 0;
    while (const std::optional<Batch<std::int64_t>> batch = loader.next())
      for (const std::int64_t value : batch->items()) ASSERT_EQ(value, next++);
    EXPECT_EQ(next, 4000);
  }
}

/// Closing waits for the functions under way, and would wait for its own caller.
TEST(LoaderStress, CloseFromAnOwnFunctionIsRefused) {
  const Watchdog watchdog("close() in a stage");
  std::atomic<detail::LoaderBase*> own{nullptr};
  std::atomic<int> calls{0};
  std::atomic<int> refused{0};
  Loader<std::int64_t> loader = range(100)
                                    .map("closes",
                                         [&](std::int64_t value) {
                                           while (own == nullptr) std::this_thread::yield();
                                           if (calls++ > 0) return value;
                                           try {
                                             own.load()->close();
                                           } catch (const Error& error) {
                                             if (error.kind() == ErrorKind::usage) ++refused;
                                           }
                                           return value;
                                         })
                                    .start(options_for(2, 0));
  own = &loader;
  while (refused == 0) std::this_thread::yield();
  loader.close();
  EXPECT_EQ(refused, 1);
}

}  // namespace
}  // namespace weir::test
