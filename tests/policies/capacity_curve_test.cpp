#include "policies/capacity_curve.hpp"

#include "policies/level_table.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace weir::detail {
namespace {

TEST(CapacityCurve, UnknownNeedsNothing) {
  const CapacityCurve curve;
  EXPECT_FALSE(curve.known());
  EXPECT_EQ(curve.at(3), 0);
  EXPECT_EQ(curve.workers_for(100, 8), 0);
  EXPECT_EQ(curve.whole_workers_for(100, 8), 1);
}

TEST(CapacityCurve, ProportionalIsALine) {
  const CapacityCurve curve = CapacityCurve::proportional(2e-3);
  EXPECT_DOUBLE_EQ(curve.at(0.5), 250);
  EXPECT_DOUBLE_EQ(curve.at(8), 4000);
  EXPECT_DOUBLE_EQ(curve.workers_for(1250, 8), 2.5);
  EXPECT_TRUE(std::isinf(curve.workers_for(5000, 8)));
  EXPECT_EQ(curve.whole_workers_for(1250, 8), 3);
  EXPECT_EQ(curve.whole_workers_for(5000, 8), 0);
}

TEST(CapacityCurve, NoiseIsNoCurve) {
  const std::vector<Level> levels = {{1, 2.00e-3, 0.02, 100},
                                     {2, 2.06e-3, 0.02, 100},
                                     {4, 1.98e-3, 0.02, 100},
                                     {6, 2.1e-3, 0.03, 50}};
  EXPECT_TRUE(CapacityCurve::from_levels(levels, 2e-3).is_proportional());
}

TEST(CapacityCurve, ExactButSmallDifferencesAreNoCurve) {
  const std::vector<Level> levels = {{1, 2.00e-3, 0.0001, 1e4}, {4, 2.02e-3, 0.0001, 1e4}};
  EXPECT_TRUE(CapacityCurve::from_levels(levels, 2e-3).is_proportional());
}

TEST(CapacityCurve, PassesThroughClearLevelsAndFallsBeyond) {
  const std::vector<Level> levels = {
      {1, 2e-3, 0.001, 1000}, {2, 2.5e-3, 0.001, 1000}, {4, 6e-3, 0.001, 1000}};
  const CapacityCurve curve = CapacityCurve::from_levels(levels, 3e-3);
  EXPECT_NEAR(curve.at(1), 500, 1e-6);
  EXPECT_NEAR(curve.at(2), 800, 1e-6);
  EXPECT_NEAR(curve.at(3), 0.5 * (800 + 4 / 6e-3), 1e-6);
  EXPECT_LT(curve.at(5), curve.at(4));
  EXPECT_GE(curve.at(100), 0);
  EXPECT_EQ(curve.peak_workers(8), 2);
  EXPECT_EQ(curve.whole_peak_workers(8), 2);
  EXPECT_EQ(curve.whole_workers_for(600, 8), 2);
  EXPECT_NEAR(curve.workers_for(650, 8), 1.5, 1e-6);
}

TEST(CapacityCurve, ExtrapolationIsNeverAboveProportional) {
  const std::vector<Level> levels = {
      {1, 4e-3, 0.001, 1000}, {2, 4e-3, 0.001, 1000}, {4, 5e-3, 0.001, 1000}};
  const CapacityCurve curve = CapacityCurve::from_levels(levels, 4e-3);
  EXPECT_LE(curve.at(8), 8 / 5e-3 + 1e-9);
  EXPECT_GT(curve.at(8), curve.at(4));
}

TEST(LevelTable, StarvedStageCountsAsOneWorker) {
  LevelTable table;
  table.add(0.2, 10, 10 * 2e-3, 10 * 4e-6, 10, 0.05);
  table.add(0.6, 10, 10 * 2e-3, 10 * 4e-6, 10, 0.05);
  table.add(5.8, 40, 40 * 3e-3, 40 * 9e-6, 40, 0.05);
  const std::vector<Level> levels = table.levels();
  ASSERT_EQ(levels.size(), 2u);
  EXPECT_DOUBLE_EQ(levels[0].running, 1);
  EXPECT_NEAR(levels[1].running, 5.8, 1e-9);
  EXPECT_NEAR(levels[1].service_seconds, 3e-3, 1e-9);
  EXPECT_FALSE(table.near(3, 5));
  EXPECT_TRUE(table.near(6.2, 5));
}

TEST(LevelTable, StaysSmallOnLargeMachines) {
  LevelTable table;
  for (int n = 1; n <= 256; ++n) table.add(n, 10, 1, 0.1, 10, 0.05);
  EXPECT_LE(table.levels().size(), 60u);
}

}  // namespace
}  // namespace weir::detail
