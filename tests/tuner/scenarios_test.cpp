// What a tuning reaches on emulated lines whose optimum is computed, in virtual time.

#include "tests/tuner/tuner_run.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace weir::test {
namespace {

using detail::ScenarioProcess;
using detail::ScenarioStage;

TuningOptions options(bool strict = false, std::uint64_t seed = 0) {
  TuningOptions made;
  made.strict = strict;
  made.seed = seed;
  return made;
}

class ThreeWaits : public testing::TestWithParam<std::tuple<std::vector<double>, double, int>> {};

TEST_P(ThreeWaits, ReachTheBoundAfterOneRampAndSettleInTwoSeconds) {
  const auto& [services, cv, seed] = GetParam();
  TunerRun run(8, {line(services, cv)}, options(false, static_cast<std::uint64_t>(seed)));
  run.run_until(2.0);
  const TunerRun::Stretch steady = run.stretch(8);
  const double bound = 8 / std::accumulate(services.begin(), services.end(), 0.0);
  EXPECT_GE(steady.per_second, 0.97 * bound);
  const TuningStatus status = run.tuner.status();
  EXPECT_LE(status.moves, 3);
  EXPECT_TRUE(status.settled);
  EXPECT_LE(status.settle_seconds, 2.0);
  EXPECT_NEAR(status.bound_shared, bound, 0.03 * bound + 2 * cv * 0.1 * bound);
  EXPECT_LE(run.plant.most_running(), 8);
}

TEST_P(ThreeWaits, StrictReachesTheBestWholeSplit) {
  const auto& [services, cv, seed] = GetParam();
  TunerRun run(8, {line(services, cv)}, options(true, static_cast<std::uint64_t>(seed)));
  run.run_until(2.0);
  const TunerRun::Stretch steady = run.stretch(8);
  EXPECT_GE(steady.per_second, 0.97 * 5 / 32e-3);
  const TuningStatus status = run.tuner.status();
  EXPECT_LE(status.moves, 3);
  EXPECT_TRUE(status.current.strict);
  for (std::size_t i = 0; i < services.size(); ++i)
    EXPECT_EQ(status.current.stages[i].target, services[i] == 32e-3  ? 5
                                               : services[i] == 8e-3 ? 2
                                                                     : 1);
}

INSTANTIATE_TEST_SUITE_P(Orders, ThreeWaits,
                         testing::Combine(testing::Values(std::vector<double>{4e-3, 8e-3, 32e-3},
                                                          std::vector<double>{32e-3, 8e-3, 4e-3},
                                                          std::vector<double>{8e-3, 32e-3, 4e-3}),
                                          testing::Values(0.0, 0.1), testing::Values(0, 1)));

class SkewedCosts : public testing::TestWithParam<int> {};

TEST_P(SkewedCosts, ReachTheBoundOnAnyNumberOfWorkers) {
  const int workers = GetParam();
  TunerRun run(workers, {line({1e-3, 2e-3, 8e-3}, 0.1)}, options());
  run.run_until(3);
  EXPECT_GE(run.stretch(4).per_second, 0.97 * workers / 11e-3);
  EXPECT_LE(run.tuner.status().moves, 3);
}

INSTANTIATE_TEST_SUITE_P(Workers, SkewedCosts, testing::Values(1, 2, 4, 8, 16, 32, 64));

class SlowConsumer : public testing::TestWithParam<bool> {};

TEST_P(SlowConsumer, LeavesFewWorkersUnparkedAndHardlyWaits) {
  const double step = 44e-3 / 8 / 0.4;
  TunerRun run(8, {line({4e-3, 8e-3, 32e-3}, 0.1, step)}, options(GetParam()));
  run.run_until(5);
  const TunerRun::Stretch steady = run.stretch(20);
  // The fewest that hold it: shared 3.2 workers' worth of work; whole 1, 1 and 3.
  const double oracle = GetParam() ? 5 : 4;
  EXPECT_LE(steady.unparked_mean, std::max(oracle + 1, 1.15 * oracle));
  EXPECT_LE(steady.wait_share, 0.02);
  EXPECT_NEAR(steady.per_second, 1 / step, 0.02 / step);
  EXPECT_EQ(run.tuner.status().label, "consumer");
}

INSTANTIATE_TEST_SUITE_P(SharedAndStrict, SlowConsumer, testing::Bool());

ScenarioProcess resnet50() {
  ScenarioProcess loader;
  loader.stages = {{.name = "read", .seconds = 0.05e-3, .cv = 0.2},
                   {.name = "decode", .seconds = 0.4e-3, .cv = 0.2},
                   {.name = "augment", .seconds = 2.8e-3},
                   {.name = "batch", .seconds = 1e-3, .batch = 32}};
  loader.consumer.per_second = 1 / 18e-3;
  return loader;
}

TEST(ResNet50, OneWorkerStarvesTheConsumer) {
  ScenarioProcess loader = resnet50();
  loader.stages[2].fixed_workers = 1;
  TunerRun run(12, {loader}, options());
  run.run_until(3);
  const TunerRun::Stretch steady = run.stretch(5);
  EXPECT_GT(steady.wait_share / steady.per_second, 70e-3);  // the gap of a step
  EXPECT_EQ(run.tuner.status().label, "stage:augment");
}

class ResNet50Tuned : public testing::TestWithParam<bool> {};

TEST_P(ResNet50Tuned, IsFedWithFewWorkers) {
  TunerRun run(12, {resnet50()}, options(GetParam()));
  run.run_until(3);
  const TunerRun::Stretch steady = run.stretch(10);
  EXPECT_LT(steady.wait_share / steady.per_second, 0.25e-3);
  const TuningStatus status = run.tuner.status();
  EXPECT_GT(status.needed_workers, 4);
  EXPECT_LE(steady.unparked_mean, status.needed_workers + 2);
  EXPECT_LE(status.last_half_active_mean, status.needed_workers + 2);
  EXPECT_EQ(status.label, "consumer");
  EXPECT_LE(status.moves, 3);
}

INSTANTIATE_TEST_SUITE_P(SharedAndStrict, ResNet50Tuned, testing::Bool());

TEST(RanAhead, StageThatDidItsWorkBeforeTheFirstLookHoldsNothingUp) {
  ScenarioProcess loader = resnet50();
  loader.stages[0].seconds = 2e-6;
  loader.stages[0].depth = 7000;
  TunerRun run(12, {loader}, options());
  run.run(0.1);  // a loader starts before it is tuned
  const std::uint64_t early = run.plant.snapshot().stages[0].items_in;
  ASSERT_GE(early, 7000u);
  run.run_until(1.6);
  EXPECT_EQ(run.tuner.status().moves, 1);
  const TunerRun::Stretch steady = run.stretch(8);
  const TuningStatus status = run.tuner.status();
  EXPECT_LE(steady.unparked_mean, status.needed_workers + 2);
  EXPECT_LT(steady.wait_share / steady.per_second, 0.25e-3);
  EXPECT_TRUE(status.best_verified);
}

class Drift : public testing::TestWithParam<std::tuple<bool, int>> {};

TEST_P(Drift, SwappedCostsAreSolvedAnew) {
  const auto& [strict, workers] = GetParam();
  TunerRun run(workers, {line({1e-3, 2e-3, 8e-3}, 0.1)}, options(strict));
  run.run_until(6);
  run.change(0, [](ScenarioStage& stage) { stage.seconds = 8e-3; });
  run.change(2, [](ScenarioStage& stage) { stage.seconds = 1e-3; });
  run.run_until(8);
  const double whole = workers == 8 ? 5 / 8e-3 : 23 / 8e-3;
  const double bound = strict ? whole : workers / 11e-3;
  EXPECT_GE(run.stretch(4).per_second, 0.97 * bound);
  const TuningStatus status = run.tuner.status();
  EXPECT_GT(status.current.stages[0].target, 4 * status.current.stages[2].target);
  EXPECT_EQ(status.current.stay_slack, 1.0);
  EXPECT_TRUE(status.settled);
}

INSTANTIATE_TEST_SUITE_P(Modes, Drift, testing::Combine(testing::Bool(), testing::Values(8, 32)));

TEST(Drift, FilterThatPassesLessNeedsMoreUpstream) {
  ScenarioProcess loader = line({1e-3, 2e-3, 8e-3}, 0.1);
  loader.stages[0].keep = 0.9;
  TunerRun run(8, {loader}, options());
  run.run_until(5);
  run.change(0, [](ScenarioStage& stage) { stage.keep = 0.1; });
  run.run_until(7);
  EXPECT_GE(run.stretch(5).per_second, 0.95 * 8 / 20e-3);
  EXPECT_NEAR(run.tuner.status().current.stages[0].target, 4, 0.8);
}

TEST(Noise, MovesNobody) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    TunerRun run(8, {line({4e-3, 8e-3, 32e-3}, 0.5)}, options(false, seed));
    run.run_until(5);
    const int moves = run.tuner.status().moves;
    run.run_until(30);
    EXPECT_LE(run.tuner.status().moves, moves + 2) << seed;
  }
}

