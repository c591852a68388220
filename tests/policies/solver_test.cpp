#include "policies/solver.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace weir::detail {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

StageNeed need(double service_seconds, int most, double visits = 1) {
  StageNeed stage;
  stage.curve = CapacityCurve::proportional(service_seconds);
  stage.most = most;
  stage.visits = visits;
  return stage;
}

Problem line(int workers, const std::vector<double>& services) {
  Problem problem;
  problem.workers = workers;
  problem.limits = {kInfinity};
  for (const double service : services) problem.stages.push_back(need(service, workers));
  return problem;
}

double capacity(const StageNeed& stage, int n) {
  return stage.curve.at(std::min(n, stage.most)) / stage.visits;
}

struct Best {
  double per_second = 0;
  int workers = 0;
};

// Every way to give each stage at least one worker.
void try_all(const Problem& problem, std::size_t stage, int left, int used, double x, Best& best) {
  if (stage == problem.stages.size()) {
    const double got = std::min(x, problem.limits[0]);
    const bool better = got > best.per_second * (1 + 1e-9);
    const bool cheaper = got >= best.per_second * (1 - 1e-9) && used < best.workers;
    if (better || cheaper) best = {std::max(got, best.per_second), used};
    return;
  }
  const int others = static_cast<int>(problem.stages.size() - stage) - 1;
  for (int n = 1; n <= std::min(left - others, problem.stages[stage].most); ++n)
    try_all(problem, stage + 1, left - n, used + n, std::min(x, capacity(problem.stages[stage], n)),
            best);
}

Problem random_problem(std::mt19937_64& random, bool with_levels) {
  std::uniform_int_distribution<int> stages(1, 4);
  std::uniform_real_distribution<double> log_cost(-1.0, 1.0);
  std::uniform_real_distribution<double> unit(0.0, 1.0);
  const int count = stages(random);
  Problem problem;
  problem.workers = std::uniform_int_distribution<int>(count, 12)(random);
  problem.limits = {kInfinity};
  for (int i = 0; i < count; ++i) {
    StageNeed stage =
        need(1e-3 * std::pow(10.0, log_cost(random)), problem.workers, 0.25 + 4 * unit(random));
    if (unit(random) < 0.2) stage.most = 1;
    if (with_levels && unit(random) < 0.5) {
      // Exact levels of a stage that slows itself down, up to falling again.
      const double s = 1e-3 * std::pow(10.0, log_cost(random));
      const double a = 0.3 * unit(random);
      const double b = 0.05 * unit(random);
      std::vector<Level> levels;
      for (int n = 1; n <= problem.workers; n += 1 + (n > 2))
        levels.push_back({double(n), s * (1 + a * (n - 1) + b * n * (n - 1)), 0.0, 1000});
      stage.curve = CapacityCurve::from_levels(levels, s);
    }
    problem.stages.push_back(std::move(stage));
  }
  if (unit(random) < 0.3) problem.limits[0] = 500 * unit(random) + 1;
  return problem;
}

class SolverAgainstSearch : public testing::TestWithParam<bool> {};

