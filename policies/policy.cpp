#include <weir/policy.hpp>

#include <weir/error.hpp>

#include "policies/balance_policy.hpp"
#include "policies/hill_climb_policy.hpp"
#include "policies/mindspore_policy.hpp"
#include "policies/nearest_name.hpp"
#include "policies/static_policy.hpp"
#include "policies/tfdata_policy.hpp"

#include <algorithm>
#include <functional>
#include <string>

#include <fmt/format.h>

namespace weir {
namespace {

// The static policies look and estimate, and decide nothing.
constexpr std::string_view kLookingSettings[] = {"window",
                                                 "window_least",
                                                 "window_most",
                                                 "jitter",
                                                 "window_completions",
                                                 "alpha_fast",
                                                 "alpha_slow",
                                                 "trust_completions",
                                                 "trust_per_worker",
                                                 "trust_time",
                                                 "matters",
                                                 "drift_change",
                                                 "drift_errors",
                                                 "contention",
                                                 "stay_slack",
                                                 "consumer_hold",
                                                 "consumer_hold_time"};

using detail::HillClimbPolicy;
using detail::MindsporePolicy;
using detail::StaticPolicy;
using detail::TfdataPolicy;

// Of MindSpore's rule alone.
constexpr std::string_view kStartWorkers = "start_workers";

std::vector<SettingInfo> looking_settings() {
  std::vector<SettingInfo> some;
  for (const SettingInfo& info : settings())
    if (std::find(std::begin(kLookingSettings), std::end(kLookingSettings), info.name) !=
        std::end(kLookingSettings))
      some.push_back(info);
  return some;
}

std::vector<SettingInfo> mindspore_settings() {
  std::vector<SettingInfo> some = looking_settings();
  for (const SettingInfo& info : settings())
    if (info.name == kStartWorkers) some.push_back(info);
  return some;
}

std::vector<SettingInfo> balance_settings() {
  std::vector<SettingInfo> all = settings();
  std::erase_if(all, [](const SettingInfo& info) { return info.name == kStartWorkers; });
  return all;
}

struct PolicyRow {
  PolicyInfo info;
  std::function<std::unique_ptr<Policy>(bool strict, const PolicySettings& settings)> make;
};

template <class Made, auto... choice>
std::unique_ptr<Policy> made(bool strict, const PolicySettings& settings) {
  return std::make_unique<Made>(choice..., strict, settings);
}

const std::vector<PolicyRow>& policy_rows() {
  using Choice = StaticPolicy::Choice;
  using RollBack = MindsporePolicy::RollBack;
  static const std::vector<PolicyRow> kRows = {
      {{"balance",
        "the default: ramp, jump to the exact solution, verify each move, park idle workers",
        balance_settings()},
       made<detail::BalancePolicy>},
      {{"share", "no controller: all workers, each stays in its stage while there is work",
        looking_settings()},
       made<StaticPolicy, Choice::share>},
      {{"even", "no controller: all workers, shared out alike; with strict whole and apart",
        looking_settings()},
       made<StaticPolicy, Choice::even>},
      {{"fixed", "keeps the settings in force, or those that were loaded", looking_settings()},
       made<StaticPolicy, Choice::fixed>},
      {{"hill_climb", "to compare with: lets the number of workers swing, as .NET's thread pool",
        looking_settings()},
       made<HillClimbPolicy>},
      {{"mindspore", "to compare with: MindSpore's rule as coded, back to the first saved settings",
        mindspore_settings()},
       made<MindsporePolicy, RollBack::to_first_saved>},
      {{"mindspore_meant", "to compare with: MindSpore's rule as meant, back to the best settings",
        mindspore_settings()},
       made<MindsporePolicy, RollBack::to_best>},
      {{"tfdata", "to compare with: tf.data's latency model, climbed until the budget is used up",
        looking_settings()},
       made<TfdataPolicy>},
  };
  return kRows;
}

}  // namespace

Policy::~Policy() = default;

std::string_view name_of(MoveKind kind) {
  switch (kind) {
    case MoveKind::hold:
      return "hold";
    case MoveKind::start:
      return "start";
    case MoveKind::ramp:
      return "ramp";
    case MoveKind::jump:
      return "jump";
    case MoveKind::move:
      return "move";
    case MoveKind::release:
      return "release";
    case MoveKind::rearm:
      return "rearm";
    case MoveKind::relearn:
      return "relearn";
    case MoveKind::rollback:
      return "rollback";
    case MoveKind::yield:
      return "yield";
    case MoveKind::recover:
      return "recover";
    case MoveKind::probe:
      return "probe";
    case MoveKind::depth:
      return "depth";
  }
  return "hold";
}

std::string_view name_of(Outcome::Verdict verdict) {
  switch (verdict) {
    case Outcome::Verdict::kept:
      return "kept";
    case Outcome::Verdict::rolled_back:
      return "rolled_back";
    case Outcome::Verdict::undecided:
      return "undecided";
  }
  return "undecided";
}

const std::vector<PolicyInfo>& policies() {
  static const std::vector<PolicyInfo> kPolicies = [] {
    std::vector<PolicyInfo> all;
    for (const PolicyRow& row : policy_rows()) all.push_back(row.info);
    return all;
  }();
  return kPolicies;
}

const PolicyInfo& policy_info(std::string_view name, const std::string& where) {
  std::vector<std::string_view> names;
  for (const PolicyInfo& info : policies()) {
    if (info.name == name) return info;
    names.push_back(info.name);
  }
  throw Error(ErrorKind::usage, where,
              fmt::format("there is no policy '{}'{} Known are: {}", name,
                          detail::did_you_mean(name, names), detail::listed(names)));
}

std::unique_ptr<Policy> make_policy(std::string_view name, bool strict,
                                    const PolicySettings& settings) {
  const std::string_view known = policy_info(name).name;
  const auto row = std::find_if(policy_rows().begin(), policy_rows().end(),
                                [&](const PolicyRow& each) { return each.info.name == known; });
  return row->make(strict, settings);
}

}  // namespace weir