TEST(SteadyCosts, NeverMoveAgain) {
  TunerRun run(8, {line({4e-3, 8e-3, 32e-3}, 0.1)}, options());
  run.run_until(5);
  const int applied = run.plant.applied();
  run.run_until(65);
  EXPECT_EQ(run.plant.applied(), applied);
}

TEST(Retrograde, StageIsKeptAtItsBest) {
  ScenarioProcess loader = line({1e-3, 4e-3, 8e-3});
  loader.stages[2].contention = 0.05;
  loader.stages[2].coherence = 0.02;
  TunerRun run(32, {loader}, options());
  run.run_until(5);
  const auto capacity = [](double n) {
    return n / (8e-3 * (1 + 0.05 * (n - 1) + 0.02 * n * (n - 1)));
  };
  double best = 0;
  for (int n = 1; n <= 32; ++n) best = std::max(best, capacity(n));
  const TunerRun::Stretch steady = run.stretch(5);
  EXPECT_GE(steady.per_second, 0.93 * best);
  EXPECT_LE(steady.unparked_mean, 16);  // all 32 awake would make it slower
}

TEST(Rollback, MoveThatDoesNotPayIsTakenBack) {
  // Two and three workers in c look alike; with more than three each takes three times as long.
  ScenarioProcess loader = line({1e-3, 1e-3, 4e-3});
  loader.stages[2].slow_above = 3;
  loader.stages[2].slow_factor = 3;
  // Begin at three, where the line is linear as far as anybody saw.
  Allocation start;
  start.active = 5;
  start.stages = {{.target = 1}, {.target = 1}, {.target = 3, .cap = 3}};
  TuningOptions from_file = options();
  from_file.start = start;
  from_file.start_stages = {"a", "b", "c"};
  TunerRun loaded(8, {loader}, from_file);
  loaded.run_until(20);
  const TunerRun::Stretch steady = loaded.stretch(10);
  EXPECT_GE(steady.per_second, 0.93 * 3 / 4e-3);
  EXPECT_GE(loaded.most_moves, 2);  // the move and the way back
}

