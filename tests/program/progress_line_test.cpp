#include "src/progress_line.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weir::program {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

ProgressState half_way() {
  ProgressState state;
  state.name = "resnet50_train";
  state.batches = 84;
  state.total_batches = 200;
  state.elapsed_seconds = 4;
  state.left_seconds = 5;
  state.done_share = 0.42;
  state.items_per_second = 1596;
  state.gap_seconds = 0.00025;
  state.workers = {{"read", 0.4}, {"decode", 5.9}};
  state.active = 7;
  state.budget = 8;
  return state;
}

TEST(ProgressLine, HasTheShapeOfTqdmWithGapAndAllocation) {
  EXPECT_EQ(progress_text(half_way(), {126, false, false}),
            "resnet50_train  42%|########            | 84/200 [00:04<00:05, 1,596 items/s, "
            "gap 0.25 ms, read 0.4 decode 5.9, 7/8 workers]");
}

TEST(ProgressLine, NeverExceedsTheWidth) {
  for (int width = 0; width <= 200; ++width)
    EXPECT_LE(progress_text(half_way(), {width, false, false}).size(),
              static_cast<std::size_t>(width));
}

TEST(ProgressLine, GivesUpTheBarFirstAndTheRateLast) {
  EXPECT_THAT(progress_text(half_way(), {92, false, false}), Not(HasSubstr("|")));
  EXPECT_THAT(progress_text(half_way(), {60, false, false}),
              HasSubstr("1,596 items/s, gap 0.25 ms"));
  EXPECT_THAT(progress_text(half_way(), {60, false, false}), Not(HasSubstr("decode")));
}

TEST(ProgressLine, DrawsEighthsWhereTheTerminalSpeaksUtf8) {
  EXPECT_THAT(progress_text(half_way(), {126, true, false}), HasSubstr("|████████▍           |"));
}

TEST(ProgressLine, ColoursTheGapByTheWaitShare) {
  ProgressState state = half_way();
  EXPECT_THAT(progress_text(state, {120, false, true}), HasSubstr("\x1b[32mgap 0.25 ms\x1b[0m"));
  state.wait_share = 0.8;
  EXPECT_THAT(progress_text(state, {120, false, true}), HasSubstr("\x1b[31mgap"));
}

TEST(ProgressLine, WithoutAnEndThereIsNoBar) {
  ProgressState state = half_way();
  state.total_batches.reset();
  state.left_seconds.reset();
  state.done_share.reset();
  EXPECT_THAT(progress_text(state, {200, false, false}),
              HasSubstr("resnet50_train  84 batches [00:04, 1,596 items/s"));
}

TEST(ProgressLine, SaysWhereTheEndIsABound) {
  ProgressState state = half_way();
  state.total_is_bound = true;
  EXPECT_THAT(progress_text(state, {200, false, false}), HasSubstr("84/<=200"));
}

}  // namespace
}  // namespace weir::program
