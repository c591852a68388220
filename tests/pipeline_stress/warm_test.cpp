#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include <weir/buffer.hpp>
#include <weir/loader.hpp>
#include <weir/sources.hpp>

#include "tests/pipeline_stress/counted_new.hpp"
#include "tests/pipeline_stress/rounds.hpp"
#include "tests/pipeline_stress/watchdog.hpp"

namespace weir::test {
namespace {

Options options_for(Order order) {
  Options options;
  options.workers = 2;
  options.oversubscribe = true;
  options.order = order;
  options.fuse = Fuse::off;
  return options;
}

/// Allocations for `count` values, once the loader is warm.
template <class T>
std::uint64_t allocations_for(Loader<T>& loader, std::uint64_t warm, std::uint64_t count) {
  for (std::uint64_t i = 0; i < warm; ++i) (void)loader.next();
  const std::uint64_t before = allocations();
  for (std::uint64_t i = 0; i < count; ++i) (void)loader.next();
  return allocations() - before;
}

std::int64_t same(std::int64_t value) { return value; }

TEST(Warm, IntegersAllocateNothing) {
  const Watchdog watchdog("warm integers");
  for (const Order order : {Order::input, Order::any}) {
    Loader<std::int64_t> loader =
        range(100'000'000).map("a", same).map("b", same).map("c", same).start(options_for(order));
    EXPECT_LT(allocations_for(loader, 400'000, 400'000), 100U);
  }
}

TEST(Warm, FiltersAndRenumberingAllocateNothing) {
  const Watchdog watchdog("warm filters");
  Loader<std::int64_t> loader =
      range(100'000'000)
          .filter("odd", [](std::int64_t value) { return value % 2 == 1; })
          .skip(3)
          .shuffle({.buffer = 50})
          .map("a", same)
          .start(options_for(Order::input));
  EXPECT_LT(allocations_for(loader, 200'000, 200'000), 100U);
}

TEST(Warm, SamplesAllocateNothingButTheirBatch) {
  const Watchdog watchdog("warm samples");
  const auto per_batch = [](std::uint64_t rows) {
    Loader<Batch<Sample>> loader =
        range(100'000'000)
            .map("made",
                 [](std::int64_t value, Context& context) {
                   Sample sample;
                   sample.set("image", context.allocate("image", {8, 8, 3}, DType::u8));
                   std::memset(sample["image"].bytes(), static_cast<int>(value % 200), 8 * 8 * 3);
                   return sample;
                 })
            .map("placed",
                 [](const Sample& in, Context& context) {
                   Sample sample;
                   sample.set("image", context.allocate("image", {8, 8, 3}, DType::f32));
                   std::memset(sample["image"].bytes(), static_cast<int>(in["image"].bytes()[0]),
                               8);
                   return sample;
                 })
            .batch(rows)
            .start(options_for(Order::input));
    return static_cast<double>(allocations_for(loader, 3000, 1000)) / 1000;
  };
  const double few = per_batch(4);
  const double many = per_batch(64);
  EXPECT_LT(few, 30);
  EXPECT_LT(many, few + 5) << "rows allocate";
}

std::size_t entries_in(const std::string& folder) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder),
                                                std::filesystem::directory_iterator()));
}

TEST(Lifetime, AThousandLoadersLeaveNothing) {
  const Watchdog watchdog("a thousand loaders", std::chrono::seconds(110));
  const auto run = [](int loaders) {
    for (int i = 0; i < loaders; ++i) {
      Options options = options_for(i % 3 == 0 ? Order::any : Order::input);
      options.autotune = i % 8 == 0;
      Loader<Batch<std::int64_t>> loader =
          range(200)
              .shuffle()
              .map("a", same)
              .filter("f", [](std::int64_t v) { return v % 3 != 0; })
              .batch(7)
              .start(options);
      for (int taken = 0; taken < i % 20; ++taken)
        if (!loader.next()) break;
    }
  };
  run(50);
  const std::int64_t live = live_allocations();
  const std::size_t threads = entries_in("/proc/self/task");
  const std::size_t descriptors = entries_in("/proc/self/fd");
  const BufferPoolUse buffers = buffer_pool_use();
  run(static_cast<int>(rounds(1000, 100)));
  // A few are made once, at moments of their own; what a loader left would be there a thousand
  // times.
  EXPECT_LE(live_allocations(), live + 50);
  EXPECT_EQ(entries_in("/proc/self/task"), threads);
  EXPECT_EQ(entries_in("/proc/self/fd"), descriptors);
  EXPECT_EQ(buffer_pool_use().in_use_bytes, buffers.in_use_bytes);
}

}  // namespace
}  // namespace weir::test