TEST(SerialStage, IsNamedAndTheRestIsParked) {
  ScenarioProcess loader = line({4e-3, 2e-3, 8e-3}, 0.1);
  loader.stages[0].serial = true;
  TunerRun run(8, {loader}, options());
  run.run_until(3);
  const TunerRun::Stretch steady = run.stretch(10);
  EXPECT_GE(steady.per_second, 0.97 * 250);
  EXPECT_LE(steady.unparked_mean, 5);  // one, half a one and two, and one more
  EXPECT_EQ(run.tuner.status().label, "serial:a");
}

TEST(Source, ThatIsTheLimitMovesNobody) {
  ScenarioProcess loader = line({4e-3, 8e-3, 32e-3}, 0.1);
  loader.source.per_second = 80;
  TunerRun run(8, {loader}, options());
  run.run_until(4);
  const int moves = run.tuner.status().moves;
  run.run_until(20);
  EXPECT_EQ(run.tuner.status().moves, moves);
  EXPECT_EQ(run.tuner.status().label, "source");
}

TEST(ManyStages, AreSharedAndInStrictModeGrouped) {
  std::vector<double> services(12, 2e-3);
  services[5] = 12e-3;
  TunerRun shared(8, {line(services, 0.1)}, options());
  shared.run_until(3);
  EXPECT_GE(shared.stretch(5).per_second, 0.95 * 8 / 34e-3);
  TunerRun strict(8, {line(services, 0.1)}, options(true));
  strict.run_until(3);
  EXPECT_GE(strict.stretch(5).per_second, 0.95 * 2 / 12e-3);
  EXPECT_FALSE(strict.tuner.status().current.groups.empty());
}

TEST(FasterConsumer, GetsItsWorkersBack) {
  TunerRun run(8, {line({4e-3, 8e-3, 32e-3}, 0.1, 44e-3 / 8 / 0.4)}, options());
  run.run_until(8);
  run.plant.set_consumer({.per_second = 1 / (44e-3 / 8 / 0.8)});
  run.run_until(13);
  const TunerRun::Stretch fast = run.stretch(5);
  EXPECT_LE(fast.wait_share, 0.02);
  run.plant.set_consumer({.per_second = 1 / (44e-3 / 8 / 0.3)});
  run.run_until(28);
  EXPECT_GE(run.stretch(1).unparked_mean, 6);  // the shrink memory
  run.run_until(42);
  EXPECT_LE(run.stretch(5).unparked_mean, 4);
}

