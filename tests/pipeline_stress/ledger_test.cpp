#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <weir/sources.hpp>

#include "pipeline/byte_ledger.hpp"
#include "pipeline/engine.hpp"
#include "pipeline/stage_plan.hpp"
#include "pipeline/worker_pool.hpp"

namespace weir::test {
namespace {

TEST(Ledger, GrantsWithinTheBoundAloneOrToTheExempt) {
  detail::ByteLedger ledger;
  ledger.set_bound(1000);
  EXPECT_TRUE(ledger.reserve(900, false, false));
  EXPECT_FALSE(ledger.reserve(101, false, false));
  EXPECT_FALSE(ledger.reserve(1, true, false)) << "a source leaves room to what is under way";
  EXPECT_TRUE(ledger.reserve(100, false, false));
  EXPECT_TRUE(ledger.reserve(0, false, false));
  EXPECT_FALSE(ledger.has_room(1, false));
  EXPECT_TRUE(ledger.reserve(500, false, true));
  EXPECT_EQ(ledger.used(), 1500U);
  EXPECT_EQ(ledger.peak(), 1500U);
}

TEST(Ledger, StopsSourcesFromTheUpperMarkToTheLower) {
  detail::ByteLedger ledger;
  ledger.set_bound(1000);
  EXPECT_TRUE(ledger.reserve(840, true, false));
  EXPECT_FALSE(ledger.stopped());
  EXPECT_TRUE(ledger.has_room(10, true));
  EXPECT_FALSE(ledger.has_room(20, true));
  EXPECT_TRUE(ledger.stopped()) << "an item more would be above 85 %";
  ledger.release(189);
  EXPECT_FALSE(ledger.has_room(1, true)) << "651 bytes are above 65 %";
  EXPECT_FALSE(ledger.reserve(1, true, false));
  EXPECT_TRUE(ledger.has_room(300, false)) << "what is under way goes on";
  EXPECT_TRUE(ledger.has_room(0, true));
  ledger.release(1);
  EXPECT_FALSE(ledger.stopped());
  EXPECT_TRUE(ledger.has_room(100, true));
  EXPECT_TRUE(ledger.reserve(100, true, false)) << "and up to 85 % again";
}

TEST(Ledger, OthersReachTheMarkToo) {
  detail::ByteLedger ledger;
  ledger.set_bound(1000);
  ledger.add(850);
  ledger.release(100);
  EXPECT_FALSE(ledger.has_room(1, true));
  ledger.release(750);
  EXPECT_TRUE(ledger.reserve(850, false, false));
  ledger.release(100);
  EXPECT_FALSE(ledger.reserve(1, true, false));
}

TEST(Ledger, TheHeadOfTheOrderEndsAStopWithoutADrain) {
  detail::ByteLedger ledger;
  ledger.set_bound(1000);
  ledger.add(850);
  ledger.release(100);
  ASSERT_TRUE(ledger.stopped());
  EXPECT_TRUE(ledger.reserve(10, true, true));
  EXPECT_FALSE(ledger.stopped()) << "what is held cannot drain before more comes";
  EXPECT_TRUE(ledger.reserve(10, true, false));
  ledger.add(100);
  EXPECT_TRUE(ledger.reserve(10, true, true));
  EXPECT_TRUE(ledger.stopped()) << "above the upper mark it is granted alone";
}

/// A value of 100 bytes by its own account.
struct Heavy {
  std::int64_t id = 0;
};
std::size_t bytes_of(const Heavy&) { return 100; }

/// A pipeline of one stage over a bound of 4,000 bytes whose packets are begun and ended by hand.
class Admission : public ::testing::Test {
 protected:
  void start(const Stream<Heavy>& stream) {
    engine_.reset();
    detail::WorkerPool::Settings settings;
    settings.workers = 1;
    settings.threads = false;
    settings.memory_bytes = 4000;
    settings.first.active = 1;
    pool_ = std::make_unique<detail::WorkerPool>(std::move(settings));
    const detail::StagePlan plan =
        detail::make_stage_plan(stream.step(), 0, detail::Fusion::off, false);
    detail::Engine::Settings engine;
    engine.name = "admission";
    engine.consumer = [] { return ConsumerSnapshot{}; };
    engine.allotted.resize(plan.stages.size());
    for (StageAllocation& stage : engine.allotted) {
      stage.packet_items = 1;
      stage.depth_items = 1000;
    }
    engine_ = std::make_unique<detail::Engine>(plan, *pool_, std::move(engine));
  }
  void run_until_idle() {
    for (int packets = 0; packets < 10'000; ++packets)
      if (!pool_->step(0)) return;
    FAIL() << "the bound holds nothing back";
  }
  [[nodiscard]] bool take() {
    detail::SlotHeader* slot = nullptr;
    if (engine_->try_take(slot) != detail::SinkEdge::Take::slot) return false;
    engine_->give_back();
    return true;
  }
  void TearDown() override { engine_.reset(); }

  std::unique_ptr<detail::WorkerPool> pool_;
  std::unique_ptr<detail::Engine> engine_;
};

Stream<Heavy> heavy() {
  return range(1'000'000).map("heavy", [](std::int64_t id) { return Heavy{id}; });
}

TEST_F(Admission, FillsToTheUpperMarkAndAgainFromTheLower) {
  start(heavy());
  run_until_idle();
  EXPECT_EQ(pool_->snapshot().memory_bytes, 3400U);
  EXPECT_TRUE(pool_->snapshot().memory_stopped);
  // The consumer takes several at a time out of the books.
  while (pool_->snapshot().memory_bytes > 2600) {
    EXPECT_FALSE(pool_->step(0)) << pool_->snapshot().memory_bytes;
    ASSERT_TRUE(take());
  }
  EXPECT_FALSE(pool_->snapshot().memory_stopped);
  run_until_idle();
  EXPECT_EQ(pool_->snapshot().memory_bytes, 3400U);
}

// A buffer that holds more than the lower mark cannot drain: with nothing but the exemption every
// item would wait until the consumer has got the one before it.
TEST_F(Admission, OfABufferAboveTheLowerMarkGoesOnInRuns) {
  start(heavy().filter("all", [](const Heavy&) { return true; }).shuffle({.buffer = 30}));
  int begun = 0;
  int waits = 0;
  for (int taken = 0; taken < 200;) {
    if (pool_->step(0)) {
      ++begun;
      continue;
    }
    ++waits;
    ASSERT_TRUE(take()) << "nothing goes on";
    ++taken;
    while (take()) ++taken;
  }
  EXPECT_GT(begun, 200);
  EXPECT_LT(waits, 150);
}

}  // namespace
}  // namespace weir::test
