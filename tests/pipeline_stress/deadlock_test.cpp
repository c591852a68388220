#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <weir/loader.hpp>
#include <weir/sources.hpp>

#include "tests/pipeline_stress/watchdog.hpp"

namespace weir::test {
namespace {

/// Each of these hung in one design or another of the windows: controller rules, section "worker
/// policy".

/// A value of `bytes` bytes by its own account.
struct Heavy {
  std::int64_t id = 0;
  std::uint64_t bytes = 0;
};
std::size_t bytes_of(const Heavy& heavy) { return heavy.bytes; }

Options options_for(int workers, std::uint64_t memory_bytes) {
  Options options;
  options.workers = workers;
  options.oversubscribe = true;
  options.memory_bytes = memory_bytes;
  options.epochs = 1;
  return options;
}

Stream<Heavy> heavy(std::int64_t count, std::uint64_t bytes) {
  return range(count).map("heavy", [bytes](std::int64_t id) { return Heavy{id, bytes}; });
}

template <class T>
std::int64_t count_all(Loader<T>& loader) {
  std::int64_t count = 0;
  while (const std::optional<T> value = loader.next()) {
    if constexpr (std::is_base_of_v<BatchRows, T>)
      count += static_cast<std::int64_t>(value->size());
    else
      ++count;
  }
  return count;
}

TEST(Deadlock, FlatMapOnOneWorker) {
  const Watchdog watchdog("flat_map on one worker");
  for (std::uint64_t memory : {std::uint64_t{1}, std::uint64_t{10'000'000}}) {
    Loader<Batch<Heavy>> loader = heavy(50, 100)
                                      .flat_map("many",
                                                [](const Heavy& one) {
                                                  std::vector<Heavy> parts;
                                                  for (std::int64_t i = 0; i < 300; ++i)
                                                    parts.push_back({one.id * 300 + i, 50});
                                                  return parts;
                                                })
                                      .map("each", [](Heavy part) { return part; })
                                      .batch(64)
                                      .start(options_for(1, memory));
    std::int64_t next = 0;
    while (std::optional<Batch<Heavy>> batch = loader.next())
      for (const Heavy& part : batch->items()) ASSERT_EQ(part.id, next++);
    EXPECT_EQ(next, 50 * 300);
  }
}

TEST(Deadlock, GeneratorWithoutEndOnOneWorker) {
  const Watchdog watchdog("an endless generator on one worker");
  Loader<std::int64_t> loader =
      range(3)
          .flat_map("endless",
                    [](std::int64_t) {
                      return [next = std::int64_t{0}]() mutable { return std::optional(next++); };
                    })
          .take(5000)
          .start(options_for(1, 1));
  EXPECT_EQ(count_all(loader), 5000);
}

TEST(Deadlock, BytesHeldByLaterItems) {
  const Watchdog watchdog("bytes held by later items");
  for (int workers : {1, 2, 4}) {
    // Item 0 of each batch comes last, when the others have taken all bytes that there are.
    std::atomic<std::int64_t> done{0};
    Loader<Batch<Heavy>> loader = heavy(64, 1000)
                                      .map("late",
                                           [&done](Heavy one) {
                                             if (one.id % 8 == 0)
                                               for (int i = 0; i < 200 && done < one.id + 3; ++i)
                                                 std::this_thread::yield();
                                             ++done;
                                             return one;
                                           })
                                      .map("after", [](Heavy one) { return one; })
                                      .batch(8)
                                      .start(options_for(workers, 3000));
    EXPECT_EQ(count_all(loader), 64);
  }
}

TEST(Deadlock, MemoryBelowOneItemAndOneBatch) {
  const Watchdog watchdog("a bound below one item");
  for (std::uint64_t memory : {1U, 999U, 1001U, 8001U}) {
    for (int workers : {1, 3}) {
      Loader<Batch<Heavy>> loader = heavy(40, 1000)
                                        .map("second", [](Heavy one) { return one; })
                                        .batch(8)
                                        .map("on_batches", [](Batch<Heavy> batch) { return batch; })
                                        .start(options_for(workers, memory));
      EXPECT_EQ(count_all(loader), 40) << memory << " bytes";
    }
  }
}

TEST(Deadlock, AConsumerThatKeepsItsBatches) {
  const Watchdog watchdog("a consumer that keeps its batches");
  Loader<Batch<Heavy>> loader = heavy(200, 1000).batch(10).start(options_for(2, 15'000));
  std::vector<Batch<Heavy>> kept;
  while (std::optional<Batch<Heavy>> batch = loader.next()) kept.push_back(std::move(*batch));
  EXPECT_EQ(kept.size(), 20U);
}

TEST(Deadlock, AConsumerThatPauses) {
  const Watchdog watchdog("a consumer that pauses");
  Options options = options_for(2, 20'000);
  Loader<Batch<Heavy>> paused = heavy(400, 1000).batch(10).start(options);
  ASSERT_TRUE(paused.next());
  options.name = "validation";
  // The first loader holds what it may; the second runs to its end beside it, and again and again.
  for (int i = 0; i < 5; ++i) {
    Loader<Batch<Heavy>> beside = heavy(100, 1000).batch(10).start(options);
    EXPECT_EQ(count_all(beside), 100);
  }
  const Snapshot snapshot = paused.telemetry();
  // One batch a loader and one item a worker beyond the bound, batches being items too.
  EXPECT_LE(snapshot.memory_peak_bytes, 20'000U + 2 * 10'100U + 2 * 10'100U);
  EXPECT_EQ(count_all(paused), 390);
}

TEST(Deadlock, AShuffleBufferLargerThanTheBound) {
  const Watchdog watchdog("a shuffle buffer above the bound");
  for (int workers : {1, 3}) {
    Loader<Heavy> loader = heavy(300, 1000)
                               .filter("all", [](const Heavy&) { return true; })
                               .shuffle({.buffer = 100})
                               .start(options_for(workers, 5000));
    EXPECT_EQ(count_all(loader), 300);
  }
}

TEST(Deadlock, AFilterThatKeepsNothing) {
  const Watchdog watchdog("a filter that keeps nothing");
  Loader<Batch<Heavy>> loader = heavy(5000, 1000)
                                    .filter("none", [](const Heavy&) { return false; })
                                    .batch(10)
                                    .start(options_for(3, 2000));
  EXPECT_EQ(count_all(loader), 0);
}

TEST(Deadlock, SerialStagesAndQueuesOfOne) {
  const Watchdog watchdog("serial stages");
  StageOptions serial;
  serial.serial = true;
  serial.queue = 1;
  for (int workers : {1, 2, 4}) {
    Loader<Batch<Heavy>> loader = heavy(500, 1000)
                                      .map(
                                          "one", [](Heavy h) { return h; }, serial)
                                      .map(
                                          "two", [](Heavy h) { return h; }, serial)
                                      .batch(32)
                                      .prefetch(1)
                                      .start(options_for(workers, 1));
    EXPECT_EQ(count_all(loader), 500);
  }
}

TEST(Deadlock, StrictSharesAndGroups) {
  const Watchdog watchdog("strict shares");
  for (int workers : {1, 2, 3}) {
    Options options = options_for(workers, 1 << 20);
    options.strict = true;  // Six stages on fewer workers: they are grouped.
    Loader<Batch<Heavy>> loader = heavy(500, 10)
                                      .map("a", [](Heavy h) { return h; })
                                      .map("b", [](Heavy h) { return h; })
                                      .map("c", [](Heavy h) { return h; })
                                      .batch(32)
                                      .map("d", [](Batch<Heavy> batch) { return batch; })
                                      .start(options);
    EXPECT_EQ(count_all(loader), 500);
  }
}

TEST(Deadlock, Inline) {
  const Watchdog watchdog("everything on the caller's thread");
  Options options = options_for(1, 1);
  options.run_inline = true;
  Loader<Batch<Heavy>> loader = heavy(500, 1000)
                                    .flat_map("two",
                                              [](Heavy h) {
                                                return std::vector<Heavy>{h, h};
                                              })
                                    .batch(32)
                                    .start(options);
  EXPECT_EQ(count_all(loader), 1000);
}

}  // namespace
}  // namespace weir::test