TEST(Pause, IsLeftOut) {
  TunerRun run(8, {line({4e-3, 8e-3, 32e-3}, 0.1, 44e-3 / 8 / 0.4)}, options());
  run.run_until(5);
  const int moves = run.tuner.status().moves;
  run.plant.pause_consumer(25);
  run.run_until(36);
  EXPECT_EQ(run.tuner.status().moves, moves);
}

TEST(TwoLoaders, ShareTheWorkersByNeed) {
  ScenarioProcess validation = line({2e-3, 2e-3}, 0.1, 20e-3);
  validation.name = "validation";
  TunerRun run(8, {line({4e-3, 8e-3, 32e-3}, 0.1), validation}, options());
  run.run_until(3);
  const TunerRun::Stretch first = run.stretch(5, 0);
  const TunerRun::Stretch second = run.stretch(5, 1);
  EXPECT_GE(second.per_second, 0.95 * 50);
  EXPECT_GE(first.per_second, 0.95 * (8 - 50 * 4e-3) / 44e-3);
}

TEST(Structure, ThatChangesStartsOver) {
  TunerRun run(8, {line({4e-3, 8e-3, 32e-3}, 0.1)}, options());
  run.run_until(4);
  EXPECT_TRUE(run.tuner.status().settled);
  run.set_loaders({line({1e-3, 16e-3}, 0.1), line({2e-3, 2e-3}, 0.1, 20e-3)});
  run.run_until(4.3);
  EXPECT_FALSE(run.tuner.status().settled);
  run.run_until(7);
  EXPECT_GE(run.stretch(4).per_second, 0.95 * (8 - 50 * 4e-3) / 17e-3);
  EXPECT_EQ(run.tuner.status().stages.size(), 4u);
}

TEST(Probation, GoodSettingsStayFromTheFirstStep) {
  TunerRun cold(8, {line({4e-3, 8e-3, 32e-3}, 0.1)}, options());
  cold.run_until(6);
  const TuningStatus learnt = cold.tuner.status();
  ASSERT_TRUE(learnt.best_verified);
  TuningOptions warm = options();
  warm.start = learnt.best_verified;
  for (const StageObservation& stage : learnt.stages) warm.start_stages.push_back(stage.name);
  TunerRun run(8, {line({4e-3, 8e-3, 32e-3}, 0.1)}, warm);
  run.run_until(0.3);
  EXPECT_GE(run.stretch(5).per_second, 0.97 * 8 / 44e-3);
  EXPECT_EQ(run.tuner.status().moves, 0);
}

TEST(Probation, WrongSettingsAreLeft) {
  TuningOptions wrong = options(true);
  wrong.start = Allocation{};
  wrong.start->active = 8;
  wrong.start->strict = true;
  wrong.start->stages = {{.target = 5}, {.target = 2}, {.target = 1}};
  wrong.start_stages = {"a", "b", "c"};
  TunerRun run(8, {line({4e-3, 8e-3, 32e-3}, 0.1)}, wrong);
  run.run_until(8);
  EXPECT_GE(run.stretch(5).per_second, 0.97 * 5 / 32e-3);
}

TEST(Determinism, SameSeedSameDecisions) {
  TunerRun one(8, {line({4e-3, 8e-3, 32e-3}, 0.4)}, options(false, 5));
  TunerRun two(8, {line({4e-3, 8e-3, 32e-3}, 0.4)}, options(false, 5));
  for (int i = 1; i <= 50; ++i) {
    one.run_until(0.1 * i);
    two.run_until(0.1 * i);
    const TuningStatus a = one.tuner.status();
    const TuningStatus b = two.tuner.status();
    ASSERT_EQ(a.windows, b.windows);
    ASSERT_EQ(a.last_reason, b.last_reason);
    for (std::size_t s = 0; s < a.current.stages.size(); ++s)
      ASSERT_EQ(a.current.stages[s].target, b.current.stages[s].target);
  }
}

TEST(Contention, IsLabelledYieldsAndWrongsNoServiceTime) {
  TunerRun run(8, {line({4e-3, 8e-3, 32e-3}, 0.1)}, options());
  run.run_until(4);
  run.machine.set_cores_taken(3);
  run.run_until(5);
  EXPECT_TRUE(run.tuner.status().contended);
  run.run_until(6);
  EXPECT_LT(run.tuner.status().current.active, 8);
  EXPECT_NEAR(run.tuner.status().stages[2].estimate.service_seconds, 32e-3, 1e-3);
  run.machine.set_cores_taken(0);
  run.run_until(16);
  EXPECT_EQ(run.tuner.status().current.active, 8);
  EXPECT_GE(run.stretch(5).per_second, 0.97 * 8 / 44e-3);
}

}  // namespace
}  // namespace weir::test
