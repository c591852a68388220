// What the rules of other systems have in common.

#include "policies/wanted_allocation.hpp"

#include "tests/policies/policy_drive.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <tuple>

#include <weir/policy.hpp>

namespace weir::detail {
namespace {

using test::known_line;
using test::put_in_force;
using test::targets_of;

TEST(WantedAllocation, IsAskedForAgainWhileThatBringsItNearer) {
  Observation seen = known_line(8, {1e-3, 1e-3});
  Allocation wanted = seen.current;
  wanted.stages[0].target = 8;
  WantedAllocation request;
  EXPECT_FALSE(request.next(seen));
  request.set(wanted);
  for (const double reached : {5.0, 6.0}) {
    ASSERT_TRUE(request.next(seen)) << reached;
    seen.current.stages[0].target = reached;
  }
  ASSERT_TRUE(request.next(seen));
  EXPECT_FALSE(request.next(seen)) << "asking brought nothing";
  EXPECT_FALSE(request.next(seen));
}

TEST(WantedAllocation, WhatIsAboveTheBudgetIsInForceWhenAllWorkersAre) {
  Observation seen = known_line(8, {1e-3, 1e-3});
  Allocation wanted = seen.current;
  wanted.stages[0].target = 6;
  wanted.active = 20;
  WantedAllocation request;
  request.set(wanted);
  put_in_force(request.next(seen), seen);
  EXPECT_EQ(seen.active, 8);
  EXPECT_FALSE(request.next(seen));
}

class ReferencePolicies : public testing::TestWithParam<std::tuple<const char*, bool>> {};

TEST_P(ReferencePolicies, DecideTheSameAgain) {
  const auto& [name, strict] = GetParam();
  std::vector<std::vector<double>> runs[2];
  for (std::vector<std::vector<double>>& decisions : runs) {
    Observation seen = known_line(12, {1e-3, 2e-3, 8e-3});
    for (StageObservation& stage : seen.stages) {
      stage.items_out_per_second = stage.items_per_second;
      stage.queue_capacity = 24;
    }
    seen.loaders[0].items = 10;
    const std::unique_ptr<Policy> policy = make_policy(name, strict, {});
    put_in_force(policy->start(seen, std::nullopt).allocation, seen);
    for (int i = 0; i < 400; ++i) {
      seen.time_seconds += seen.window_seconds;
      for (StageObservation& stage : seen.stages)
        stage.items_per_second = 80.0 * seen.active + 5 * (i % 7);
      seen.stages[2].cpus_mean = seen.current.stages[2].target;
      const Decision decision = policy->decide(seen);
      put_in_force(decision.allocation, seen);
      decisions.push_back(targets_of(seen.current));
    }
  }
  EXPECT_EQ(runs[0], runs[1]);
}

INSTANTIATE_TEST_SUITE_P(All, ReferencePolicies,
                         testing::Combine(testing::Values("hill_climb", "mindspore",
                                                          "mindspore_meant", "tfdata"),
                                          testing::Bool()));

}  // namespace
}  // namespace weir::detail