TEST_P(SolverAgainstSearch, WholeWorkersAreOptimalAndFewest) {
  std::mt19937_64 random(7);
  for (int instance = 0; instance < 400; ++instance) {
    const Problem problem = random_problem(random, GetParam());
    Best best;
    try_all(problem, 0, problem.workers, 0, kInfinity, best);
    const Solution found = solve_whole(problem);
    ASSERT_EQ(found.workers.size(), problem.stages.size()) << instance;
    EXPECT_NEAR(found.per_second[0], best.per_second, 1e-6 * best.per_second) << instance;
    EXPECT_EQ(static_cast<int>(found.total), best.workers) << instance;
    EXPECT_LE(found.total, problem.workers);
    for (std::size_t i = 0; i < problem.stages.size(); ++i) {
      EXPECT_GE(capacity(problem.stages[i], static_cast<int>(found.workers[i])),
                found.per_second[0] * (1 - 1e-6));
      EXPECT_LE(found.workers[i], problem.stages[i].most);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(LinearAndNot, SolverAgainstSearch, testing::Bool());

TEST(Solver, GreedyAgreesOnLinearLines) {
  std::mt19937_64 random(11);
  for (int instance = 0; instance < 400; ++instance) {
    Problem problem = random_problem(random, false);
    problem.limits = {kInfinity};
    std::vector<int> workers(problem.stages.size(), 1);
    for (int left = problem.workers - static_cast<int>(workers.size()); left > 0; --left) {
      std::size_t slowest = 0;
      for (std::size_t i = 1; i < workers.size(); ++i)
        if (capacity(problem.stages[i], workers[i]) <
            capacity(problem.stages[slowest], workers[slowest]))
          slowest = i;
      ++workers[slowest];
    }
    double greedy = kInfinity;
    for (std::size_t i = 0; i < workers.size(); ++i)
      greedy = std::min(greedy, capacity(problem.stages[i], workers[i]));
    EXPECT_NEAR(solve_whole(problem).per_second[0], greedy, 1e-6 * greedy) << instance;
  }
}

TEST(Solver, SharedReachesTheBoundOfALinearLine) {
  const Solution found = solve_shared(line(8, {4e-3, 8e-3, 32e-3}));
  EXPECT_NEAR(found.per_second[0], 8 / 44e-3, 1e-6);
  EXPECT_NEAR(found.total, 8, 1e-6);
  EXPECT_NEAR(found.workers[2], 8 * 32.0 / 44.0, 1e-6);
}

TEST(Solver, SharedNeverUsesMoreThanThereAreAndIsNeverBelowWhole) {
  std::mt19937_64 random(13);
  for (int instance = 0; instance < 400; ++instance) {
    const Problem problem = random_problem(random, instance % 2 == 1);
    const Solution shared = solve_shared(problem);
    EXPECT_LE(shared.total, problem.workers * (1 + 1e-6)) << instance;
    EXPECT_GE(shared.per_second[0], solve_whole(problem).per_second[0] * (1 - 1e-6)) << instance;
    for (std::size_t i = 0; i < problem.stages.size(); ++i)
      EXPECT_GE(problem.stages[i].curve.at(shared.workers[i]) / problem.stages[i].visits,
                shared.per_second[0] * (1 - 1e-6));
  }
}

TEST(Solver, ConsumerLimitFreesWorkers) {
  Problem problem = line(8, {4e-3, 8e-3, 32e-3});
  problem.limits[0] = 80;
  EXPECT_NEAR(solve_shared(problem).total, 80 * 44e-3, 1e-6);
  EXPECT_EQ(solve_whole(problem).workers, (std::vector<double>{1, 1, 3}));
}

TEST(Solver, SerialStageLimitsTheRest) {
  Problem problem = line(8, {4e-3, 2e-3, 8e-3});
  problem.stages[0].most = 1;
  const Solution found = solve_whole(problem);
  EXPECT_NEAR(found.per_second[0], 250, 1e-6);
  EXPECT_EQ(found.workers, (std::vector<double>{1, 1, 2}));
}

TEST(Solver, FallingCurveIsNotPassed) {
  Problem problem = line(8, {1e-3, 1e-3});
  const std::vector<Level> levels = {
      {1, 4e-3, 0.001, 1000}, {2, 4e-3, 0.001, 1000}, {4, 10e-3, 0.001, 1000}};
  problem.stages[1].curve = CapacityCurve::from_levels(levels, 4e-3);
  const Solution found = solve_whole(problem);
  EXPECT_EQ(found.workers[1], 2);
  EXPECT_NEAR(found.per_second[0], 500, 1e-6);
}

TEST(Solver, UnknownStageGetsAWorkerAndSetsNoLimit) {
  Problem problem = line(4, {1e-3, 1e-3});
  problem.stages[1].curve = CapacityCurve();
  const Solution whole = solve_whole(problem);
  EXPECT_EQ(whole.workers[1], 1);
  EXPECT_EQ(whole.workers[0], 3);
  EXPECT_EQ(solve_shared(problem).workers[1], 0);
}

TEST(Solver, StageSetByHandKeepsItsWorkers) {
  Problem problem = line(8, {1e-3, 1e-3, 1e-3});
  problem.stages[1].fixed = problem.stages[1].most = 4;
  const Solution found = solve_whole(problem);
  EXPECT_EQ(found.workers, (std::vector<double>{2, 4, 2}));
}

TEST(Solver, LoadersShareByTheLeastRate) {
  Problem problem;
  problem.workers = 10;
  problem.limits = {kInfinity, 50};
  problem.stages = {need(10e-3, 10), need(20e-3, 10)};
  problem.stages[1].loader = 1;
  const Solution found = solve_shared(problem);
  EXPECT_NEAR(found.per_second[1], 50, 1e-6);
  EXPECT_NEAR(found.per_second[0], 9 / 10e-3, 1e-3);
}

// Every cut of the line into single stages with any workers and runs of stages with one worker.
double best_grouping(const Problem& problem, std::size_t begin, int left) {
  if (begin == problem.stages.size()) return kInfinity;
  double best = 0;
  double demand = 0;
  for (std::size_t end = begin + 1; end <= problem.stages.size(); ++end) {
    const StageNeed& last = problem.stages[end - 1];
    demand += last.visits / last.curve.at(1);
    const int most = end - begin == 1 ? std::min(left, last.most) : std::min(left, 1);
    for (int n = 1; n <= most; ++n) {
      const double own = end - begin == 1 ? capacity(last, n) : 1 / demand;
      best = std::max(best, std::min(own, best_grouping(problem, end, left - n)));
    }
  }
  return best;
}

TEST(Solver, MoreStagesThanWorkersAreGroupedBestly) {
  std::mt19937_64 random(17);
  std::uniform_real_distribution<double> log_cost(-1.0, 1.0);
  for (int instance = 0; instance < 200; ++instance) {
    const int workers = std::uniform_int_distribution<int>(1, 4)(random);
    const int count = std::uniform_int_distribution<int>(workers + 1, workers + 4)(random);
    std::vector<double> services;
    for (int i = 0; i < count; ++i) services.push_back(1e-3 * std::pow(10.0, log_cost(random)));
    const Problem problem = line(workers, services);
    const Solution found = solve_whole(problem);
    ASSERT_TRUE(found.grouped());
    const double best = best_grouping(problem, 0, workers);
    EXPECT_NEAR(found.per_second[0], best, 1e-6 * best) << instance;
    EXPECT_NEAR(held_by(problem, found)[0], best, 1e-6 * best) << instance;
    EXPECT_LE(found.total, workers);
    // Groups are runs of adjacent stages, numbered from the source.
    int last = -1;
    for (const int group : found.group) {
      if (group >= 0) {
        EXPECT_TRUE(group == last || group == last + 1);
        last = group;
      }
    }
  }
}

}  // namespace
}  // namespace weir::detail
