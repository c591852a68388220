#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <weir/error.hpp>
#include <weir/sources.hpp>

#include "pipeline/engine.hpp"
#include "pipeline/stage_plan.hpp"
#include "pipeline/worker_pool.hpp"

namespace weir::test {
namespace {

/// How far workers run ahead of a consumer that pauses, or of a slow item, and how many of them
/// find work: decided by hand, without threads.
class Windows : public ::testing::Test {
 protected:
  template <class T>
  void start(const Stream<T>& stream, int workers, std::int64_t depth = 2) {
    engine_.reset();
    detail::WorkerPool::Settings settings;
    settings.workers = workers;
    settings.threads = false;
    settings.first.active = workers;
    pool_ = std::make_unique<detail::WorkerPool>(std::move(settings));
    const detail::StagePlan plan =
        detail::make_stage_plan(stream.step(), 0, detail::Fusion::off, false);
    detail::Engine::Settings engine;
    engine.name = "windows";
    engine.on_bad_sample.action = BadSamplePolicy::Action::skip;
    engine.consumer = [] { return ConsumerSnapshot{}; };
    engine.allotted.resize(plan.stages.size());
    for (StageAllocation& stage : engine.allotted) {
      stage.packet_items = 1;
      stage.depth_items = depth;
    }
    engine_ = std::make_unique<detail::Engine>(plan, *pool_, std::move(engine));
  }
  /// Packets until nothing can be begun, or `most`.
  [[nodiscard]] int run_until_idle(int worker, int most) {
    int packets = 0;
    while (packets < most && pool_->step(worker)) ++packets;
    return packets;
  }
  [[nodiscard]] int running_in(const std::string& name) const {
    for (const StageSnapshot& stage : pool_->snapshot().stages)
      if (stage.name == name) return stage.running;
    return -1;
  }
  void TearDown() override { engine_.reset(); }

