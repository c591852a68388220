#include "tuner/score.hpp"

#include <weir/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace weir::detail {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Scenario scenario_with(const std::map<std::string, double>& must) {
  Scenario scenario;
  scenario.name = "skewed";
  scenario.must = must;
  return scenario;
}

std::vector<Trial> trials_of(const std::vector<double>& efficiencies) {
  std::vector<Trial> trials;
  for (const double efficiency : efficiencies)
    trials.emplace_back().measures.efficiency = efficiency;
  return trials;
}

std::vector<Trial> one_trial(const Measures& measures) {
  std::vector<Trial> trials(1);
  trials.front().measures = measures;
  return trials;
}

TrialOptions options_for(const std::string& policy) {
  TrialOptions options;
  options.policy = policy;
  options.workers = 8;
  return options;
}

TEST(Score, TakesTheMedianOfEachMeasureAndTheWorstEfficiency) {
  std::vector<Trial> trials = trials_of({0.9, 0.99, 0.97});
  trials[0].measures.moves = 5;
  trials[1].measures.moves = 1;
  trials[2].measures.moves = 2;
  trials[1].measures.label = trials[2].measures.label = "stage:c";
  const Score result = score(scenario_with({}), options_for("balance"), trials);
  EXPECT_EQ(result.median.efficiency, 0.97);
  EXPECT_EQ(result.efficiency_worst, 0.9);
  EXPECT_EQ(result.median.moves, 2);
  EXPECT_EQ(result.median.label, "stage:c");
  EXPECT_TRUE(result.passed());
}

TEST(Score, RoundsHalfAMoveUp) {
  std::vector<Trial> trials = trials_of({1, 1});
  trials[0].measures.moves_after_settling = 1;
  const Score result =
      score(scenario_with({{"moves_after_settling", 0}}), options_for("balance"), trials);
  EXPECT_EQ(result.median.moves_after_settling, 1);
  EXPECT_FALSE(result.passed());
}

TEST(Score, SaysWhichBoundWasMissedWithBothFigures) {
  const Score result = score(scenario_with({{"efficiency", 0.97}, {"worst", 0.9}}),
                             options_for("balance"), trials_of({0.95, 0.96, 0.92}));
  EXPECT_THAT(result.missed, ElementsAre("efficiency: 0.950, at least 0.970"));
}

TEST(Score, JudgesEveryBoundInItsDirection) {
  Measures bad;
  bad.oracle_workers = bad.last_oracle_workers = 4;
  bad.start_per_second = 100;
  bad.steady_per_second = 90;
  bad.settle_seconds = bad.reaction_seconds = bad.recovery_seconds = 5;
  bad.moves = bad.moves_after_settling = 5;
  bad.reversals_per_minute = 5;
  bad.unparked_mean = bad.workers_used = 8;
  bad.consumer_wait_share = bad.throttled_share = bad.cost_error = bad.visit_error = 2;
  bad.peak_bytes_share = bad.cpu_share = 2;
  bad.jain = 0.5;
  bad.efficiency = bad.efficiency_whole_run = 0.5;
  Measures good;
  good.oracle_workers = good.last_oracle_workers = 4;
  good.start_per_second = good.steady_per_second = 100;
  good.unparked_mean = good.workers_used = 4;
  good.efficiency = good.efficiency_whole_run = 1;
  for (const MustInfo& must : musts()) {
    const bool least = must.direction == MustInfo::Direction::at_least;
    const Scenario scenario = scenario_with({{std::string(must.name), least ? 0.95 : 1.2}});
    EXPECT_FALSE(score(scenario, options_for("balance"), one_trial(bad)).passed()) << must.name;
    EXPECT_TRUE(score(scenario, options_for("balance"), one_trial(good)).passed()) << must.name;
  }
}

TEST(Score, ShowsAMissThatRoundingWouldHide) {
  Measures measures;
  measures.cpu_share = 1.15004;
  measures.settle_seconds = 2.0003;
  EXPECT_THAT(score(scenario_with({{"cpu", 1.15}, {"settle", 2}}), options_for("balance"),
                    one_trial(measures))
                  .missed,
              ElementsAre("cpu: 1.15004, at most 1.15000", "settle: 2.0003 s, at most 2.0000 s"));
}

