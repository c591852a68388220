// The simulated pool against closed forms, and its promises over random schedules.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include <weir/random.hpp>

#include "tests/support/simulated_line.hpp"

namespace weir::test {
namespace {

using detail::ScenarioFlow;
using detail::ScenarioProcess;
using detail::ScenarioStage;

// Steady state.

TEST(SimulatedLine, SharesItsWorkersUpToTheBound) {
  for (const int workers : {1, 2, 5, 8, 32}) {
    SimulatedLine run(line({1e-3, 2e-3, 8e-3}, 0.1), workers);
    run.run(2);
    EXPECT_NEAR(run.rate(20), workers / 11e-3, 0.02 * workers / 11e-3) << workers;
    EXPECT_EQ(run.plant.most_running(), workers);
  }
}

TEST(SimulatedLine, OfWholeWorkersGoesAtTheSlowestStage) {
  SimulatedLine run(line({1e-3, 2e-3, 8e-3}), 8);
  run.allot({1, 2, 5});
  run.run(2);
  EXPECT_NEAR(run.rate(10), 5 / 8e-3, 1);
  const Snapshot seen = run.plant.snapshot();
  EXPECT_NEAR(seen.stages[2].running_seconds, 5 * 12, 0.1);
}

// Little's law: a single server fed at a rate below its own.
TEST(SimulatedLine, BusyShareIsRateTimesServiceTime) {
  ScenarioProcess process = line({1e-3});
  process.source.per_second = 400;
  SimulatedLine run(process, 1);
  run.run(20);
  const Snapshot seen = run.plant.snapshot();
  EXPECT_NEAR(static_cast<double>(seen.stages[0].items_in), 8000, 2);
  EXPECT_NEAR(seen.stages[0].running_seconds, 8, 0.01);
  EXPECT_NEAR(seen.stages[0].wait_input_seconds, 20, 0.1);  // nothing ever waits there
}

TEST(SimulatedLine, SaysHowFullAQueueWasSinceItsDepthWasSet) {
  ScenarioProcess process = line({1e-3});
  process.consumer.per_second = 100;
  SimulatedLine run(process, 1);
  Allocation deeper = run.plant.allocation();
  deeper.stages[0].depth_items = 5;
  ASSERT_TRUE(run.plant.apply(deeper));
  run.run(1);
  EXPECT_EQ(run.plant.snapshot().stages[0].queue.low_items, 0);
  EXPECT_EQ(run.plant.snapshot().stages[0].queue.high_items, 5);
  deeper.stages[0].depth_items = 9;
  ASSERT_TRUE(run.plant.apply(deeper));
  run.run(1);
  // Made ten times as fast as it is taken: it never gets emptier than when it was set.
  EXPECT_GE(run.plant.snapshot().stages[0].queue.low_items, 3);
  EXPECT_EQ(run.plant.snapshot().stages[0].queue.high_items, 9);
}

// A line of two single servers with room for `depth` between them, item by item: the first may
// begin when the item `depth` places ahead has been taken by the second.
double two_servers(int depth, double mean, double cv) {
  Random random(5, 17);
  const double variance = std::log1p(cv * cv);
  const auto draw = [&] {
    return mean * std::exp(std::sqrt(variance) * random.normal() - variance / 2);
  };
  constexpr int kItems = 1'000'000;
  std::vector<double> taken(kItems);
  double first = 0;
  double second = 0;
  for (std::size_t i = 0; i < kItems; ++i) {
    const auto ahead = static_cast<std::size_t>(depth);
    first = std::max(first, i < ahead ? 0.0 : taken[i - ahead]) + draw();
    taken[i] = std::max(first, second);
    second = taken[i] + draw();
  }
  return kItems / second;
}

// With exponential times n waiting or in the second server is a birth-death chain on 0 .. depth +
// 1, so that (depth + 1) / (depth + 2) of the rate is left: 0.75, 0.88 and 0.95.
TEST(SimulatedLine, LosesToVarianceWhatTheDepthDoesNotCover) {
  for (const int depth : {2, 6, 18}) {
    ScenarioProcess process = line({10e-3, 10e-3}, 1.0);
    process.stages[0].serial = process.stages[1].serial = true;
    process.stages[0].depth = depth;
    process.stages[1].depth = 1000;
    SimulatedLine run(process, 2);
    run.run(10);
    const double rate = run.rate(3000);
    EXPECT_NEAR(rate, two_servers(depth, 10e-3, 1.0), 1.0) << depth;
    EXPECT_NEAR(rate, 100.0 * (depth + 1) / (depth + 2), 4) << depth;
  }
}

TEST(SimulatedLine, WithConstantTimesLosesNothing) {
  ScenarioProcess process = line({10e-3, 10e-3});
  process.stages[0].serial = process.stages[1].serial = true;
  process.stages[0].depth = 2;
  SimulatedLine run(process, 2);
  run.run(1);
  EXPECT_NEAR(run.rate(100), 100, 0.1);
}

// Numbering.

TEST(SimulatedItems, AreFilteredBatchedAndSplit) {
  ScenarioProcess process = line({1e-4, 1e-4, 1e-3, 1e-4});
  process.stages[0].keep = 0.25;
  process.stages[1].split = 8;
  process.stages[3].batch = 32;
  SimulatedLine run(process, 4);
  run.run(20);
  const Snapshot seen = run.plant.snapshot();
  const auto in = [&](int i) {
    return static_cast<double>(seen.stages[static_cast<std::size_t>(i)].items_in);
  };
  EXPECT_NEAR(in(1) / in(0), 0.25, 0.02);
  EXPECT_NEAR(in(2) / in(1), 8, 0.2);
  EXPECT_NEAR(in(3) / in(2), 1, 0.02);
  EXPECT_NEAR(in(3) / 32, static_cast<double>(seen.stages[3].items_out), 1);
  EXPECT_NEAR(static_cast<double>(seen.loaders[0].consumer.items),
              static_cast<double>(seen.stages[3].items_out), 40);
}

TEST(SimulatedItems, BatchTakesItsTimeForEachThatItGivesOut) {
  ScenarioProcess process = line({1e-5, 8e-3});
  process.stages[1].batch = 16;
  process.stages[1].serial = true;
  SimulatedLine run(process, 4);
  run.run(1);
  EXPECT_NEAR(run.rate(10), 1 / 8e-3, 1);
  const Snapshot seen = run.plant.snapshot();
  const double per_row = seen.stages[1].slot_seconds / static_cast<double>(seen.stages[1].items_in);
  EXPECT_NEAR(per_row, 8e-3 / 16, 1e-5);
  ScenarioStage wider = run.plant.stage(1);
  wider.batch = 64;
  run.plant.set_stage(1, wider);
  run.run(1);
  const std::uint64_t before = run.plant.snapshot().stages[1].items_in;
  EXPECT_NEAR(run.rate(10), 1 / 8e-3, 1);
  EXPECT_NEAR(static_cast<double>(run.plant.snapshot().stages[1].items_in - before), 10 / 8e-3 * 64,
              200);
}

// One item in fifty takes a hundred times as long; those behind it wait for their turn, as many as
// the window holds.
TEST(SimulatedItems, ReachTheConsumerInOrder) {
  ScenarioProcess process = line({1e-3});
  process.stages[0].tail_probability = 0.02;
  process.stages[0].tail_factor = 100;
  process.stages[0].depth = 20;
  SimulatedLine run(process, 8);
  std::int64_t most_waiting = 0;
  for (int i = 0; i < 20'000; ++i) {
    run.run(1e-3);
    most_waiting = std::max(most_waiting, run.plant.snapshot().stages[0].queue.length_items);
  }
  EXPECT_EQ(most_waiting, 19);  // the slow one has the last place
  // Any order would give 8 / 2.98 ms.
  EXPECT_LT(run.rate(50), 0.8 * 8 / 2.98e-3);
}

// The consumer and the source.

TEST(SimulatedConsumer, TakesItsTime) {
  ScenarioProcess process = line({1e-3});
  process.consumer.per_second = 100;
  SimulatedLine run(process, 4);
  run.run(1);
  EXPECT_NEAR(run.rate(20), 100, 0.2);
  const ConsumerSnapshot seen = run.plant.snapshot().loaders[0].consumer;
  EXPECT_LT(seen.wait_seconds - seen.first_wait_seconds, 0.01);
  EXPECT_NEAR(seen.service_seconds, 21, 0.1);
  run.plant.pause_consumer(5);
  EXPECT_NEAR(run.rate(10), 50, 1);
}

TEST(SimulatedConsumer, ComesInBursts) {
  ScenarioProcess process = line({1e-3});
  process.consumer = {.per_second = 100, .period_seconds = 1, .duty = 0.25};
  SimulatedLine run(process, 4);
  run.run(1);
  for (int i = 0; i < 10; ++i) {
    EXPECT_NEAR(run.rate(0.25) * 0.25, 100, 1);
    EXPECT_NEAR(run.rate(0.75) * 0.75, 0, 1);
  }
}

TEST(SimulatedSource, KeepsItsMeanRateInBurstsToo) {
  ScenarioProcess process = line({2e-3});
  process.source.per_second = 300;
  SimulatedLine even(process, 1);
  even.run(1);
  EXPECT_NEAR(even.rate(20), 300, 0.5);
  process.source = {.per_second = 300, .period_seconds = 2, .duty = 0.1};
  SimulatedLine bursty(process, 1);
  bursty.run(2);
  EXPECT_NEAR(bursty.rate(20), 300, 0.5);
  bursty.plant.set_source({});
  bursty.run(1);
  EXPECT_NEAR(bursty.rate(10), 500, 1);
}

// Promises.

/// A line, a bound and a schedule of allocations, all drawn.
struct Drawn {
  explicit Drawn(std::uint64_t seed) : random(99, seed) {
    workers = 1 + static_cast<int>(random.below(9));
    const std::uint64_t count = 1 + random.below(5);
    for (std::uint64_t i = 0; i < count; ++i) {
      ScenarioStage& stage = process.stages.emplace_back();
      stage.name = std::string(1, static_cast<char>('a' + i));
      stage.seconds = std::pow(10.0, random.uniform(-5.0, -2.0));
      stage.cv = random.chance(0.5) ? random.uniform(0.0, 2.0) : 0.0;
      if (random.chance(0.3)) stage.kind = ScenarioStage::Kind::wait;
      if (random.chance(0.2)) stage.limit = 1 + static_cast<int>(random.below(3));
      if (random.chance(0.2)) stage.serial = true;
      if (random.chance(0.3)) stage.keep = random.uniform(0.1, 0.9);
      if (random.chance(0.2)) stage.split = 2 + static_cast<int>(random.below(6));
      if (i > 0 && random.chance(0.3)) stage.batch = 2 + static_cast<int>(random.below(15));
      if (random.chance(0.3)) stage.depth = 1 + static_cast<std::int64_t>(random.below(4));
      if (i > 0 && stage.batch > 1) process.stages[i - 1].split = 1;
      stage.bytes_out = random.uniform(0.0, 1000.0);
    }
    if (process.stages.back().split > 1) process.stages.back().split = 1;
    if (random.chance(0.5)) process.consumer.per_second = random.uniform(20.0, 2000.0);
    if (random.chance(0.3)) process.source.per_second = random.uniform(200.0, 5000.0);
  }

