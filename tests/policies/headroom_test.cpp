#include "policies/headroom.hpp"

#include "tests/policies/observation_maker.hpp"

#include <gtest/gtest.h>

namespace weir::detail {
namespace {

class HeadroomTest : public testing::Test {
 protected:
  HeadroomTest() : seen_(test::known_line(8, {4e-3, 32e-3})) {}

  void window(double wait, const std::string& label, int need = 3) {
    seen_.time_seconds += 0.1;
    seen_.loaders[0].wait_share = wait;
    seen_.label = label;
    headroom_.note(seen_, need);
  }

  Observation seen_;
  Headroom headroom_{PolicySettings{}};
};

TEST_F(HeadroomTest, ConsumerThatWasHeldLacksAtItsFirstWait) {
  window(0, "consumer");
  EXPECT_FALSE(headroom_.lacking());
  window(0.04, "none");
  EXPECT_TRUE(headroom_.lacking());
}

TEST_F(HeadroomTest, QueuesMayFillForFiveWindowsAfterAChange) {
  for (int i = 0; i < 4; ++i) {
    window(0.5, "none");
    EXPECT_FALSE(headroom_.lacking()) << i;
  }
  window(0.5, "none");
  EXPECT_TRUE(headroom_.lacking());
}

TEST_F(HeadroomTest, WaitsAtTheMarkAreNone) {
  for (int i = 0; i < 10; ++i) window(0.03, "none");
  EXPECT_FALSE(headroom_.lacking());
}

TEST_F(HeadroomTest, OneWindowWithoutAWaitBeginsTheCountAnew) {
  for (int i = 0; i < 4; ++i) window(0.5, "none");
  window(0, "none");
  for (int i = 0; i < 4; ++i) window(0.5, "none");
  EXPECT_FALSE(headroom_.lacking());
}

TEST_F(HeadroomTest, AnotherAllocationHasHeldNothingYet) {
  window(0, "consumer");
  window(0.5, "none");
  ASSERT_TRUE(headroom_.lacking());
  headroom_.changed();
  EXPECT_FALSE(headroom_.lacking());
  window(0.5, "none");
  EXPECT_FALSE(headroom_.lacking());
}

TEST_F(HeadroomTest, WorkersAreReleasedByTheLargestNeedOfTheShrinkMemory) {
  for (int i = 0; i < 149; ++i) window(0, "consumer", i == 100 ? 5 : 3);
  EXPECT_EQ(headroom_.needed(seen_), 0);  // 14.8 s
  for (int i = 0; i < 3; ++i) window(0, "consumer", 3);
  EXPECT_EQ(headroom_.needed(seen_), 5);
  headroom_.forget_needs();
  EXPECT_EQ(headroom_.needed(seen_), 0);
}

TEST_F(HeadroomTest, MarginWidensByATenthUntilCostsChange) {
  EXPECT_NEAR(headroom_.margin(), 1.1, 1e-12);
  headroom_.widen();
  headroom_.widen();
  EXPECT_NEAR(headroom_.margin(), 1.3, 1e-12);
  headroom_.changed();
  EXPECT_NEAR(headroom_.margin(), 1.3, 1e-12);
  headroom_.reset();
  EXPECT_NEAR(headroom_.margin(), 1.1, 1e-12);
}

TEST_F(HeadroomTest, LongestWaitOfThoseThatTakePart) {
  seen_.loaders.push_back(seen_.loaders[0]);
  seen_.loaders.push_back(seen_.loaders[0]);
  seen_.loaders[0].wait_share = 0.2;
  seen_.loaders[1].wait_share = 0.4;
  seen_.loaders[2].wait_share = 0.9;
  seen_.loaders[2].paused = true;
  EXPECT_EQ(most_wait(seen_), 0.4);
  seen_.loaders.clear();
  EXPECT_EQ(most_wait(seen_), 0);
}

}  // namespace
}  // namespace weir::detail
