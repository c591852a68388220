#include "policies/depth_control.hpp"

#include <cstdint>
#include <optional>

#include <gtest/gtest.h>

#include "tests/policies/observation_maker.hpp"

namespace weir::detail {
namespace {

using Advice = DepthControl::Advice;

constexpr std::uint64_t kMebibyte = 1 << 20;

/// Two stages with very uneven times, a queue of 16 items of 1 MiB between them, and 1 GiB.
Observation uneven() {
  Observation seen = test::known_line(8, {4e-3, 4e-3});
  seen.current.active = 8;
  seen.current.stages.resize(2);
  for (std::size_t i = 0; i < 2; ++i) {
    seen.current.stages[i].target = 4;
    seen.stages[i].estimate.cv = 2;
    seen.stages[i].queue_capacity = 16;
    seen.stages[i].bytes_out = kMebibyte;
  }
  seen.memory_bound_bytes = 1024 * kMebibyte;
  seen.memory_bytes = 32 * kMebibyte;
  seen.loaders[0].wait_share = 0;
  return seen;
}

class Depth : public testing::Test {
 protected:
  std::optional<Advice> after(double seconds, Observation seen) {
    for (int i = 0; i < static_cast<int>(seconds * 10 + 0.5); ++i) {
      now_ += 0.1;
      seen.time_seconds = now_;
      if (std::optional<Advice> advice = control_.advise(seen)) return advice;
    }
    return std::nullopt;
  }

  double now_ = 10;
  DepthControl control_{PolicySettings{}};
};

TEST_F(Depth, DoublesAQueueThatWasEmptyAndFull) {
  Observation seen = uneven();
  seen.stages[0].queue_empty_share = 0.1;
  seen.stages[0].queue_full_share = 0.1;
  const std::optional<Advice> advice = after(3, seen);
  ASSERT_TRUE(advice);
  EXPECT_EQ(advice->allocation.stages[0].depth_items, 32);
  EXPECT_EQ(advice->allocation.stages[1].depth_items, 0);
}

TEST_F(Depth, LeavesAQueueThatIsAlwaysFull) {
  Observation full = uneven();
  full.stages[0].queue_full_share = 1;
  EXPECT_FALSE(after(5, full));
}

TEST_F(Depth, LeavesAQueueThatIsAlwaysEmpty) {
  Observation empty = uneven();
  empty.stages[0].queue_empty_share = 1;
  EXPECT_FALSE(after(5, empty));
}

TEST_F(Depth, DoublesAQueueThatIsFullBehindASlowItemWhileWorkersIdle) {
  // Where order is kept, the queue holds what came past the slow item, and is never empty.
  Observation seen = uneven();
  seen.stages[0].queue_full_share = 0.6;
  seen.stages[0].running_mean = 1;
  seen.stages[1].running_mean = 1;
  seen.loaders[0].wait_share = 1;
  const std::optional<Advice> advice = after(3, seen);
  ASSERT_TRUE(advice);
  EXPECT_EQ(advice->allocation.stages[0].depth_items, 32);
}

TEST_F(Depth, LeavesAFullQueueInFrontOfBusyWorkers) {
  Observation seen = uneven();
  seen.stages[0].queue_full_share = 0.6;
  seen.stages[0].running_mean = 4;
  seen.stages[1].running_mean = 4;
  seen.loaders[0].wait_share = 1;
  seen.stages[1].queue_full_share = 0;
  EXPECT_FALSE(after(5, seen));
}

TEST_F(Depth, GrowsNothingWithoutRoomInTheBound) {
  Observation seen = uneven();
  seen.stages[0].queue_empty_share = seen.stages[0].queue_full_share = 0.1;
  seen.memory_bound_bytes = 40 * kMebibyte;
  EXPECT_FALSE(after(5, seen));
}

TEST_F(Depth, LeavesADepthSetByHand) {
  Observation seen = uneven();
  seen.stages[0].queue_empty_share = seen.stages[0].queue_full_share = 0.1;
  seen.stages[0].hand_depth = 16;
  EXPECT_FALSE(after(5, seen));
}

TEST_F(Depth, HalvesEveryQueueWhenTheBoundIsNearlyUsed) {
  Observation seen = uneven();
  seen.memory_bytes = 1000 * kMebibyte;
  const std::optional<Advice> advice = after(1, seen);
  ASSERT_TRUE(advice);
  EXPECT_EQ(advice->allocation.stages[0].depth_items, 8);
  EXPECT_EQ(advice->allocation.stages[1].depth_items, 8);
}

}  // namespace
}  // namespace weir::detail
