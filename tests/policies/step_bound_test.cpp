#include "policies/step_bound.hpp"

#include "tests/policies/observation_maker.hpp"

#include <gtest/gtest.h>

namespace weir::detail {
namespace {

class StepBoundTest : public testing::Test {
 protected:
  StepBoundTest() : seen_(test::known_line(16, {4e-3, 32e-3})) {
    for (StageObservation& stage : seen_.stages) stage.running_mean = 0;
    bound_.begin(seen_);
  }
  bool lowered(double first, double second) {
    wanted_ = seen_.current;
    wanted_.stages[0].target = first;
    wanted_.stages[1].target = second;
    return bound_.apply(seen_, wanted_);
  }

  Observation seen_;
  Allocation wanted_;
  StepBound bound_;
};

TEST_F(StepBoundTest, BeginsWithTwiceOneWorker) {
  EXPECT_FALSE(lowered(2, 2));
  EXPECT_TRUE(lowered(1, 2.5));
  EXPECT_EQ(wanted_.stages[0].target, 1);
  EXPECT_EQ(wanted_.stages[1].target, 2);
}

TEST_F(StepBoundTest, GrowsWithWhatRanAndWithWhatIsSet) {
  seen_.stages[1].running_mean = 2.2;  // three workers have been there
  bound_.note(seen_);
  EXPECT_EQ(bound_.most(1), 6);
  wanted_ = seen_.current;
  wanted_.stages[0].target = 1;
  wanted_.stages[1].target = 5;
  bound_.note(wanted_);
  EXPECT_EQ(bound_.most(0), 2);
  EXPECT_EQ(bound_.most(1), 10);
}

TEST_F(StepBoundTest, RemembersTheHighestAndForgetsItWithOtherStages) {
  seen_.stages[1].running_mean = 4;
  bound_.note(seen_);
  seen_.stages[1].running_mean = 1;
  bound_.note(seen_);
  EXPECT_EQ(bound_.most(1), 8);
  bound_.begin(seen_);
  EXPECT_EQ(bound_.most(1), 2);
}

TEST_F(StepBoundTest, RoundingRaisesNoLevel) {
  seen_.stages[1].running_mean = 3 + 1e-12;
  bound_.note(seen_);
  EXPECT_EQ(bound_.most(1), 6);
  EXPECT_FALSE(lowered(1, 6 + 1e-12));
}

TEST_F(StepBoundTest, GroupsAndStagesSetByHandHaveNone) {
  seen_.stages[0].fixed_workers = 9;
  wanted_ = seen_.current;
  wanted_.stages[0].target = 9;
  wanted_.stages[1].target = 9;
  wanted_.stages[1].group = 0;
  EXPECT_FALSE(bound_.apply(seen_, wanted_));
  EXPECT_EQ(wanted_.stages[0].target, 9);
  EXPECT_EQ(wanted_.stages[1].target, 9);
}

}  // namespace
}  // namespace weir::detail
