// What a tuner makes of readings and of people that do not behave, in virtual time. Each guard has
// a mutant in tests/mutants that must fail here.

#include "tests/tuner/tuner_run.hpp"

#include "policies/observer.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace weir::test {
namespace {

constexpr double kBound = 8 / 44e-3;

/// A plant whose readings are spoilt on the way to the tuner.
class SpoiltPlant : public Plant {
 public:
  explicit SpoiltPlant(Plant& plant) : plant_(plant) {}

  [[nodiscard]] Snapshot snapshot() const override {
    Snapshot read = plant_.snapshot();
    if (spoil) spoil(read);
    return read;
  }
  [[nodiscard]] Allocation allocation() const override { return plant_.allocation(); }
  [[nodiscard]] bool apply(const Allocation& allocation) override {
    return plant_.apply(allocation);
  }

  std::function<void(Snapshot&)> spoil;

 private:
  Plant& plant_;
};

class RobustnessTest : public testing::Test {
 protected:
  RobustnessTest()
      : line_(line({4e-3, 8e-3, 32e-3}, 0.1), 8), spoilt_(line_.plant), tuner_(spoilt_, {}) {
    tuner_.watch([this](const detail::TunerLook& look) {
      if (look.seen.valid) return;
      ++left_out_[look.seen.invalid_reason];
    });
  }

  void run_until(double end) {
    while (line_.machine.now() < end - 1e-9) {
      if (line_.machine.now() >= next_look_ - 1e-9)
        next_look_ = line_.machine.now() + tuner_.step();
      line_.machine.advance_to(std::min(next_look_, end));
    }
  }
  // The steady rate over the bound that sharing can reach.
  double efficiency(double seconds = 4) {
    const std::uint64_t before = line_.plant.snapshot().loaders[0].consumer.items;
    const double begin = line_.machine.now();
    run_until(begin + seconds);
    const std::uint64_t after = line_.plant.snapshot().loaders[0].consumer.items;
    return static_cast<double>(after - before) / (line_.machine.now() - begin) / kBound;
  }

