#include "src/score_table.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/quantity_text.hpp"
#include "src/text_table.hpp"

namespace weir::program {
namespace {

using detail::Measures;
using detail::Score;
using detail::ScoreCard;

std::string workers_text(const Score& score) {
  return fmt::format("{}{}", score.workers, score.strict ? " strict" : "");
}

bool same_run(const Score& a, const Score& b) {
  return a.scenario == b.scenario && a.workers == b.workers && a.strict == b.strict;
}

std::string rows(std::span<const Score> scores) {
  const bool policies = std::any_of(scores.begin(), scores.end(), [&](const Score& score) {
    return score.policy != scores.front().policy;
  });
  std::vector<std::string> head{"scenario", "workers"};
  std::set<std::size_t> left{0};
  if (policies) {
    left.insert(head.size());
    head.emplace_back("policy");
  }
  for (const char* name : {"items/s", "oracle", "efficiency", "worst", "whole run", "settle",
                           "moves", "later", "unparked"})
    head.emplace_back(name);
  left.insert({head.size(), head.size() + 1});
  head.insert(head.end(), {"label", "must"});
  TextTable table(std::move(head), std::move(left));
  const Score* above = nullptr;
  for (const Score& score : scores) {
    const Measures& median = score.median;
    const bool first = above == nullptr || !same_run(*above, score);
    above = &score;
    std::vector<std::string> row{first ? score.scenario : "", first ? workers_text(score) : ""};
    if (policies) row.push_back(score.policy);
    row.insert(
        row.end(),
        {count_text(median.steady_per_second), count_text(median.oracle_per_second),
         fmt::format("{:.3f}", median.efficiency), fmt::format("{:.3f}", score.efficiency_worst),
         fmt::format("{:.3f}", median.efficiency_whole_run),
         fmt::format("{:.1f} s", median.settle_seconds), fmt::format("{}", median.moves),
         fmt::format("{}", median.moves_after_settling),
         fmt::format("{:.1f}/{:.1f}", median.unparked_mean, median.oracle_workers), median.label,
         score.passed() ? "ok" : fmt::format("{} missed", score.missed.size())});
    table.add(std::move(row));
  }
  return table.text();
}

/// Live rates beside those of the simulator with the waits that really happened.
std::string agreement(std::span<const Score> scores, std::span<const TrialCase> cases) {
  if (scores.empty() || scores.front().plant != "live") return {};
  TextTable table({"scenario", "workers", "policy", "live/s", "simulated/s", "ratio", "slower"},
                  {0, 2});
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const double simulated = simulated_per_second(cases[i]);
    const double live = scores[i].median.steady_per_second;
    table.add({scores[i].scenario, workers_text(scores[i]), scores[i].policy, count_text(live),
               count_text(simulated), simulated > 0 ? fmt::format("{:.3f}", live / simulated) : "-",
               fmt::format("{:.1f}x", cases[i].trials.front().time_scale)});
  }
  return "\nThe simulator with the same waits; all times were so much slower than written:\n" +
         table.text();
}

/// "efficiency, unparked": which bounds were missed, without the figures.
std::string missed_names(const Score& score) {
  std::vector<std::string> names;
  for (const std::string& missed : score.missed) {
    std::string name = missed.substr(0, missed.find(':'));
    if (std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(std::move(name));
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

/// In full of the policy that is judged; of the others, which must do nothing, by name.
std::string misses(std::span<const Score> scores, const std::string& judged) {
  const bool alone = std::none_of(scores.begin(), scores.end(),
                                  [&](const Score& score) { return score.policy == judged; });
  std::string text;
  for (const Score& score : scores) {
    if (score.passed()) continue;
    text += fmt::format("{}, {} workers, {}:", score.scenario, workers_text(score), score.policy);
    if (alone || score.policy == judged) {
      text += "\n";
      for (const std::string& missed : score.missed) text += "  " + missed + "\n";
    } else {
      text += " " + missed_names(score) + "\n";
    }
  }
  return text.empty() ? text : "\nMissed:\n" + text;
}

/// All of the policy that is judged, the first few of the others.
std::string losses(const ScoreCard& card, const std::string& judged) {
  constexpr std::size_t kShown = 3;
  const std::size_t shown =
      card.policy == judged ? card.losses.size() : std::min(kShown, card.losses.size());
  std::string text = card.policy + ":\n";
  for (std::size_t i = 0; i < shown; ++i) text += "  " + card.losses[i] + "\n";
  if (shown < card.losses.size())
    text += fmt::format("  and {} more\n", card.losses.size() - shown);
  return text;
}

std::string cards(std::span<const Score> scores, const std::string& judged) {
  const std::vector<ScoreCard> made = detail::score_cards(scores);
  TextTable table({"policy", "geometric mean", "lowest", "in", "settle", "moves", "reversals/min",
                   "violations", "CPU", "unparked", "missed"},
                  {0, 3});
  std::string lost;
  for (const ScoreCard& card : made) {
    table.add(
        {card.policy, fmt::format("{:.3f}", card.efficiency_geometric_mean),
         fmt::format("{:.3f}", card.efficiency_lowest), card.lowest_scenario,
         fmt::format("{:.1f} s", card.settle_seconds_median),
         fmt::format("{:.1f}", card.moves_mean),
         fmt::format("{:.1f}", card.reversals_per_minute_mean),
         fmt::format("{}", card.budget_violations), fmt::format("{:.2f}", card.cpu_share_mean),
         fmt::format("{:.2f}", card.unparked_over_oracle_mean), fmt::format("{}", card.missed)});
    if (!card.losses.empty()) lost += losses(card, judged);
  }
  std::string text = "\n" + table.text();
  if (!lost.empty()) text += "\nMore than 3 points behind another policy:\n" + lost;
  return text;
}

}  // namespace

std::string scores_text(std::span<const Score> scores, std::span<const TrialCase> cases,
                        const std::string& judged) {
  return rows(scores) + agreement(scores, cases) + misses(scores, judged) + cards(scores, judged);
}

}  // namespace weir::program
