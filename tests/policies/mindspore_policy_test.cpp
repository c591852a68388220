#include "policies/mindspore_policy.hpp"

#include "tests/policies/policy_drive.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

namespace weir::detail {
namespace {

using test::known_line;
using test::put_in_force;
using test::targets_of;
using testing::ElementsAre;
using testing::HasSubstr;

class MindsporeTest : public testing::Test {
 protected:
  using RollBack = MindsporePolicy::RollBack;

  void begin(int budget, int stages, RollBack roll_back, int start_workers = 1) {
    seen = known_line(budget, std::vector<double>(static_cast<std::size_t>(stages), 1e-3));
    seen.window_seconds = 0.5;
    for (StageObservation& stage : seen.stages) {
      stage.queue_capacity = 16;
      stage.queue_mean = 4;
    }
    PolicySettings settings;
    settings.start_workers = start_workers;
    policy.emplace(roll_back, false, settings);
    put_in_force(policy->start(seen, std::nullopt).allocation, seen);
  }
  void fill(const std::vector<double>& fillings) {
    for (std::size_t i = 0; i < fillings.size(); ++i)
      seen.stages[i].queue_mean = fillings[i] * static_cast<double>(seen.stages[i].queue_capacity);
  }
  void busy(double share) {
    for (std::size_t i = 0; i < seen.stages.size(); ++i)
      seen.stages[i].cpus_mean = share * seen.current.stages[i].target;
  }
  /// A second in which so many items came; what is asked for at its end.
  Decision round(int items = 100) {
    Decision decision;
    for (int i = 0; i < 2; ++i) {
      seen.loaders[0].items = static_cast<std::uint64_t>(items / 2);
      seen.time_seconds += seen.window_seconds;
      decision = policy->decide(seen);
      put_in_force(decision.allocation, seen);
      for (std::size_t s = 0; s < seen.stages.size(); ++s) {
        const std::int64_t depth = seen.current.stages[s].depth_items;
        const double filling =
            seen.stages[s].queue_mean / static_cast<double>(seen.stages[s].queue_capacity);
        if (depth > 0) seen.stages[s].queue_capacity = depth;
        seen.stages[s].queue_mean = filling * static_cast<double>(seen.stages[s].queue_capacity);
      }
    }
    return decision;
  }
  [[nodiscard]] std::vector<std::int64_t> depths() const {
    std::vector<std::int64_t> all;
    for (const StageAllocation& stage : seen.current.stages) all.push_back(stage.depth_items);
    return all;
  }

