// What the default policy reaches on 200 random pipelines in virtual time. weir_random_report shows
// the distribution and the worst cases.

#include "tests/suite/random_suite.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <string>

#include <fmt/format.h>

namespace weir::detail {

/// Names the tests.
static void PrintTo(const ScenarioStart::Kind& start, std::ostream* to) {
  using Kind = ScenarioStart::Kind;
  *to << (start == Kind::even ? "even" : start == Kind::optimum ? "optimum" : "one_stage");
}

}  // namespace weir::detail

namespace weir::test {
namespace {

constexpr double kMedianEfficiency = 0.97;
constexpr double kFifthPercentile = 0.90;
constexpr double kCalmShare = 0.95;
constexpr int kMostMoves = 5;
constexpr double kFewMovesShare = 0.97;
constexpr double kOfStart = 0.99;
constexpr int kMostSlower = 6;
constexpr double kLonger = 5;

double share_of(const std::vector<SuiteCase>& cases, bool (*holds)(const SuiteCase&)) {
  return static_cast<double>(std::count_if(cases.begin(), cases.end(), holds)) /
         static_cast<double>(cases.size());
}

double efficiency(const SuiteCase& own) { return own.measures.efficiency; }

// One test, since each would simulate them all anew.
TEST(RandomPipelines, AreFastAndCalmAndWithinTheBudget) {
  const std::vector<SuiteCase> cases = run_suite({});
  EXPECT_GE(quantile(cases, 0.5, efficiency), kMedianEfficiency);
  EXPECT_GE(quantile(cases, 0.05, efficiency), kFifthPercentile);
  EXPECT_GE(
      share_of(cases, [](const SuiteCase& c) { return c.measures.moves_after_settling == 0; }),
      kCalmShare);
  EXPECT_GE(share_of(cases, [](const SuiteCase& c) { return c.measures.moves <= kMostMoves; }),
            kFewMovesShare);
  for (const SuiteCase& own : cases)
    EXPECT_EQ(own.measures.budget_violations, 0u) << own.index << ": " << own.text();
}

class RandomPipelinesFrom : public testing::TestWithParam<detail::ScenarioStart::Kind> {};

TEST_P(RandomPipelinesFrom, AreNotSlowerThanTheirStart) {
  SuiteRequest request;
  request.start = GetParam();
  std::vector<int> doubtful;
  for (const SuiteCase& own : run_suite(request))
    if (own.of_start() < kOfStart) doubtful.push_back(own.index);
  if (doubtful.empty()) return;
  // Two runs differ by a few per cent; longer ones tell noise from loss.
  request.indexes = doubtful;
  request.longer = kLonger;
  std::string slower;
  int count = 0;
  for (const SuiteCase& own : run_suite(request)) {
    if (own.of_start() >= kOfStart) continue;
    ++count;
    slower += fmt::format("{}: {:.3f} of the start, {}\n", own.index, own.of_start(), own.text());
  }
  EXPECT_LE(count, kMostSlower) << slower;
}

INSTANTIATE_TEST_SUITE_P(Starts, RandomPipelinesFrom,
                         testing::Values(detail::ScenarioStart::Kind::even,
                                         detail::ScenarioStart::Kind::optimum,
                                         detail::ScenarioStart::Kind::one_stage),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace weir::test
