#include <chrono>
#include <cstdint>
#include <thread>

#include <gtest/gtest.h>

#include <weir/loader.hpp>
#include <weir/sources.hpp>

namespace weir {
namespace {

// Workers stay in a stage until the window behind it is full: one sized by the packets of a quick
// stage behind a slow one took a second to fill, and nothing was delivered meanwhile.
TEST(Depth, IsThatOfTheSmallerPacketOfTheTwoSides) {
  Options options;
  options.workers = 6;
  options.oversubscribe = true;
  options.epochs = 1;
  auto loader = range(600)
                    .map("slow",
                         [](std::int64_t v) {
                           std::this_thread::sleep_for(std::chrono::milliseconds(1));
                           return v;
                         })
                    .map("quick", [](std::int64_t v) { return v + 1; })
                    .batch(8)
                    .start(options);
  std::uint64_t rows = 0;
  while (auto batch = loader.next()) rows += batch->size();
  EXPECT_EQ(rows, 600U);
  const Snapshot snapshot = loader.telemetry();
  ASSERT_EQ(snapshot.stages[0].name, "slow");
  // Packets of one item: two for each of six workers that give, and one for each that takes.
  EXPECT_LE(snapshot.stages[0].queue.capacity_items, 12);
  EXPECT_GE(snapshot.stages[0].queue.capacity_items, 2);
}

}  // namespace
}  // namespace weir