  std::unique_ptr<detail::WorkerPool> pool_;
  std::unique_ptr<detail::Engine> engine_;
  detail::SlotHeader* slot_ = nullptr;
};

TEST_F(Windows, EmptyEpochsWaitForTheConsumer) {
  start(range(0), 1);
  EXPECT_LT(run_until_idle(0, 1000), 100);
  start(range(5).filter("none", [](std::int64_t) { return false; }).batch(3), 1);
  EXPECT_LT(run_until_idle(0, 10'000), 1000);
}

TEST_F(Windows, SayHowFullTheyWereSinceTheirDepthWasSet) {
  start(range(1'000'000), 1, 4);
  ASSERT_LT(run_until_idle(0, 100), 100);
  const auto sink = [this] { return pool_->snapshot().stages.back().queue; };
  const auto take = [this] {
    ASSERT_EQ(engine_->try_take(slot_), detail::SinkEdge::Take::slot);
    engine_->give_back();
  };
  EXPECT_EQ(sink().low_items, 0);
  EXPECT_EQ(sink().high_items, 4);
  Allocation allocation = pool_->allocation();
  allocation.stages.back().depth_items = 3;
  ASSERT_TRUE(pool_->apply(allocation));
  EXPECT_EQ(sink().low_items, 4) << "what waits stays";
  for (int i = 0; i < 3; ++i) take();
  EXPECT_EQ(sink().low_items, 1);
  ASSERT_LT(run_until_idle(0, 100), 100);
  EXPECT_EQ(sink().length_items, 3);
  EXPECT_EQ(sink().low_items, 1);
  EXPECT_EQ(sink().high_items, 4);
  allocation.stages.back().depth_items = 8;
  ASSERT_TRUE(pool_->apply(allocation));
  EXPECT_EQ(sink().high_items, 3);
}

TEST_F(Windows, BadSamplesWaitForTheConsumer) {
  start(range(1'000'000).map("bad",
                             [](std::int64_t value) {
                               if (value >= 0) throw BadSample("each of them");
                               return value;
                             }),
        1);
  EXPECT_LT(run_until_idle(0, 100'000), 100);
}

TEST_F(Windows, TombstonesDoNotRunAwayFromASlowItem) {
  start(range(1'000'000'000)
            .map("first", [](std::int64_t value) { return value; })
            .filter("none", [](std::int64_t value) { return value == 0; }),
        2);
  // Worker 0 begins item 0 in the filter and is slow there.
  while (running_in("none") == 0) {
    ASSERT_TRUE(pool_->begin(0));
    if (running_in("none") == 0) pool_->end(0);
  }
  EXPECT_LT(run_until_idle(1, 100'000), 20'000);
  pool_->end(0);
  detail::SlotHeader* slot = nullptr;
  EXPECT_EQ(engine_->try_take(slot), detail::SinkEdge::Take::slot);
}

/// Begins packets on idle workers, and ends them all when none can be begun, until so many workers
/// are in the stage at once.
bool reaches(detail::WorkerPool& pool, const std::function<int()>& running, int wanted) {
  std::vector<bool> busy(static_cast<std::size_t>(pool.workers()));
  bool reached = false;
  for (int round = 0; round < 2000 && !reached; ++round) {
    for (int worker = 0; worker < pool.workers(); ++worker)
      if (!busy[static_cast<std::size_t>(worker)])
        busy[static_cast<std::size_t>(worker)] = pool.begin(worker);
    reached = running() >= wanted;
    for (int worker = 0; worker < pool.workers(); ++worker)
      if (busy[static_cast<std::size_t>(worker)]) pool.end(worker);
    std::fill(busy.begin(), busy.end(), false);
  }
  return reached;
}

TEST_F(Windows, AFullShuffleBufferLeavesRoomForSeveralWorkers) {
  const Stream<std::int64_t> stream = range(10'000)
                                          .filter("all", [](std::int64_t) { return true; })
                                          .map("costly", [](std::int64_t value) { return value; })
                                          .shuffle({.buffer = 200});
  start(stream, 4, 4);
  Allocation allocation = pool_->allocation();
  const std::vector<StageSnapshot> stages = pool_->snapshot().stages;
  for (std::size_t i = 0; i < stages.size(); ++i)
    allocation.stages[i].target = stages[i].name == "costly" ? 4 : 0;
  ASSERT_TRUE(pool_->apply(allocation));
  detail::SlotHeader* slot = nullptr;
  // The first item out says that the buffer was full.
  while (engine_->try_take(slot) != detail::SinkEdge::Take::slot) ASSERT_TRUE(pool_->step(0));
  engine_->give_back();
  EXPECT_TRUE(reaches(
      *pool_,
      [this] {
        while (engine_->try_take(slot_) == detail::SinkEdge::Take::slot) engine_->give_back();
        return running_in("costly");
      },
      3));
}

TEST_F(Windows, AShallowQueueInFrontOfABatchLeavesRoomForSeveralWorkers) {
  start(range(10'000).map("costly", [](std::int64_t value) { return value; }).batch(64), 4, 3);
  // The queue holds fewer items than the batch needs; the second half of it fills as fast as the
  // first.
  int in_batch = 0;
  while (in_batch < 40) {
    ASSERT_TRUE(pool_->step(0));
    in_batch =
        static_cast<int>(pool_->snapshot().stages.back().items_in) +
        static_cast<int>(pool_->snapshot().stages[pool_->snapshot().stages.size() - 2].items_out);
  }
  EXPECT_TRUE(reaches(
      *pool_, [this] { return running_in("costly"); }, 3));
}

TEST_F(Windows, AStageIsEnteredUpToItsCap) {
  start(range(10).map("maps", [](std::int64_t value) { return value; }), 4);
  detail::Stage& stage = *engine_->stages().stages.front();
  int entered = 0;
  for (int i = 0; i < 5; ++i) entered += stage.enter(2) ? 1 : 0;
  EXPECT_EQ(entered, 2);
  EXPECT_EQ(stage.running(), entered);
  for (int i = 0; i < entered; ++i) stage.leave();
}

TEST_F(Windows, AGroupIsEnteredUpToItsShare) {
  const auto same = [](std::int64_t value) { return value; };
  start(range(10).map("a", same).map("b", same), 4);
  Allocation allocation = pool_->allocation();
  allocation.strict = true;
  allocation.groups = {2};
  for (StageAllocation& stage : allocation.stages) stage.group = 0;
  const std::vector<detail::Stage*>& stages = engine_->stages().stages;
  ASSERT_EQ(stages.size(), 2U);
  int entered = 0;
  for (const int stage : {0, 1, 0, 1}) entered += pool_->enter(allocation, stages, stage) ? 1 : 0;
  EXPECT_EQ(entered, 2);
  for (detail::Stage* stage : stages)
    while (stage->running() > 0) stage->leave();
}

/// The function of a serial stage sees its items one after another in index order.
TEST_F(Windows, ASerialStageSeesItsItemsInOrder) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    std::vector<std::int64_t> seen;
    StageOptions serial;
    serial.serial = true;
    start(range(60)
              .map("before", [](std::int64_t value) { return value; })
              .map(
                  "serial",
                  [&seen](std::int64_t value) {
                    seen.push_back(value);
                    return value;
                  },
                  serial),
          4, 8);
    std::mt19937_64 random(seed);
    std::vector<bool> busy(4);
    while (seen.size() < 60) {
      const std::size_t worker = random() % 4;
      if (!busy[worker]) {
        busy[worker] = pool_->begin(static_cast<int>(worker));
      } else if (random() % 3 == 0) {
        pool_->end(static_cast<int>(worker));
        busy[worker] = false;
      }
      if (engine_->try_take(slot_) == detail::SinkEdge::Take::slot) engine_->give_back();
    }
    for (std::size_t worker = 0; worker < 4; ++worker)
      if (busy[worker]) pool_->end(static_cast<int>(worker));
    for (std::size_t i = 0; i < 60; ++i) ASSERT_EQ(seen[i], static_cast<std::int64_t>(i));
  }
}

TEST_F(Windows, AQueueResizedByHandStaysSo) {
  start(range(1'000'000).map("maps", [](std::int64_t value) { return value; }), 1, 0);
  ASSERT_TRUE(engine_->resize_queue("maps", 77));
  detail::SlotHeader* slot = nullptr;
  // Long enough for the runtime to look at its depths again.
  const detail::Nanoseconds until = detail::monotonic_now() + 30'000'000;
  while (detail::monotonic_now() < until) {
    (void)pool_->step(0);
    if (engine_->try_take(slot) == detail::SinkEdge::Take::slot) engine_->give_back();
  }
  EXPECT_EQ(pool_->snapshot().stages.back().queue.capacity_items, 77);
  EXPECT_EQ(pool_->snapshot().stages.back().hand_depth, 77);
}

TEST_F(Windows, AStageWithoutATargetStillRuns) {
  start(range(10).map("maps", [](std::int64_t value) { return value; }), 1);
  Allocation allocation = pool_->allocation();
  allocation.strict = true;
  for (StageAllocation& stage : allocation.stages) stage.target = 0;
  ASSERT_TRUE(pool_->apply(allocation));
  EXPECT_TRUE(pool_->step(0));
}

TEST_F(Windows, SharesOfGroupsThatAreNoneAreLeftOut) {
  start(range(10).map("maps", [](std::int64_t value) { return value; }), 1);
  Allocation allocation = pool_->allocation();
  allocation.strict = true;
  allocation.groups = {0};
  for (StageAllocation& stage : allocation.stages) stage.group = 0;
  allocation.stages.back().group = 17;
  ASSERT_TRUE(pool_->apply(allocation));
  EXPECT_EQ(pool_->allocation().groups.front(), 1);
  EXPECT_EQ(pool_->allocation().stages.back().group, -1);
  EXPECT_TRUE(pool_->step(0));
}

}  // namespace
}  // namespace weir::test
