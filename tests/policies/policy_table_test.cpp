#include <weir/policy.hpp>

#include <weir/error.hpp>

#include "policies/allotment.hpp"
#include "tests/policies/observation_maker.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

namespace weir {
namespace {

using testing::HasSubstr;

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

TEST(PolicyTable, EachPolicyCanBeMadeAndHasSettings) {
  EXPECT_EQ(policies().front().name, "balance");
  for (const PolicyInfo& info : policies()) {
    EXPECT_NE(make_policy(info.name, false, PolicySettings{}), nullptr);
    EXPECT_FALSE(info.settings.empty());
    for (const SettingInfo& setting : info.settings) {
      EXPECT_LE(setting.least, setting.default_value) << setting.name;
      EXPECT_GE(setting.most, setting.default_value) << setting.name;
      EXPECT_FALSE(setting.meaning.empty());
      // What is printed can be given back.
      const std::string text = setting.text(setting.default_value);
      EXPECT_NO_THROW((void)make_settings(info.name, {{std::string(setting.name), text}}))
          << setting.name << " " << text;
    }
  }
}

TEST(PolicyTable, UnknownPolicyIsAnsweredWithTheNearest) {
  const std::string text = message_of([] { (void)make_policy("balanse", false, {}); });
  EXPECT_THAT(text, HasSubstr("did you mean 'balance'?"));
  EXPECT_THAT(text, HasSubstr("share, even, fixed"));
}

TEST(PolicySettingsText, UnitsAreRead) {
  const PolicySettings settings = make_settings("balance", {{"window", "250ms"},
                                                            {"dead_band", "7%"},
                                                            {"jitter", "0.1"},
                                                            {"confirm", "3"},
                                                            {"shrink_memory", "2min"},
                                                            {"release_margin", "1.2"}});
  EXPECT_DOUBLE_EQ(settings.window_seconds, 0.25);
  EXPECT_DOUBLE_EQ(settings.dead_band, 0.07);
  EXPECT_DOUBLE_EQ(settings.jitter, 0.1);
  EXPECT_EQ(settings.confirm, 3);
  EXPECT_DOUBLE_EQ(settings.shrink_memory_seconds, 120);
  EXPECT_DOUBLE_EQ(settings.release_margin, 1.2);
}

TEST(PolicySettingsText, MistakesNameWhatIsAllowed) {
  const auto given = [](const char* name, const char* value) {
    return message_of([&] { (void)make_settings("balance", {{name, value}}, "p.yaml:3:5"); });
  };
  EXPECT_THAT(given("windw", "1s"),
              HasSubstr("p.yaml:3:5: policy 'balance' has no setting 'windw'; "
                        "did you mean 'window'?"));
  EXPECT_THAT(given("window", "100"), HasSubstr("a duration with its unit"));
  EXPECT_THAT(given("window", "-1s"), HasSubstr("from 10ms to 10s"));
  EXPECT_THAT(given("window", "1e999s"), HasSubstr("window"));
  EXPECT_THAT(given("dead_band", "200%"), HasSubstr("from 0% to 100%"));
  EXPECT_THAT(given("confirm", "1.5"), HasSubstr("a whole number"));
  EXPECT_THAT(given("confirm", ""), HasSubstr("a whole number"));
  EXPECT_THAT(message_of([] {
                (void)make_settings("even", {{"dead_band", "5%"}});
              }),
              HasSubstr("policy 'even' has no setting 'dead_band'"));
}

int whole_sum(const Allocation& allocation) {
  int total = std::accumulate(allocation.groups.begin(), allocation.groups.end(), 0);
  for (const StageAllocation& stage : allocation.stages)
    if (stage.group < 0) total += static_cast<int>(stage.target);
  return total;
}

TEST(StaticPolicies, EvenSharesAllWorkersAlike) {
  const Observation first = test::known_line(8, {1e-3, 1e-3, 1e-3});
  const Decision shared = make_policy("even", false, {})->start(first, std::nullopt);
  ASSERT_TRUE(shared.allocation);
  EXPECT_EQ(shared.allocation->active, 8);
  EXPECT_NEAR(shared.allocation->stages[1].target, 8.0 / 3, 1e-9);
  const Decision strict = make_policy("even", true, {})->start(first, std::nullopt);
  EXPECT_TRUE(strict.allocation->strict);
  EXPECT_EQ(whole_sum(*strict.allocation), 8);
}

TEST(StaticPolicies, EvenGroupsWhenStagesOutnumberWorkers) {
  const Observation first = test::known_line(3, std::vector<double>(7, 1e-3));
  const Decision strict = make_policy("even", true, {})->start(first, std::nullopt);
  ASSERT_TRUE(strict.allocation);
  EXPECT_EQ(strict.allocation->groups, (std::vector<int>{1, 1, 1}));
  EXPECT_LE(whole_sum(*strict.allocation), 3);
  for (const StageAllocation& stage : strict.allocation->stages) EXPECT_GE(stage.group, 0);
}

TEST(StaticPolicies, ShareStaysAsLongAsThereIsWork) {
  const Observation first = test::known_line(8, {1e-3, 1e-3});
  const Decision decision = make_policy("share", false, {})->start(first, std::nullopt);
  EXPECT_EQ(decision.allocation->stay_slack, Allocation::kUnlimited);
}

TEST(StaticPolicies, FixedKeepsWhatIsThereOrWasLoaded) {
  const Observation first = test::known_line(8, {1e-3, 1e-3});
  EXPECT_FALSE(make_policy("fixed", false, {})->start(first, std::nullopt).allocation);
  Allocation loaded = first.current;
  loaded.active = 3;
  EXPECT_EQ(make_policy("fixed", false, {})->start(first, loaded).allocation->active, 3);
}

TEST(StaticPolicies, FixedHasWholeWorkersInStrictMode) {
  Observation first = test::known_line(8, {1e-3, 1e-3, 1e-3});
  const Decision made = make_policy("fixed", true, {})->start(first, std::nullopt);
  ASSERT_TRUE(made.allocation);
  EXPECT_TRUE(made.allocation->strict);
  EXPECT_EQ(whole_sum(*made.allocation), 8);
  first.current = *made.allocation;
  EXPECT_FALSE(make_policy("fixed", true, {})->start(first, std::nullopt).allocation);
}

TEST(StaticPolicies, NeverMove) {
  for (const char* name : {"fixed", "even", "share"}) {
    const std::unique_ptr<Policy> policy = make_policy(name, false, {});
    Observation seen = test::known_line(8, {1e-3, 9e-3});
    (void)policy->start(seen, std::nullopt);
    for (int i = 0; i < 50; ++i) {
      seen.time_seconds += 0.1;
      EXPECT_FALSE(policy->decide(seen).allocation);
    }
    EXPECT_EQ(policy->standing().moves, 0);
    EXPECT_TRUE(policy->standing().best_verified);
  }
}

TEST(Allotment, HandSettingsHold) {
  Observation seen = test::known_line(8, {1e-3, 1e-3, 1e-3});
  seen.stages[0].serial = true;
  seen.stages[1].fixed_workers = 3;
  seen.stages[2].hand_cap = 2;
  seen.current.stages[2].depth_items = 17;
  const Allocation made = detail::shared_allotment(seen, {4, 4, 4}, 99, 1);
  EXPECT_EQ(made.active, 8);
  EXPECT_EQ(made.stages[0].cap, 1);
  EXPECT_EQ(made.stages[0].target, 1);
  EXPECT_EQ(made.stages[1].cap, 3);
  EXPECT_EQ(made.stages[1].target, 3);
  EXPECT_EQ(made.stages[2].cap, 2);
  EXPECT_EQ(made.stages[2].depth_items, 17);
}

TEST(Allotment, RoundingIsNoDifference) {
  const Observation seen = test::known_line(8, {1e-3, 1e-3});
  const Allocation a = detail::shared_allotment(seen, {2.0, 6.0}, 8, 1);
  EXPECT_FALSE(detail::differs(a, detail::shared_allotment(seen, {2.3, 5.7}, 8, 1)));
  EXPECT_TRUE(detail::differs(a, detail::shared_allotment(seen, {3.0, 5.0}, 8, 1)));
  EXPECT_TRUE(detail::differs(a, detail::shared_allotment(seen, {2.0, 6.0}, 7, 1)));
}

}  // namespace
}  // namespace weir
