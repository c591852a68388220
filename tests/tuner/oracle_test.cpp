// The computed optimum: by hand, against exhaustive search, and against the simulator.

#include "tuner/oracle.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include <weir/random.hpp>

#include "tests/support/simulated_line.hpp"

namespace weir::test {
namespace {

using detail::find_oracle;
using detail::Oracle;
using detail::ScenarioProcess;
using detail::ScenarioStage;
using detail::ScenarioStart;

// By hand.

TEST(Oracle, SharesAndSplitsThreeStages) {
  const ScenarioProcess process = line({4e-3, 8e-3, 32e-3});
  const Oracle shared = find_oracle(process, 8, 8, false);
  EXPECT_NEAR(shared.shared_per_second, 8 / 44e-3, 1e-6);
  EXPECT_NEAR(shared.whole_per_second, 5 / 32e-3, 1e-6);
  EXPECT_EQ(shared.workers, 8);
  EXPECT_NEAR(shared.targets[2], 8 * 32.0 / 44, 1e-6);
  EXPECT_NEAR(shared.cpu_seconds_per_item, 44e-3, 1e-9);
  const Oracle strict = find_oracle(process, 8, 8, true);
  EXPECT_EQ(strict.targets, (std::vector<double>{1, 2, 5}));
  EXPECT_EQ(strict.workers, 8);
  EXPECT_NEAR(strict.service_seconds[1], 8e-3, 1e-9);
}

TEST(Oracle, HoldsTheConsumerWithTheFewest) {
  ScenarioProcess process = line({4e-3, 8e-3, 32e-3});
  process.consumer.per_second = 0.4 * 8 / 44e-3;
  const Oracle shared = find_oracle(process, 8, 8, false);
  EXPECT_NEAR(shared.shared_per_second, process.consumer.per_second, 1e-9);
  EXPECT_NEAR(shared.shared_capacity_per_second, 8 / 44e-3, 1e-6);
  EXPECT_EQ(shared.workers, 4);
  const Oracle strict = find_oracle(process, 8, 8, true);
  EXPECT_EQ(strict.targets, (std::vector<double>{1, 1, 3}));
}

TEST(Oracle, CountsVisitsThroughFilterSplitAndBatch) {
  ScenarioProcess process = line({1e-3, 2e-3, 1e-3, 8e-3});
  process.stages[0].keep = 0.5;
  process.stages[1].split = 8;
  process.stages[3].batch = 32;
  const Oracle oracle = find_oracle(process, 4, 4, false);
  EXPECT_NEAR(oracle.visits[0], 8, 1e-9);
  EXPECT_NEAR(oracle.visits[1], 4, 1e-9);
  EXPECT_NEAR(oracle.visits[2], 32, 1e-9);
  EXPECT_NEAR(oracle.visits[3], 32, 1e-9);
  EXPECT_NEAR(oracle.service_seconds[3], 8e-3 / 32, 1e-9);
  EXPECT_NEAR(oracle.shared_per_second, 4 / (8e-3 + 8e-3 + 32e-3 + 8e-3), 1e-6);
  process.source.per_second = 100;
  EXPECT_NEAR(find_oracle(process, 4, 4, false).shared_per_second, 100.0 / 8, 1e-9);
}

TEST(Oracle, StopsAtDevicesSerialStagesAndPeaks) {
  ScenarioProcess device = line({1e-3, 20e-3});
  device.stages[1].kind = ScenarioStage::Kind::wait;
  device.stages[1].limit = 4;
  const Oracle limited = find_oracle(device, 16, 16, false);
  EXPECT_NEAR(limited.shared_per_second, 200, 1e-6);
  EXPECT_NEAR(limited.targets[1], 4, 1e-6);
  EXPECT_EQ(limited.workers, 5);
  EXPECT_NEAR(limited.cpu_seconds_per_item, 1e-3, 1e-9);

  ScenarioProcess serial = line({4e-3, 2e-3});
  serial.stages[0].serial = true;
  const Oracle one = find_oracle(serial, 8, 8, true);
  EXPECT_NEAR(one.whole_per_second, 250, 1e-6);
  EXPECT_EQ(one.workers, 2);

  ScenarioProcess retrograde = line({1e-3, 8e-3});
  retrograde.stages[1].contention = 0.05;
  retrograde.stages[1].coherence = 0.02;
  double best = 0;
  for (int n = 1; n <= 32; ++n)
    best = std::max(best, n / (8e-3 * (1 + 0.05 * (n - 1) + 0.02 * n * (n - 1))));
  EXPECT_NEAR(find_oracle(retrograde, 32, 32, false).shared_per_second, best, 1e-6);

  ScenarioProcess flat = line({1e-3, 2e-3});
  flat.stages[1].plateau = 4;
  const Oracle plateau = find_oracle(flat, 16, 16, false);
  EXPECT_NEAR(plateau.shared_per_second, 2000, 1e-6);
  EXPECT_EQ(plateau.workers, 6);
}

TEST(Oracle, KnowsThatCoresAreFewerThanWorkers) {
  ScenarioProcess process = line({4e-3, 12e-3});
  EXPECT_NEAR(find_oracle(process, 8, 2.5, false).shared_per_second, 2.5 / 16e-3, 1e-6);
  EXPECT_EQ(find_oracle(process, 8, 2.5, false).workers, 3);
  process.stages[1].kind = ScenarioStage::Kind::wait;
  EXPECT_NEAR(find_oracle(process, 8, 1, false).shared_per_second, 1 / 4e-3, 1e-6);
  EXPECT_NEAR(find_oracle(process, 8, 8, false).shared_per_second, 8 / 16e-3, 1e-6);
}

TEST(Oracle, GroupsMoreStagesThanWorkers) {
  std::vector<double> services(12, 2e-3);
  services[5] = 12e-3;
  const Oracle oracle = find_oracle(line(services), 8, 8, true);
  EXPECT_NEAR(oracle.whole_per_second, 2 / 12e-3, 1e-6);
}

// Exhaustive search on small instances, with code of its own.

double naive_capacity(const ScenarioStage& stage, int n) {
  const double mean =
      stage.seconds * (1 - stage.tail_probability + stage.tail_probability * stage.tail_factor);
  const int served = stage.limit > 0 && n > stage.limit ? stage.limit : n;
  double time = mean;
  time *= 1 + stage.contention * (served - 1) + stage.coherence * served * (served - 1);
  if (stage.plateau > 0 && served > stage.plateau) time *= double(served) / stage.plateau;
  if (stage.slow_above > 0 && served > stage.slow_above) time *= stage.slow_factor;
  return served / time * stage.batch;
}

std::vector<double> naive_visits(const ScenarioProcess& process) {
  std::vector<double> visits(process.stages.size());
  double items = 1;
  for (std::size_t i = process.stages.size(); i-- > 0;) {
    const ScenarioStage& stage = process.stages[i];
    items = items * stage.batch / (stage.keep * stage.split);
    visits[i] = items;
  }
  return visits;
}

struct Naive {
  double per_second = 0;
  int workers = 0;
};

/// Tries every whole split.
Naive naive_whole(const ScenarioProcess& process, int workers) {
  const std::vector<double> visits = naive_visits(process);
  Naive best;
  std::vector<int> split(process.stages.size());
  const std::function<void(std::size_t, int)> place = [&](std::size_t i, int left) {
    if (i == split.size()) {
      double rate = std::numeric_limits<double>::infinity();
      for (std::size_t s = 0; s < split.size(); ++s)
        rate = std::min(rate, naive_capacity(process.stages[s], split[s]) / visits[s]);
      if (process.consumer.per_second > 0) rate = std::min(rate, process.consumer.per_second);
      const int total = std::accumulate(split.begin(), split.end(), 0);
      if (rate > best.per_second * (1 + 1e-9) ||
          (rate > best.per_second * (1 - 1e-9) && total < best.workers))
        best = {rate, total};
      return;
    }
    const int most = process.stages[i].serial ? std::min(1, left) : left;
    for (int n = 1; n <= most; ++n) {
      split[i] = n;
      place(i + 1, left - n);
    }
  };
  place(0, workers);
  return best;
}

/// The least mean of running workers that holds `rate`, mixing two neighbouring whole numbers, by
/// small steps.
double naive_need(const ScenarioStage& stage, double rate, int workers) {
  constexpr double kStep = 1e-3;
  const int most = stage.serial ? 1 : workers;
  for (double n = 0; n <= most + kStep / 2; n += kStep) {
    const int low = static_cast<int>(std::floor(n + 1e-9));
    const double part = n - low;
    double capacity = low > 0 ? (1 - part) * naive_capacity(stage, low) : 0;
    if (part > 1e-9) capacity += part * naive_capacity(stage, low + 1);
    if (capacity >= rate * (1 - 1e-9)) return n;
  }
  return std::numeric_limits<double>::infinity();
}

double naive_total(const ScenarioProcess& process, double rate, int workers) {
  const std::vector<double> visits = naive_visits(process);
  double total = 0;
  for (std::size_t i = 0; i < visits.size(); ++i)
    total += naive_need(process.stages[i], rate * visits[i], workers);
  return total;
}

ScenarioProcess drawn_process(Random& random) {
  std::vector<double> services;
  for (std::uint64_t i = 0; i < 2 + random.below(3); ++i)
    services.push_back(std::pow(10.0, random.uniform(-3.0, -1.0)));
  ScenarioProcess process = line(services);
  for (ScenarioStage& stage : process.stages) {
    switch (random.below(8)) {
      case 0:
        stage.contention = random.uniform(0.0, 0.2);
        stage.coherence = random.uniform(0.0, 0.1);
        break;
      case 1:
        stage.limit = 1 + static_cast<int>(random.below(4));
        break;
      case 2:
        stage.plateau = 1 + static_cast<int>(random.below(4));
        break;
      case 3:
        stage.slow_above = 1 + static_cast<int>(random.below(4));
        stage.slow_factor = random.uniform(1.0, 3.0);
        break;
      case 4:
        stage.serial = true;
        break;
      default:
        break;
    }
    if (random.chance(0.2)) stage.keep = random.uniform(0.2, 1.0);
    if (random.chance(0.1)) stage.split = 4;
    if (random.chance(0.1)) stage.batch = 8;
    if (random.chance(0.1)) {
      stage.tail_probability = 0.01;
      stage.tail_factor = 50;
    }
  }
  return process;
}

TEST(Oracle, EqualsExhaustiveSearchOfWholeSplits) {
  Random random(11, 1);
  for (int i = 0; i < 300; ++i) {
    ScenarioProcess process = drawn_process(random);
    const int workers = static_cast<int>(process.stages.size()) + static_cast<int>(random.below(7));
    const Naive free = naive_whole(process, workers);
    if (random.chance(0.4))
      process.consumer.per_second = free.per_second * random.uniform(0.2, 1.2);
    const Naive best = naive_whole(process, workers);
    const Oracle oracle = find_oracle(process, workers, workers, true);
    EXPECT_NEAR(oracle.whole_per_second, best.per_second, 1e-6 * best.per_second) << i;
    EXPECT_EQ(oracle.workers, best.workers) << i;
  }
}

TEST(Oracle, SharesNoFewerAndNoMoreThanThereAre) {
  Random random(12, 1);
  for (int i = 0; i < 60; ++i) {
    const ScenarioProcess process = drawn_process(random);
    const int workers = 2 + static_cast<int>(random.below(8));
    const Oracle oracle = find_oracle(process, workers, workers, false);
    const double x = oracle.shared_per_second;
    ASSERT_GT(x, 0) << i;
    const double slack = 2e-3 * static_cast<double>(process.stages.size());
    EXPECT_LE(naive_total(process, 0.9999 * x, workers), workers + slack) << i;
    EXPECT_GT(naive_total(process, 1.01 * x, workers), workers - slack) << i;
    EXPECT_NEAR(std::accumulate(oracle.targets.begin(), oracle.targets.end(), 0.0),
                naive_total(process, x, workers), slack)
        << i;
  }
}

// What it promises is what the simulator gives, and what it says of the stages is what they do.

class OracleRun : public testing::TestWithParam<int> {};

TEST_P(OracleRun, IsReachedFromTheOptimum) {
  Random random(13, static_cast<std::uint64_t>(GetParam()));
  ScenarioProcess process = drawn_process(random);
  for (ScenarioStage& stage : process.stages) {
    stage.tail_probability = 0;  // order in front of the consumer is not the oracle's business
    stage.depth = 64;
    stage.bytes_out = 1;
  }
  const bool strict = random.chance(0.5);
  const int workers = static_cast<int>(process.stages.size()) + static_cast<int>(random.below(9));
  const Oracle oracle = find_oracle(process, workers, workers, strict);
  SimulatedLine run(process, workers);
  Allocation start = detail::starting_allocation(
      {.kind = ScenarioStart::Kind::optimum, .workers = {}}, process, workers, workers, strict);
  start.structure = run.plant.allocation().structure;
  ASSERT_TRUE(run.plant.apply(start));
  const double expected = strict ? oracle.whole_per_second : oracle.shared_per_second;
  run.run(1000 / expected);
  const Snapshot before = run.plant.snapshot();
  const double rate = run.rate(5000 / expected);
  EXPECT_LE(rate, 1.03 * expected);  // filters draw
  EXPECT_GE(rate, 0.93 * expected);
  const Snapshot after = run.plant.snapshot();
  for (std::size_t i = 0; i < process.stages.size(); ++i) {
    const double items = static_cast<double>(after.stages[i].items_in - before.stages[i].items_in);
    const double consumed =
        static_cast<double>(after.loaders[0].consumer.items - before.loaders[0].consumer.items);
    const double expected_items = oracle.visits[i] * consumed;
    // What lies in the queues differs between the two looks.
    EXPECT_NEAR(items, expected_items, 0.05 * expected_items + 400) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, OracleRun, testing::Range(0, 40));

// Starts.

TEST(StartingAllocation, IsAsAsked) {
  const ScenarioProcess process = line({4e-3, 8e-3, 32e-3});
  const auto start = [&](ScenarioStart::Kind kind, bool strict) {
    return detail::starting_allocation({.kind = kind, .workers = {{"a", 2}, {"c", 4}}}, process, 8,
                                       8, strict);
  };
  const Allocation even = start(ScenarioStart::Kind::even, true);
  EXPECT_EQ(even.active, 8);
  EXPECT_EQ(even.stages[0].target, 3);
  const Allocation best = start(ScenarioStart::Kind::optimum, true);
  EXPECT_EQ(best.stages[2].target, 5);
  EXPECT_TRUE(best.strict);
  const Allocation one = start(ScenarioStart::Kind::one_stage, false);
  EXPECT_EQ(one.stages[0].target, 8);
  EXPECT_EQ(one.stages[1].target, 0);
  EXPECT_EQ(one.active, 8);
  const Allocation one_strict = start(ScenarioStart::Kind::one_stage, true);
  EXPECT_EQ(one_strict.stages[0].target, 6);
  EXPECT_EQ(one_strict.stages[2].target, 1);
  const Allocation by_hand = start(ScenarioStart::Kind::by_hand, false);
  EXPECT_EQ(by_hand.active, 7);
  EXPECT_EQ(by_hand.stages[1].target, 1);
  EXPECT_EQ(by_hand.stages[2].target, 4);
}

}  // namespace
}  // namespace weir::test