  Observation seen;
  std::optional<MindsporePolicy> policy;
};

TEST_F(MindsporeTest, StartsWithTheSameWorkersForEveryStage) {
  begin(8, 3, RollBack::to_first_saved);
  EXPECT_THAT(targets_of(seen.current), ElementsAre(1, 1, 1));
  EXPECT_EQ(seen.active, 3);
  EXPECT_FALSE(seen.current.helping);
  begin(4, 3, RollBack::to_first_saved, 8);
  EXPECT_THAT(targets_of(seen.current), ElementsAre(4, 4, 4));
  EXPECT_EQ(seen.active, 4);
}

TEST_F(MindsporeTest, ChangesNothingWhileTheLastQueueIsThreeQuartersFull) {
  begin(8, 3, RollBack::to_first_saved);
  fill({0.1, 0.1, 0.76});
  busy(1);
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(round().allocation);
  fill({0.1, 0.1, 0.74});
  EXPECT_TRUE(round().allocation);
}

TEST_F(MindsporeTest, EveryStageWithAFullerInputGetsTwoAtOnce) {
  begin(16, 3, RollBack::to_first_saved);
  fill({0.6, 0.2, 0.0});  // 1 - 0.6, 0.6 - 0.2, 0.2 - 0
  busy(0.5);
  (void)round();
  EXPECT_THAT(targets_of(seen.current), ElementsAre(3, 3, 1));
}

TEST_F(MindsporeTest, OrWhenItsWorkersAreBusy) {
  begin(16, 3, RollBack::to_first_saved);
  fill({0.9, 0.7, 0.7});
  busy(0.7);
  seen.stages[1].cpus_mean = 0.76;
  (void)round();
  EXPECT_THAT(targets_of(seen.current), ElementsAre(1, 3, 1));
  // A worker's share, not the stage's.
  busy(0.7);
  EXPECT_FALSE(round().allocation);
}

TEST_F(MindsporeTest, IdleWorkersGetADeeperQueue) {
  begin(16, 3, RollBack::to_first_saved);
  busy(0.34);
  fill({0.7, 0.45, 0.0});  // inputs 1, 0.7 and 0.45
  (void)round();
  EXPECT_THAT(depths(), ElementsAre(0, 0, 20));
  begin(16, 3, RollBack::to_first_saved);
  busy(0.36);
  fill({0.7, 0.45, 0.0});
  (void)round();
  EXPECT_THAT(depths(), ElementsAre(0, 0, 0));
}

TEST_F(MindsporeTest, OutputMuchFullerThanInputDeepensTheQueue) {
  begin(16, 4, RollBack::to_first_saved);
  busy(0.1);
  fill({0.55, 0.95, 0.7, 0.5});  // the second: 0.95 - 0.55
  (void)round();
  EXPECT_THAT(depths(), ElementsAre(0, 20, 0, 0));
}

TEST_F(MindsporeTest, QueuesEndAt128AndWorkersAtTheBudget) {
  begin(8, 2, RollBack::to_best);
  seen.stages[1].queue_capacity = 120;
  fill({0.0, 0.0});
  busy(0);
  for (int i = 0; i < 9; ++i) {
    EXPECT_LE(seen.current.stages[0].target, 8);
    (void)round(100 + i);
  }
  EXPECT_EQ(seen.current.stages[0].target, 8);
  EXPECT_EQ(seen.current.stages[1].depth_items, 128);
  EXPECT_LE(seen.active, 8);
  // What the runtime made deeper stays as deep.
  begin(8, 2, RollBack::to_best);
  seen.stages[1].queue_capacity = 500;
  fill({0.0, 0.0});
  (void)round();
  EXPECT_EQ(seen.current.stages[1].depth_items, 0);
}

TEST_F(MindsporeTest, LeavesSerialStagesAndThoseSetByHand) {
  begin(16, 3, RollBack::to_first_saved);
  seen.stages[0].serial = true;
  seen.stages[1].fixed_workers = 2;
  policy.emplace(RollBack::to_first_saved, false, PolicySettings{});
  put_in_force(policy->start(seen, std::nullopt).allocation, seen);
  fill({0.0, 0.0, 0.0});
  for (int i = 0; i < 4; ++i) {
    busy(1);
    (void)round();
  }
  EXPECT_THAT(targets_of(seen.current), ElementsAre(1, 2, 9));
}

TEST_F(MindsporeTest, RoundsWithoutAStepAndPausesAreLeftOut) {
  begin(16, 3, RollBack::to_first_saved);
  busy(1);
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(round(0).allocation);
  seen.valid = false;
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(round(100).allocation);
  seen.valid = true;
  (void)round(100);
  EXPECT_THAT(targets_of(seen.current), ElementsAre(3, 3, 3));
}

TEST_F(MindsporeTest, AsCodedGoesBackToTheFirstSavedSettings) {
  begin(64, 3, RollBack::to_first_saved);
  fill({0.5, 0.5, 0.5});
  for (const int items : {100, 200, 300, 400}) {
    busy(1);
    (void)round(items);
  }
  EXPECT_THAT(targets_of(seen.current), ElementsAre(9, 9, 9));
  fill({0.8, 0.8, 0.8});
  for (int i = 0; i < 10; ++i) EXPECT_NE(round(400).kind, MoveKind::rollback) << i;
  const Decision decision = round(400);
  EXPECT_EQ(decision.kind, MoveKind::rollback);
  EXPECT_THAT(decision.reason, HasSubstr("11 rounds"));
  EXPECT_THAT(targets_of(seen.current), ElementsAre(3, 3, 3));
}

TEST_F(MindsporeTest, AsMeantGoesBackToTheBest) {
  begin(64, 3, RollBack::to_best);
  fill({0.5, 0.5, 0.5});
  for (const int items : {100, 200, 300, 250}) {
    busy(1);
    (void)round(items);
  }
  EXPECT_THAT(targets_of(seen.current), ElementsAre(9, 9, 9));
  fill({0.8, 0.8, 0.8});
  for (int i = 0; i < 10; ++i) (void)round(299);
  EXPECT_THAT(targets_of(seen.current), ElementsAre(5, 5, 5));
}

TEST_F(MindsporeTest, WithoutAGainTheCodeHasNothingToGoBackTo) {
  for (const RollBack roll_back : {RollBack::to_first_saved, RollBack::to_best}) {
    begin(64, 3, roll_back);
    fill({0.5, 0.5, 0.5});
    for (int i = 0; i < 3; ++i) {
      busy(1);
      (void)round(100);
    }
    fill({0.8, 0.8, 0.8});
    for (int i = 0; i < 9; ++i) (void)round(100);
    const double workers = roll_back == RollBack::to_best ? 1 : 7;
    EXPECT_THAT(targets_of(seen.current), ElementsAre(workers, workers, workers));
  }
}

class MindsporeMemoryTest : public MindsporeTest {
 protected:
  /// Through the time phase without a change.
  void begin_memory_phase() {
    begin(8, 2, RollBack::to_first_saved);
    fill({0.8, 0.8});
    for (int i = 0; i < 12; ++i) (void)round();
  }
};

TEST_F(MindsporeMemoryTest, MakesOneQueueAfterTheOtherSmaller) {
  begin_memory_phase();
  (void)round();
  EXPECT_THAT(depths(), ElementsAre(12, 0));  // 0.8 * 16
  (void)round();                              // as full as before: it stays
  (void)round();
  EXPECT_THAT(depths(), ElementsAre(9, 0));
}

TEST_F(MindsporeMemoryTest, GivesADepthBackThatWasNeeded) {
  begin_memory_phase();
  (void)round();
  fill({0.8, 0.79});  // within 2 %
  (void)round();
  fill({0.8, 0.8});
  (void)round();
  EXPECT_THAT(depths(), ElementsAre(9, 0));
  fill({0.8, 0.78});
  (void)round();
  EXPECT_THAT(depths(), ElementsAre(12, 0));
  (void)round();
  EXPECT_THAT(depths(), ElementsAre(12, 12)) << "the other one's turn";
}

TEST_F(MindsporeMemoryTest, EndsAtOneSlotAWorker) {
  begin_memory_phase();
  for (int i = 0; i < 60; ++i) (void)round();
  EXPECT_THAT(depths(), ElementsAre(1, 1));
  EXPECT_TRUE(policy->standing().settled);
  fill({0.0, 0.0});
  busy(1);
  EXPECT_FALSE(round().allocation) << "it never begins again";
}

}  // namespace
}  // namespace weir::detail
