#include "policies/best_settings.hpp"

#include "tests/policies/observation_maker.hpp"

#include <gtest/gtest.h>

namespace weir::detail {
namespace {

class BestSettingsTest : public testing::Test {
 protected:
  BestSettingsTest() : seen_(test::known_line(8, {4e-3, 32e-3})) {
    good_ = seen_.current;
    good_.stages[0].target = 1;
    good_.stages[1].target = 7;
    other_ = seen_.current;
    other_.stages[0].target = 4;
    other_.stages[1].target = 4;
    seen_.label = "stage:b";
    seen_.current = good_;
  }
  double kept_target() const { return best_.allocation()->stages[1].target; }

  Observation seen_;
  Allocation good_;
  Allocation other_;
  BestSettings best_{PolicySettings{}};
};

TEST_F(BestSettingsTest, NothingIsKnownBeforeAnOffer) {
  EXPECT_FALSE(best_.known());
  EXPECT_FALSE(best_.allocation());
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(best_.regret(seen_, 1, 0, false));
  best_.offer(seen_, 100, false);
  EXPECT_TRUE(best_.known());
  EXPECT_EQ(best_.per_second(), 100);
}

TEST_F(BestSettingsTest, AWorseAllocationIsNotTakenAndOneAsGoodIs) {
  best_.offer(seen_, 100, false);
  seen_.current = other_;
  best_.offer(seen_, 97, false);  // more than half the dead band below
  EXPECT_EQ(kept_target(), 7);
  EXPECT_EQ(best_.per_second(), 100);
  best_.offer(seen_, 98, false);
  EXPECT_EQ(kept_target(), 4);
}

TEST_F(BestSettingsTest, WhatSomethingElseLimitsIsNoWorse) {
  best_.offer(seen_, 100, false);
  seen_.current = other_;
  best_.offer(seen_, 50, true);
  EXPECT_EQ(kept_target(), 4);
}

TEST_F(BestSettingsTest, TheSameAllocationIsMeasuredAnew) {
  best_.offer(seen_, 100, false);
  best_.offer(seen_, 80, false);
  EXPECT_EQ(best_.per_second(), 80);
}

TEST_F(BestSettingsTest, NothingIsVerifiedWhileOthersTakeTheCpus) {
  seen_.contended = true;
  best_.offer(seen_, 100, false);
  EXPECT_FALSE(best_.known());
}

TEST_F(BestSettingsTest, ChangedCostsMakeItAMemoryOnly) {
  best_.offer(seen_, 100, false);
  best_.make_stale();
  EXPECT_FALSE(best_.known());
  ASSERT_TRUE(best_.allocation());
  seen_.current = other_;
  best_.offer(seen_, 10, false);
  EXPECT_TRUE(best_.known());
  EXPECT_EQ(kept_target(), 4);
}

TEST_F(BestSettingsTest, ThreeWindowsClearlyBelowAreRegretted) {
  best_.offer(seen_, 100, false);
  seen_.current = other_;
  EXPECT_FALSE(best_.regret(seen_, 94, 0, false));
  EXPECT_FALSE(best_.regret(seen_, 94, 0, false));
  EXPECT_TRUE(best_.regret(seen_, 94, 0, false));
}

TEST_F(BestSettingsTest, OnEndMeansOnEnd) {
  best_.offer(seen_, 100, false);
  seen_.current = other_;
  for (int i = 0; i < 5; ++i) {
    EXPECT_FALSE(best_.regret(seen_, 94, 0, false));
    EXPECT_FALSE(best_.regret(seen_, 94, 0, false));
    EXPECT_FALSE(best_.regret(seen_, 96, 0, false));
  }
  EXPECT_FALSE(best_.regret(seen_, 94, 0, false));
  EXPECT_FALSE(best_.regret(seen_, 94, 0, false));
  best_.changed();
  EXPECT_FALSE(best_.regret(seen_, 94, 0, false));
}

TEST_F(BestSettingsTest, NoRegretWithinTheErrorUnderAnotherLabelOrExcused) {
  best_.offer(seen_, 100, false);
  seen_.current = other_;
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(best_.regret(seen_, 94, 0.01, false));
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(best_.regret(seen_, 50, 0, true));
  seen_.label = "source";
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(best_.regret(seen_, 50, 0, false));
  seen_.label = "stage:b";
  seen_.current = good_;  // it cannot go back to itself
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(best_.regret(seen_, 50, 0, false));
  best_.make_stale();
  seen_.current = other_;
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(best_.regret(seen_, 50, 0, false));
}

}  // namespace
}  // namespace weir::detail
