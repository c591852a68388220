#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <weir/error.hpp>
#include <weir/sources.hpp>

#include "pipeline/batch_arena.hpp"
#include "pipeline/engine.hpp"
#include "pipeline/stage_plan.hpp"
#include "pipeline/worker_pool.hpp"
#include "tests/pipeline_stress/rounds.hpp"

namespace weir::test {
namespace {

constexpr std::int64_t kRows = 4;
constexpr std::int64_t kWidth = 16;

bool is_bad(std::uint64_t seed, std::uint64_t sample) {
  return mix_bits(seed * 1000 + sample) % 6 == 0;
}

/// Samples of one row of bytes that say whose they are. Some turn out bad in the first stage, so
/// that each stage behind passes them on, and some after they were given a place.
Stream<Batch<Sample>> samples(std::uint64_t seed, std::uint64_t count) {
  const auto fill = [seed](Context& context) {
    Sample sample;
    sample.set("image", context.allocate("image", {kWidth}, DType::u8));
    if (is_bad(seed + 500, context.sample_id())) throw BadSample("by another rule");
    std::memset(sample["image"].bytes(), static_cast<int>(context.sample_id() % 251),
                static_cast<std::size_t>(kWidth));
    return sample;
  };
  return range(static_cast<std::int64_t>(count))
      .map("maybe_bad",
           [seed](std::int64_t value) {
             if (is_bad(seed, static_cast<std::uint64_t>(value))) throw BadSample("by rule");
             return value;
           })
      .map("between", [](std::int64_t value) { return value; })
      .map("placed", [fill](std::int64_t, Context& context) { return fill(context); })
      .batch(kRows);
}

/// Ends what was begun, also when an assertion leaves early: closing would wait for it.
struct BusyWorkers {
  explicit BusyWorkers(detail::WorkerPool& of)
      : pool(of), busy(static_cast<std::size_t>(of.workers())) {}
  ~BusyWorkers() {
    for (std::size_t worker = 0; worker < busy.size(); ++worker)
      if (busy[worker]) pool.end(static_cast<int>(worker));
  }
  detail::WorkerPool& pool;
  std::vector<bool> busy;
};

/// Rows are written where they will be delivered, before all bad samples in front of them are
/// known; so some have to move, and no row may be written where another one is still to be read.
TEST(ArenaSchedule, RowsAreTheirOwnInAnyInterleaving) {
  std::uint64_t placed = 0;
  std::uint64_t copied = 0;
  for (std::uint64_t seed = 1; seed <= rounds(3000, 400); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    const int workers = static_cast<int>(2 + random() % 4);
    const std::uint64_t count = 10 + random() % 40;
    detail::WorkerPool::Settings settings;
    settings.workers = workers;
    settings.threads = false;
    settings.first.active = workers;
    detail::WorkerPool pool(std::move(settings));
    const detail::StagePlan plan =
        detail::make_stage_plan(samples(seed, count).step(), 0, detail::Fusion::off, false);
    ASSERT_TRUE(plan.in_place);
    detail::Engine::Settings options;
    options.name = "arena";
    options.end_epoch = 2;
    options.on_bad_sample.action = BadSamplePolicy::Action::skip;
    options.consumer = [] { return ConsumerSnapshot{}; };
    options.allotted.resize(plan.stages.size());
    for (StageAllocation& stage : options.allotted) {
      stage.packet_items = static_cast<std::int64_t>(1 + random() % 3);
      stage.depth_items = 8;
      stage.target = 2;
    }
    detail::Engine engine(plan, pool, std::move(options));

    std::vector<std::uint64_t> good;
    for (std::uint64_t i = 0; i < count; ++i)
      if (!is_bad(seed, i) && !is_bad(seed + 500, i)) good.push_back(i);
    BusyWorkers workers_under_way(pool);
    std::vector<bool>& busy = workers_under_way.busy;
    std::size_t next = 0;
    int epochs = 0;
    for (int action = 0; epochs < 2; ++action) {
      ASSERT_LT(action, 100'000);
      const std::size_t worker = random() % busy.size();
      // One worker is slow: what it works on is overtaken by what the others do.
      if (busy[worker] && random() % (worker == 0 ? 60 : 4) == 0) {
        pool.end(static_cast<int>(worker));
        busy[worker] = false;
      } else if (!busy[worker]) {
        busy[worker] = pool.begin(static_cast<int>(worker));
      }
      detail::SlotHeader* slot = nullptr;
      if (engine.try_take(slot) != detail::SinkEdge::Take::slot) continue;
      if (slot->state == detail::SlotState::epoch_end) {
        ASSERT_EQ(next, good.size());
        next = 0;
        ++epochs;
      } else if (slot->state == detail::SlotState::live) {
        const Batch<Sample>& batch = static_cast<detail::Slot<Batch<Sample>>*>(slot)->value();
        for (std::size_t row = 0; row < batch.size(); ++row, ++next) {
          ASSERT_EQ(batch.ids()[row], good[next]);
          const std::byte* bytes = batch["image"].row(static_cast<std::int64_t>(row)).bytes();
          for (std::int64_t i = 0; i < kWidth; ++i)
            ASSERT_EQ(static_cast<std::uint64_t>(bytes[i]), good[next] % 251) << "row " << row;
        }
      }
      engine.give_back();
    }
    placed += engine.placed_rows();
    copied += engine.copied_rows();
  }
  EXPECT_GT(placed, copied) << "placing is the rule";
  EXPECT_GT(copied, 500U) << "nothing was tested";
}

TEST(ArenaSchedule, ABadSampleCountsOnceHoweverOftenItIsSaid) {
  detail::BatchArena arena(4);
  arena.note_bad(0, 2);
  arena.note_bad(0, 2);
  arena.note_bad(0, 5);
  EXPECT_EQ(arena.ordinal(0, 2), 2U);
  EXPECT_EQ(arena.ordinal(0, 4), 3U);
  EXPECT_EQ(arena.ordinal(0, 9), 7U);
}

TEST(ArenaSchedule, APlaceIsGivenOnce) {
  detail::BatchArena arena(2);
  const Tensor first = arena.allocate(0, 1, "image", {3}, DType::u8);
  const Tensor second = arena.allocate(0, 1, "image", {3}, DType::u8);
  EXPECT_NE(first.bytes(), second.bytes());
  const Tensor batch = arena.take(0, 0, "image", {3}, DType::u8);
  EXPECT_EQ(first.bytes(), batch.row(1).bytes());
}

}  // namespace
}  // namespace weir::test
