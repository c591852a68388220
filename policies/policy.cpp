#include <weir/policy.hpp>

#include <weir/error.hpp>

#include "policies/balance_policy.hpp"
#include "policies/nearest_name.hpp"
#include "policies/static_policy.hpp"

#include <algorithm>
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

std::vector<SettingInfo> looking_settings() {
  std::vector<SettingInfo> some;
  for (const SettingInfo& info : settings())
    if (std::find(std::begin(kLookingSettings), std::end(kLookingSettings), info.name) !=
        std::end(kLookingSettings))
      some.push_back(info);
  return some;
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
  static const std::vector<PolicyInfo> kPolicies = {
      {"balance",
       "the default: ramp, jump to the exact solution, verify each move, park idle workers",
       settings()},
      {"share", "no controller: all workers, each stays in its stage while there is work",
       looking_settings()},
      {"even", "no controller: all workers, shared out alike; with strict whole and apart",
       looking_settings()},
      {"fixed", "keeps the settings in force, or those that were loaded", looking_settings()},
  };
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
  using Choice = detail::StaticPolicy::Choice;
  if (known == "share")
    return std::make_unique<detail::StaticPolicy>(Choice::share, strict, settings);
  if (known == "even")
    return std::make_unique<detail::StaticPolicy>(Choice::even, strict, settings);
  if (known == "fixed")
    return std::make_unique<detail::StaticPolicy>(Choice::fixed, strict, settings);
  return std::make_unique<detail::BalancePolicy>(strict, settings);
}

}  // namespace weir