  Allocation allocation(const Allocation& old) {
    Allocation next = old;
    next.active = 1 + static_cast<int>(random.below(static_cast<std::uint64_t>(workers)));
    next.helping = random.chance(0.8);
    for (StageAllocation& stage : next.stages) {
      stage.target = random.uniform(0.0, 4.0);
      stage.cap = 1 + static_cast<int>(random.below(5));
      stage.depth_items = random.chance(0.5) ? static_cast<std::int64_t>(random.below(9)) : 0;
      stage.packet_items = random.chance(0.3) ? static_cast<std::int64_t>(random.below(5)) : 0;
    }
    return next;
  }

  Random random;
  int workers = 1;
  ScenarioProcess process;
};

// Admission stops at the upper mark and goes on at the lower one, as in the live plant.
TEST(SimulatedLine, DrainsToTheLowerMarkBeforeItAdmitsAgain) {
  ScenarioProcess process = line({1e-3});
  process.stages[0].bytes_out = 100;
  process.stages[0].depth = 10'000;
  process.consumer.per_second = 100;
  process.memory_bytes = 100'000;
  SimulatedLine run(process, 1);
  run.run(10);
  std::uint64_t least = run.plant.snapshot().memory_bytes;
  std::uint64_t most = least;
  int admitted_when_stopped = 0;
  for (int i = 0; i < 1000; ++i) {
    const Snapshot before = run.plant.snapshot();
    run.run(1e-2);
    const Snapshot after = run.plant.snapshot();
    least = std::min(least, after.memory_bytes);
    most = std::max(most, after.memory_bytes);
    if (before.memory_stopped && after.memory_stopped &&
        after.stages[0].items_in != before.stages[0].items_in)
      ++admitted_when_stopped;
  }
  EXPECT_NEAR(static_cast<double>(least), 65'000, 300);
  EXPECT_NEAR(static_cast<double>(most), 85'000, 300);
  EXPECT_LE(admitted_when_stopped, 10) << "only the packet that was under way at the mark";
}

class RandomLines : public testing::TestWithParam<int> {};

TEST_P(RandomLines, KeepEveryBoundAndNeverHang) {
  for (int i = 0; i < 50; ++i) {
    const auto seed = static_cast<std::uint64_t>(GetParam() * 50 + i);
    Drawn drawn(seed);
    // Down to less than one item.
    drawn.process.memory_bytes = std::pow(10.0, drawn.random.uniform(1.0, 6.0));
    SimulatedLine run(drawn.process, drawn.workers, 1 + static_cast<int>(drawn.random.below(8)),
                      seed);
    std::uint64_t before = 0;
    for (int step = 0; step < 20; ++step) {
      const Allocation allocation = drawn.allocation(run.plant.allocation());
      ASSERT_TRUE(run.plant.apply(allocation));
      for (int look = 0; look < 20; ++look) {
        run.run(1e-2);
        const Snapshot seen = run.plant.snapshot();
        ASSERT_LE(seen.memory_bytes, seen.memory_peak_bytes);
        for (const StageSnapshot& stage : seen.stages) ASSERT_GE(stage.queue.bytes, 0) << seed;
      }
    }
    EXPECT_EQ(run.plant.budget_violations(), 0u) << seed;
    EXPECT_LE(run.plant.most_running(), drawn.workers) << seed;
    // The slowest of them: a chain of batches and filters in front of a serial stage.
    for (int wait = 0; wait < 100 && run.items() == before; ++wait) run.run(1);
    before = run.items();
    for (int wait = 0; wait < 100 && run.items() == before; ++wait) run.run(1);
    EXPECT_GT(run.items(), before) << seed << ": nothing came any more";

    double item = 0;  // largest that one worker may add, and one batch with all it is made of
    double batch = 0;
    double rows = 1;
    for (std::size_t s = drawn.process.stages.size(); s-- > 0;) {
      const ScenarioStage& stage = drawn.process.stages[s];
      const double bytes = stage.bytes_out * stage.split;
      item = std::max(item, bytes);
      batch += bytes * std::max(rows, 1.0);
      rows *= stage.batch;
    }
    EXPECT_LE(run.plant.peak_bytes(), drawn.process.memory_bytes + drawn.workers * item + batch)
        << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomLines, testing::Range(0, 6));

TEST(SimulatedPool, LowersAAsPacketsEnd) {
  SimulatedLine run(line({10e-3}), 8);
  run.run(5e-3);
  Allocation two = run.plant.allocation();
  two.active = 2;
  ASSERT_TRUE(run.plant.apply(two));
  EXPECT_EQ(run.plant.snapshot().unparked, 8);  // nobody is stopped in the middle of a packet
  run.run(6e-3);
  EXPECT_EQ(run.plant.snapshot().unparked, 2);
  EXPECT_NEAR(run.rate(10), 200, 1);
  const double before = run.plant.snapshot().unparked_seconds;
  run.run(10);
  EXPECT_NEAR(run.plant.snapshot().unparked_seconds - before, 20, 1e-9);
}

TEST(SimulatedPool, HoldsALoweredCapAsPacketsEnd) {
  SimulatedLine run(line({10e-3, 1e-4}), 8);
  run.run(1);
  Allocation capped = run.plant.allocation();
  capped.stages[0].cap = 3;
  ASSERT_TRUE(run.plant.apply(capped));
  run.run(11e-3);
  for (int i = 0; i < 100; ++i) {
    run.run(1e-3);
    EXPECT_LE(run.plant.snapshot().stages[0].running, 3);
  }
  EXPECT_NEAR(run.rate(10), 300, 3);
}

TEST(SimulatedPool, WakesTheLastSleeperFirst) {
  ScenarioProcess process = line({4e-3, 4e-3});
  process.consumer.per_second = 100;
  SimulatedLine run(process, 16);
  run.run(5);
  const std::vector<double> ran = run.plant.last_ran_seconds();
  EXPECT_LE(std::count_if(ran.begin(), ran.end(), [](double at) { return at > 2; }), 4);
}

TEST(SimulatedPool, FollowsItsBudget) {
  SimulatedLine run(line({4e-3}), 8, 16);
  run.run(1);
  run.plant.set_workers(3);
  run.run(1);
  EXPECT_NEAR(run.rate(10), 3 / 4e-3, 4);
  EXPECT_EQ(run.plant.snapshot().budget, 3);
  EXPECT_EQ(run.plant.allocation().active, 3);
  run.plant.set_workers(12);
  Allocation all = run.plant.allocation();
  all.active = 12;
  ASSERT_TRUE(run.plant.apply(all));
  run.run(1);
  EXPECT_NEAR(run.rate(10), 12 / 4e-3, 10);
  EXPECT_EQ(run.plant.budget_violations(), 0u);
}

TEST(SimulatedPool, RefusesAnAllocationOfOtherStages) {
  SimulatedLine run(line({4e-3}), 8);
  Allocation other = run.plant.allocation();
  other.structure += 1;
  EXPECT_FALSE(run.plant.apply(other));
  const ScenarioProcess two[] = {line({1e-3, 1e-3}), line({2e-3})};
  run.plant.set_loaders(two);
  EXPECT_FALSE(run.plant.apply(other) && run.plant.apply(run.plant.allocation()));
  run.run(5);
  EXPECT_EQ(run.plant.snapshot().loaders.size(), 2u);
  EXPECT_GT(run.plant.snapshot().loaders[1].consumer.items, 0u);
}

TEST(SimulatedPool, GivesGroupsTheirWorkersAlone) {
  SimulatedLine run(line({2e-3, 2e-3, 4e-3}), 2);
  Allocation grouped = run.plant.allocation();
  grouped.strict = true;
  grouped.groups = {1};
  grouped.stages[0].group = grouped.stages[1].group = 0;
  ASSERT_TRUE(run.plant.apply(grouped));
  run.run(1);
  EXPECT_NEAR(run.rate(10), 250, 5);
}

TEST(SimulatedPool, IsDeterministicBySeed) {
  const auto counts = [](std::uint64_t seed, int seconds_apart) {
    ScenarioProcess process = line({1e-3, 3e-3, 2e-3}, 0.7);
    process.stages[0].keep = 0.6;
    SimulatedLine run(process, 5, 3, seed);
    for (int i = 0; i < 100 / seconds_apart; ++i) run.run(0.05 * seconds_apart);
    const Snapshot seen = run.plant.snapshot();
    return std::tuple(seen.stages[0].items_in, seen.stages[1].slot_seconds,
                      seen.stages[2].run_queue_seconds, seen.loaders[0].consumer.wait_seconds);
  };
  EXPECT_EQ(counts(7, 1), counts(7, 1));
  EXPECT_NE(counts(7, 1), counts(8, 1));
}

// The draws of an item are its own: whatever the workers do, the same items pass.
TEST(SimulatedPool, DrawsByItemAndNotByTurn) {
  const auto passed = [](int workers) {
    ScenarioProcess process = line({1e-3, 1e-3}, 1.0);
    process.stages[0].keep = 0.5;
    process.source.per_second = 500;
    SimulatedLine run(process, workers, workers, 3);
    run.run(20);
    run.plant.set_source({.per_second = 1e-9});
    run.run(5);
    const Snapshot seen = run.plant.snapshot();
    return std::pair(seen.stages[0].items_in, seen.stages[1].slot_seconds);
  };
  const auto few = passed(4);
  const auto many = passed(16);
  EXPECT_EQ(few.first, many.first);
  EXPECT_NEAR(few.second, many.second, 1e-6);
}

}  // namespace
}  // namespace weir::test