  SimulatedLine line_;
  SpoiltPlant spoilt_;
  detail::Tuner tuner_;
  std::map<std::string, int> left_out_;  // windows, by why
  double next_look_ = 0;
};

TEST_F(RobustnessTest, WindowsWithoutCompletionsMoveNobody) {
  run_until(4);
  const int moves = tuner_.status().moves;
  // Nothing seems to happen for two seconds: the counters stand still while time goes on.
  const Snapshot held = line_.plant.snapshot();
  spoilt_.spoil = [held](Snapshot& read) {
    const double now = read.time_seconds;
    read = held;
    read.time_seconds = now;
  };
  run_until(6);
  spoilt_.spoil = nullptr;
  run_until(9);
  EXPECT_LE(tuner_.status().moves, moves + 1);
  EXPECT_GE(efficiency(), 0.97);
}

TEST_F(RobustnessTest, SourceThatGivesNothingForAWhileMovesNobody) {
  run_until(4);
  const TuningStatus before = tuner_.status();
  detail::ScenarioFlow nothing;
  nothing.per_second = 1e-3;
  line_.plant.set_source(nothing);
  run_until(8);
  EXPECT_EQ(tuner_.status().moves, before.moves);
  line_.plant.set_source({});
  EXPECT_GE(efficiency(), 0.95);  // from its first moment
  EXPECT_EQ(tuner_.status().moves, before.moves);
  for (std::size_t i = 0; i < 3; ++i) {
    const double seconds = before.stages[i].estimate.service_seconds;
    EXPECT_NEAR(tuner_.status().stages[i].estimate.service_seconds, seconds, 0.03 * seconds) << i;
  }
}

TEST_F(RobustnessTest, ClockThatGoesBackIsLeftOut) {
  run_until(4);
  const int moves = tuner_.status().moves;
  const double seconds = tuner_.status().seconds;
  spoilt_.spoil = [](Snapshot& read) { read.time_seconds -= 3600; };
  run_until(8);
  EXPECT_EQ(tuner_.status().moves, moves);
  EXPECT_GE(tuner_.status().seconds, seconds);
  EXPECT_GE(efficiency(), 0.97);
  EXPECT_EQ(left_out_["the clock went backwards"], 1);
}

TEST_F(RobustnessTest, ClockThatJumpsAheadIsLeftOut) {
  run_until(4);
  const int moves = tuner_.status().moves;
  spoilt_.spoil = [](Snapshot& read) { read.time_seconds += 3600; };
  run_until(8);
  EXPECT_EQ(tuner_.status().moves, moves);
  EXPECT_LE(tuner_.status().seconds, 60);
  EXPECT_GE(efficiency(), 0.97);
  EXPECT_EQ(left_out_["the clock jumped"], 1);
}

TEST_F(RobustnessTest, ClockThatStandsStillIsLeftOut) {
  run_until(4);
  const int moves = tuner_.status().moves;
  const double then = line_.plant.snapshot().time_seconds;
  spoilt_.spoil = [then](Snapshot& read) { read.time_seconds = then; };
  run_until(6);
  spoilt_.spoil = nullptr;
  run_until(8);
  EXPECT_EQ(tuner_.status().moves, moves);
  EXPECT_GE(efficiency(), 0.97);
}

TEST_F(RobustnessTest, CountersThatGoBackAreLeftOut) {
  run_until(4);
  const int moves = tuner_.status().moves;
  const Snapshot then = line_.plant.snapshot();
  spoilt_.spoil = [then](Snapshot& read) {
    for (std::size_t i = 0; i < read.stages.size(); ++i) {
      read.stages[i].items_in -= then.stages[i].items_in / 2;
      read.stages[i].slot_seconds -= 0.5 * then.stages[i].slot_seconds;
    }
  };
  run_until(8);
  EXPECT_EQ(tuner_.status().moves, moves);
  EXPECT_NEAR(tuner_.status().stages[2].estimate.service_seconds, 32e-3, 1e-3);
  EXPECT_GE(efficiency(), 0.97);
  EXPECT_EQ(left_out_["counters of a went backwards"], 1);
}

TEST_F(RobustnessTest, CountersMayWrap) {
  // All counts are close to their end when the tuner begins.
  spoilt_.spoil = [](Snapshot& read) {
    for (StageSnapshot& stage : read.stages) {
      stage.items_in -= 100;
      stage.items_out -= 100;
      stage.packets -= 100;
    }
    read.loaders[0].consumer.items -= 100;
  };
  run_until(4);
  EXPECT_GE(efficiency(), 0.97);
  EXPECT_NEAR(tuner_.status().stages[2].estimate.service_seconds, 32e-3, 1e-3);
  EXPECT_EQ(left_out_.size(), 1u);  // before the first window alone
}

TEST_F(RobustnessTest, StageThatHangsIsWaitedFor) {
  run_until(4);
  // One item of the last stage takes five seconds more; the others are as before.
  line_.change(2, [](detail::ScenarioStage& stage) { stage.seconds = 5; });
  line_.run(0.02);
  line_.change(2, [](detail::ScenarioStage& stage) { stage.seconds = 32e-3; });
  run_until(12);
  EXPECT_GE(efficiency(), 0.97);
  EXPECT_EQ(tuner_.status().current.active, 8);
}

TEST_F(RobustnessTest, AllWorkersThatHangAreWaitedFor) {
  run_until(4);
  // Whatever begins within a tenth of a second takes five more: soon nothing runs at all.
  for (int i = 0; i < 3; ++i)
    line_.change(i, [](detail::ScenarioStage& stage) { stage.seconds += 5; });
  line_.run(0.1);
  for (int i = 0; i < 3; ++i)
    line_.change(i, [](detail::ScenarioStage& stage) { stage.seconds -= 5; });
  run_until(9);
  EXPECT_EQ(line_.plant.allocation().active, 8);
  run_until(16);
  EXPECT_GE(efficiency(), 0.95);
  EXPECT_EQ(line_.plant.allocation().active, 8);
  EXPECT_NEAR(tuner_.status().stages[2].estimate.service_seconds, 32e-3, 2e-3);
}

TEST_F(RobustnessTest, SourceBeginsAnewInEveryWindow) {
  detail::ScenarioFlow epochs;
  epochs.per_second = 1000;
  epochs.period_seconds = 0.1;
  epochs.duty = 0.9;
  line_.plant.set_source(epochs);
  run_until(4);
  EXPECT_GE(efficiency(6), 0.97);
  EXPECT_LE(tuner_.status().moves, 2);
}

TEST_F(RobustnessTest, EpochsEndInEveryWindow) {
  detail::ScenarioFlow fast;
  fast.per_second = 1000;
  line_.plant.set_consumer(fast);
  run_until(3);
  // A boundary: the consumer does something else for a moment, again and again.
  for (int epoch = 0; epoch < 60; ++epoch) {
    line_.plant.pause_consumer(10e-3);
    run_until(3 + 0.1 * (epoch + 1));
  }
  EXPECT_GE(efficiency(), 0.97);
  EXPECT_LE(tuner_.status().moves, 2);
}

TEST_F(RobustnessTest, HandSettingsAreTheNewStart) {
  run_until(4);
  Allocation by_hand = line_.plant.allocation();
  by_hand.active = 3;
  ASSERT_TRUE(line_.plant.apply(by_hand));
  run_until(4.3);
  EXPECT_EQ(line_.plant.allocation().active, 3);  // not undone at once
  EXPECT_FALSE(tuner_.status().settled);
  run_until(12);
  EXPECT_EQ(line_.plant.allocation().active, 8);  // but tuned on from there
  EXPECT_GE(efficiency(), 0.97);
}

TEST_F(RobustnessTest, HandSettingsDuringTheRampAreTheNewStart) {
  run_until(0.12);
  Allocation by_hand = line_.plant.allocation();
  by_hand.active = 4;
  by_hand.helping = true;
  for (StageAllocation& stage : by_hand.stages) stage = {.target = 4.0 / 3};
  ASSERT_TRUE(line_.plant.apply(by_hand));
  run_until(0.3);
  EXPECT_EQ(line_.plant.allocation().active, 4);
  EXPECT_NEAR(line_.plant.allocation().stages[2].target, 4.0 / 3, 1e-9);
  run_until(8);
  EXPECT_EQ(line_.plant.allocation().active, 8);
  EXPECT_GE(efficiency(), 0.97);
}

TEST_F(RobustnessTest, HandSettingsAgainAndAgainHoldEachTime) {
  run_until(4);
  for (int time = 0; time < 6; ++time) {
    Allocation by_hand = line_.plant.allocation();
    by_hand.active = 2 + time % 3;
    ASSERT_TRUE(line_.plant.apply(by_hand));
    run_until(line_.machine.now() + 0.15);
    EXPECT_EQ(line_.plant.allocation().active, 2 + time % 3) << time;
    run_until(line_.machine.now() + 0.95);
  }
  run_until(line_.machine.now() + 6);
  EXPECT_EQ(line_.plant.allocation().active, 8);
  EXPECT_GE(efficiency(), 0.97);
}

TEST(Robustness, StageWithoutCostNeedsNobody) {
  for (const std::vector<double>& costs :
       {std::vector{0.0, 8e-3, 24e-3}, {8e-3, 0.0, 24e-3}, {8e-3, 24e-3, 0.0}})
    for (const bool strict : {false, true}) {
      TuningOptions options;
      options.strict = strict;
      TunerRun run(8, {line(costs, 0.1)}, options);
      run.run_until(2);
      // Whole workers: one, two and five of the eight.
      EXPECT_GE(run.stretch(5).per_second, 0.95 * (strict ? 5 / 24e-3 : 8 / 32e-3))
          << strict << ' ' << costs[0] << ' ' << costs[1];
      for (const StageObservation& stage : run.tuner.status().stages)
        EXPECT_TRUE(std::isfinite(stage.estimate.demand_seconds));
    }
}

// One reading alone that makes no sense: its window is left out, or soon forgotten.
TEST(Robustness, OneSenselessReadingIsForgotten) {
  double StageSnapshot::*const fields[] = {
      &StageSnapshot::slot_seconds,      &StageSnapshot::slot_seconds_squared,
      &StageSnapshot::running_seconds,   &StageSnapshot::run_queue_seconds,
      &StageSnapshot::cpu_user_seconds,  &StageSnapshot::oldest_running_seconds,
      &StageSnapshot::wait_input_seconds};
  int number = 0;
  for (double StageSnapshot::*const field : fields) {
    for (const double bad :
         {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
      SimulatedLine simulated(line({4e-3, 8e-3, 32e-3}, 0.1), 8);
      SpoiltPlant spoilt(simulated.plant);
      detail::Tuner tuner(spoilt, {});
      const auto run_until = [&](double end) {
        while (simulated.machine.now() < end) {
          const double wait = tuner.step();
          spoilt.spoil = nullptr;
          simulated.run(wait);
        }
      };
      run_until(3);
      spoilt.spoil = [&](Snapshot& read) { read.stages[2].*field = bad; };
      run_until(6);
      const TuningStatus status = tuner.status();
      EXPECT_NEAR(status.stages[2].estimate.service_seconds, 32e-3, 1.6e-3)
          << number << ": " << bad;
      EXPECT_LE(status.stages[2].estimate.relative_error, 0.1) << number << ": " << bad;
      EXPECT_TRUE(status.stages[2].estimate.trusted) << number << ": " << bad;
      EXPECT_GE(simulated.rate(3), 0.97 * kBound) << number << ": " << bad;
    }
    ++number;
  }
}

// Whatever the counters hold, what comes out are numbers, and the next good readings are used.
TEST(Robustness, SenselessReadingsNeverReachAnAllocation) {
  std::mt19937_64 random(3);
  SimulatedLine simulated(line({4e-3, 8e-3, 32e-3}, 0.1), 8);
  SpoiltPlant spoilt(simulated.plant);
  detail::Tuner tuner(spoilt, {});
  const auto bad = [&random]() {
    constexpr double kBad[] = {std::numeric_limits<double>::quiet_NaN(),
                               std::numeric_limits<double>::infinity(),
                               -1e300,
                               1e300,
                               -1.0,
                               0.0};
    return kBad[random() % std::size(kBad)];
  };
  double next = 0;
  for (int round = 0; round < 2000; ++round) {
    if (simulated.machine.now() >= next) {
      spoilt.spoil = [&](Snapshot& read) {
        if (random() % 3 != 0) return;
        StageSnapshot& stage = read.stages[random() % read.stages.size()];
        double* const fields[] = {&stage.slot_seconds,
                                  &stage.slot_seconds_squared,
                                  &stage.running_seconds,
                                  &stage.run_queue_seconds,
                                  &stage.cpu_user_seconds,
                                  &stage.oldest_running_seconds,
                                  &stage.queue.empty_seconds,
                                  &read.time_seconds,
                                  &read.unparked_seconds,
                                  &read.host.cores,
                                  &read.loaders[0].consumer.service_seconds,
                                  &read.loaders[0].consumer.wait_seconds};
        *fields[random() % std::size(fields)] = bad();
      };
      next = simulated.machine.now() + tuner.step();
    }
    simulated.run(0.02);
    const Allocation made = simulated.plant.allocation();
    ASSERT_GE(made.active, 1);
    ASSERT_LE(made.active, 8);
    for (const StageAllocation& stage : made.stages) ASSERT_TRUE(std::isfinite(stage.target));
    const TuningStatus status = tuner.status();
    ASSERT_TRUE(std::isfinite(status.seconds));
    for (const StageObservation& stage : status.stages) {
      ASSERT_TRUE(std::isfinite(stage.estimate.service_seconds));
      ASSERT_TRUE(std::isfinite(stage.running_mean));
    }
  }
}

}  // namespace
}  // namespace weir::test
