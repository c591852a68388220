#include "policies/usl_fit.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace weir::detail {
namespace {

std::vector<Level> law(double service, double a, double b, const std::vector<double>& at) {
  std::vector<Level> levels;
  for (const double n : at)
    levels.push_back({n, service * (1 + a * (n - 1) + b * n * (n - 1)), 0.01, 100});
  return levels;
}

TEST(UslFit, ExactLevelsGiveTheLawBack) {
  const std::optional<UslFit> fit = fit_usl(law(2e-3, 0.05, 0.01, {1, 2, 4, 8, 16}));
  ASSERT_TRUE(fit);
  EXPECT_NEAR(fit->contention, 0.05, 1e-9);
  EXPECT_NEAR(fit->coherence, 0.01, 1e-9);
  EXPECT_NEAR(fit->peak(), std::sqrt(0.95 / 0.01), 1e-6);
}

TEST(UslFit, WhatDoesNotSlowDownHasNoPeakNearby) {
  const std::optional<UslFit> fit = fit_usl(law(2e-3, 0, 0, {1, 2, 4, 8}));
  ASSERT_TRUE(fit);
  EXPECT_GT(fit->peak(), 1e4);
  EXPECT_EQ((UslFit{0.2, 0}.peak()), std::numeric_limits<double>::infinity());
}

TEST(UslFit, WhatIsAllContentionHasItsPeakAtOnce) {
  EXPECT_EQ((UslFit{1.0, 0.01}.peak()), 0);
  EXPECT_EQ((UslFit{1.5, 0.01}.peak()), 0);  // never the root of a negative number
}

TEST(UslFit, FasterWithMoreIsTakenForNoContention) {
  const std::optional<UslFit> fit = fit_usl(law(2e-3, -0.02, 0, {1, 2, 4, 8}));
  ASSERT_TRUE(fit);
  EXPECT_EQ(fit->contention, 0);
}

TEST(UslFit, FourLevelsAreTheFewest) {
  EXPECT_FALSE(fit_usl({}));
  EXPECT_FALSE(fit_usl(law(2e-3, 0.05, 0.01, {1, 2, 4})));
  EXPECT_TRUE(fit_usl(law(2e-3, 0.05, 0.01, {1, 2, 4, 8})));
}

TEST(UslFit, LevelsThatDoNotSayGiveNothing) {
  EXPECT_FALSE(fit_usl(law(2e-3, 0.05, 0.01, {4, 4, 4, 4})));
  std::vector<Level> levels = law(2e-3, 0.05, 0.01, {1, 2, 4, 8});
  levels[2].service_seconds = 0;
  EXPECT_FALSE(fit_usl(levels));
  levels[2].service_seconds = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(fit_usl(levels));
}

}  // namespace
}  // namespace weir::detail
