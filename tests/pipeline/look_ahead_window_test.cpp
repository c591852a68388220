#include "pipeline/look_ahead_window.hpp"

#include <gtest/gtest.h>

namespace weir::detail {
namespace {

constexpr std::uint64_t kPlenty = std::uint64_t{1} << 30U;

LookAheadWindow::Round round(std::uint64_t files, std::uint64_t late = 0, double hidden = 0,
                             double waited = 0) {
  return {files, files * 100'000, late, hidden, waited, kPlenty, 1024};
}

/// Reads `files` of a storage that gives each `latency` seconds after it was asked for, to a reader
/// that takes one every `pace` seconds where it does not wait.
void read(LookAheadWindow& window, int files, double latency, double pace) {
  for (int i = 0; i < files; ++i) {
    const double hidden = pace * window.files();
    const double waited = latency - hidden;
    window.add(waited > 0 ? round(1, 1, hidden, waited) : round(1));
  }
}

TEST(LookAheadWindow, StaysWhereNothingIsLate) {
  LookAheadWindow window;
  window.add(round(10'000));
  EXPECT_EQ(window.files(), LookAheadWindow::kLeast);
  EXPECT_FALSE(window.is_no_help());
}

TEST(LookAheadWindow, GrowsUntilTheLatencyIsHiddenAndNotFarBeyond) {
  LookAheadWindow window;
  read(window, 5000, 0.010, 100e-6);  // A hundred files ahead hide it.
  EXPECT_GE(window.files(), 100U);
  EXPECT_LE(window.files(), 200U);
  EXPECT_FALSE(window.is_no_help());
}

TEST(LookAheadWindow, ShrinksSlowlyWhenTheStorageIsFastAgain) {
  LookAheadWindow window;
  read(window, 5000, 0.010, 100e-6);
  const std::uint32_t grown = window.files();
  read(window, 10'000, 0.0, 100e-6);
  EXPECT_LT(window.files(), grown);
  read(window, 100'000, 0.0, 100e-6);
  EXPECT_EQ(window.files(), LookAheadWindow::kLeast);
}

TEST(LookAheadWindow, TakesBackAGrowthThatWasOfNoUse) {
  LookAheadWindow window;
  for (int i = 0; i < 200; ++i) window.add(round(1, 1, 0.032, 0.002));
  EXPECT_EQ(window.files(), LookAheadWindow::kLeast);
  EXPECT_TRUE(window.is_no_help());
  EXPECT_NEAR(window.waited_a_file(), 0.002, 1e-9);
}

TEST(LookAheadWindow, NeverExceedsItsMost) {
  LookAheadWindow window;
  read(window, 100'000, 1.0, 100e-6);
  EXPECT_LE(window.files(), LookAheadWindow::kMost);
}

TEST(LookAheadWindow, ObeysBytesAndDescriptorsAtOnce) {
  LookAheadWindow window;
  LookAheadWindow::Round bound = round(1);
  bound.most_bytes = 500'000;
  window.add(bound);
  EXPECT_EQ(window.files(), 5U);
  bound.most_bytes = 1;  // A file larger than all of it is still read ahead, one at a time.
  window.add(bound);
  EXPECT_EQ(window.files(), 1U);
  bound.most_open = 0;
  window.add(bound);
  EXPECT_EQ(window.files(), 0U);
  window.add(round(1));
  EXPECT_EQ(window.files(), LookAheadWindow::kLeast);
}

TEST(LookAheadWindow, AFewStragglersAreNoReasonToGrow) {
  LookAheadWindow window;
  for (int i = 0; i < 200; ++i) {
    window.add(round(1, 1, 0.032, 0.002));
    window.add(round(31));
  }
  EXPECT_EQ(window.files(), LookAheadWindow::kLeast);
}

}  // namespace
}  // namespace weir::detail