TEST(Score, AllowsOneWorkerMoreThanTheOracleHas) {
  Measures measures;
  measures.oracle_workers = 3.2;
  measures.last_oracle_workers = 4;
  measures.unparked_mean = 4.1;
  measures.workers_used = 5;
  const Scenario scenario = scenario_with({{"unparked", 1.15}});
  EXPECT_TRUE(score(scenario, options_for("balance"), one_trial(measures)).passed());
  measures.workers_used = 6;
  EXPECT_THAT(score(scenario, options_for("balance"), one_trial(measures)).missed,
              ElementsAre(HasSubstr("6 workers ran")));
  measures.unparked_mean = 4.3;
  EXPECT_EQ(score(scenario, options_for("balance"), one_trial(measures)).missed.size(), 2u);
}

TEST(Score, MissesAnyViolationOfTheBudgetAndAWrongLabel) {
  std::vector<Trial> trials = trials_of({1, 1, 1});
  trials[2].measures.budget_violations = 2;
  Scenario scenario = scenario_with({});
  scenario.must_label = "consumer";
  EXPECT_THAT(score(scenario, options_for("balance"), trials).missed,
              ElementsAre(HasSubstr("consumer is right"), HasSubstr("2 packets")));
}

TEST(Score, TakesWhatIsNoNumberForAMiss) {
  const Score result = score(scenario_with({{"efficiency", 0.5}}), options_for("balance"),
                             trials_of({std::numeric_limits<double>::quiet_NaN()}));
  EXPECT_FALSE(result.passed());
}

TEST(Score, NamesTheBoundsThatThereAre) {
  try {
    (void)score(scenario_with({{"eficiency", 0.5}}), options_for("balance"), trials_of({1}));
    FAIL() << "an unknown bound was judged";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("efficiency"));
  }
}

std::vector<Score> two_scenarios() {
  std::vector<Score> scores;
  for (const auto& [scenario, policy, efficiency] : {std::tuple("a", "balance", 0.96),
                                                     {"a", "share", 1.0},
                                                     {"b", "balance", 0.98},
                                                     {"b", "share", 0.64}}) {
    Score& own = scores.emplace_back();
    own.scenario = scenario;
    own.policy = policy;
    own.workers = 8;
    own.median.efficiency = efficiency;
    own.efficiency_worst = efficiency - 0.01;
  }
  return scores;
}

TEST(ScoreCards, HaveTheGeometricMeanAndTheLowestOfEachPolicy) {
  const std::vector<ScoreCard> cards = score_cards(two_scenarios());
  ASSERT_EQ(cards.size(), 2u);
  EXPECT_EQ(cards[0].policy, "balance");
  EXPECT_NEAR(cards[0].efficiency_geometric_mean, std::sqrt(0.96 * 0.98), 1e-12);
  EXPECT_NEAR(cards[1].efficiency_geometric_mean, 0.8, 1e-12);
  EXPECT_NEAR(cards[1].efficiency_lowest, 0.63, 1e-12);
  EXPECT_EQ(cards[1].lowest_scenario, "b (8 workers)");
}

TEST(ScoreCards, ListWhereAnotherIsMoreThanThreePointsAhead) {
  std::vector<Score> scores = two_scenarios();
  std::vector<ScoreCard> cards = score_cards(scores);
  EXPECT_THAT(cards[0].losses, ElementsAre("a (8 workers): 0.960, share 1.000"));
  EXPECT_THAT(cards[1].losses, ElementsAre(HasSubstr("b (8 workers): 0.640")));
  scores[1].median.efficiency = 0.99;
  EXPECT_THAT(score_cards(scores)[0].losses, IsEmpty());
  // Runs with other workers are no rivals.
  scores[3].workers = 4;
  EXPECT_THAT(score_cards(scores)[1].losses, IsEmpty());
}

TEST(ScoreCards, CountScenariosWithAMiss) {
  std::vector<Score> scores = two_scenarios();
  scores[0].missed = {"efficiency", "settle"};
  EXPECT_EQ(score_cards(scores)[0].missed, 1);
}

}  // namespace
}  // namespace weir::detail
