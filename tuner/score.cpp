#include "tuner/score.hpp"

#include <weir/error.hpp>

#include "policies/nearest_name.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>

#include <fmt/format.h>

namespace weir::detail {
namespace {

using Unit = MustInfo::Unit;
using Direction = MustInfo::Direction;

constexpr double kLossPoints = 0.03;
constexpr double kLeastEfficiency = 1e-3;  // a run that gave nothing must not void a whole mean
constexpr double kRounding = 1e-9;

/// How many workers more than the oracle's are allowed by a bound of `times`.
double most_workers(double oracle, double times) { return std::max(oracle + 1, times * oracle); }

double ratio(double a, double b) {
  if (b > 0) return a / b;
  return a > 0 ? std::numeric_limits<double>::infinity() : 1.0;
}

/// The figure that a bound is for. `unparked` is the one that is judged otherwise.
struct Rule {
  MustInfo info;
  double (*figure)(const Score&);
};

constexpr Rule kRules[] = {
    {{"efficiency", "steady rate over the oracle"},
     [](const Score& s) { return s.median.efficiency; }},
    {{"worst", "the same, the worst of the repeats"},
     [](const Score& s) { return s.efficiency_worst; }},
    {{"whole_run", "all items over what the oracle gives meanwhile, learning included"},
     [](const Score& s) { return s.median.efficiency_whole_run; }},
    {{"of_start", "steady rate over that of the start allocation, held"},
     [](const Score& s) { return ratio(s.median.steady_per_second, s.median.start_per_second); }},
    {{"settle", "time of the last change before the first quiet 3 s", Unit::seconds,
      Direction::at_most},
     [](const Score& s) { return s.median.settle_seconds; }},
    {{"moves", "changes after the ramp", Unit::count, Direction::at_most},
     [](const Score& s) { return double(s.median.moves); }},
    {{"moves_after_settling", "changes that neither the start nor an event asked for", Unit::count,
      Direction::at_most},
     [](const Score& s) { return double(s.median.moves_after_settling); }},
    {{"reversals", "changes a minute at which a stage's target turned round", Unit::count,
      Direction::at_most},
     [](const Score& s) { return s.median.reversals_per_minute; }},
    {{"reaction", "time from an event to the next change or other label", Unit::seconds,
      Direction::at_most},
     [](const Score& s) { return s.median.reaction_seconds; }},
    {{"recovery", "time from the last event to 95 % of the oracle", Unit::seconds,
      Direction::at_most},
     [](const Score& s) { return s.median.recovery_seconds; }},
    {{"unparked",
      "unparked workers, and workers that ran, over the oracle's; one more is always allowed",
      Unit::count, Direction::at_most},
     nullptr},
    {{"consumer_wait", "share of the steady time that the consumer waits", Unit::share,
      Direction::at_most},
     [](const Score& s) { return s.median.consumer_wait_share; }},
    {{"throttled", "share of the quota's periods in which threads were stopped", Unit::share,
      Direction::at_most},
     [](const Score& s) { return s.median.throttled_share; }},
    {{"cost_error", "largest error of a stage's service time at the end", Unit::share,
      Direction::at_most},
     [](const Score& s) { return s.median.cost_error; }},
    {{"visit_error", "largest error of a stage's visits at the end", Unit::share,
      Direction::at_most},
     [](const Score& s) { return s.median.visit_error; }},
    {{"bytes", "most bytes held, one item a worker and one batch apart, over the bound",
      Unit::share, Direction::at_most},
     [](const Score& s) { return s.median.peak_bytes_share; }},
    {{"cpu", "CPU seconds an item over the oracle's", Unit::share, Direction::at_most},
     [](const Score& s) { return s.median.cpu_share; }},
    {{"jain", "Jain's index of the processes' shares"},
     [](const Score& s) { return s.median.jain; }},
};

template <class Value>
double median_of(std::vector<Value> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  if (values.size() % 2 == 1) return static_cast<double>(values[half]);
  return 0.5 * (static_cast<double>(values[half - 1]) + static_cast<double>(values[half]));
}

template <class Value>
void take_median(std::span<const Trial> trials, Value Measures::*field, Measures& into) {
  std::vector<Value> values;
  for (const Trial& trial : trials) values.push_back(trial.measures.*field);
  const double median = median_of(std::move(values));
  // Half a move would read as none.
  into.*field = static_cast<Value>(std::is_integral_v<Value> ? std::ceil(median) : median);
}

std::string commonest_label(std::span<const Trial> trials) {
  std::map<std::string, int> counts;
  for (const Trial& trial : trials) ++counts[trial.measures.label];
  return std::max_element(counts.begin(), counts.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

Measures medians(std::span<const Trial> trials) {
  Measures median;
  for (double Measures::*field : {&Measures::oracle_per_second, &Measures::strict_oracle_per_second,
                                  &Measures::start_per_second,  &Measures::steady_per_second,
                                  &Measures::efficiency,        &Measures::efficiency_whole_run,
                                  &Measures::settle_seconds,    &Measures::reversals_per_minute,
                                  &Measures::reaction_seconds,  &Measures::recovery_seconds,
                                  &Measures::unparked_mean,     &Measures::workers_used,
                                  &Measures::oracle_workers,    &Measures::last_oracle_workers,
                                  &Measures::wanted_excess,     &Measures::consumer_wait_share,
                                  &Measures::throttled_share,   &Measures::cost_error,
                                  &Measures::visit_error,       &Measures::cpu_share,
                                  &Measures::peak_bytes_share,  &Measures::jain})
    take_median(trials, field, median);
  take_median(trials, &Measures::moves, median);
  take_median(trials, &Measures::moves_after_settling, median);
  take_median(trials, &Measures::probes, median);
  // A promise is not kept by most runs: all of them count.
  for (const Trial& trial : trials) median.budget_violations += trial.measures.budget_violations;
  median.label = commonest_label(trials);
  return median;
}

std::string text_of(double value, Unit unit, int more_digits) {
  switch (unit) {
    case Unit::share:
      return fmt::format("{:.{}f}", value, 3 + more_digits);
    case Unit::seconds:
      return fmt::format("{:.{}f} s", value, 2 + more_digits);
    case Unit::count:
      break;
  }
  return fmt::format("{:.{}g}", value, 3 + more_digits);
}

/// "1.1504, at most 1.1500": a figure beyond its bound, with as many digits as it takes to see
/// that.
std::string missed_by(double figure, const char* of_what, const char* bounded, double bound,
                      Unit unit) {
  constexpr int kMostMore = 9;
  int more = 0;
  while (more < kMostMore && text_of(figure, unit, more) == text_of(bound, unit, more)) ++more;
  return fmt::format("{}{}, {} {}", text_of(figure, unit, more), of_what, bounded,
                     text_of(bound, unit, more));
}

void judge_unparked(const Score& score, double times, std::vector<std::string>& missed) {
  const Measures& m = score.median;
  const double most = most_workers(m.oracle_workers, times);
  if (m.unparked_mean > most + kRounding)
    missed.push_back(fmt::format(
        "unparked: {} (oracle {:.2f})",
        missed_by(m.unparked_mean, " workers", "at most", most, Unit::count), m.oracle_workers));
  const double last = most_workers(m.last_oracle_workers, times);
  if (m.workers_used > last + kRounding)
    missed.push_back(fmt::format(
        "unparked: {} (oracle {:.2f})",
        missed_by(m.workers_used, " workers ran at the end", "at most", last, Unit::count),
        m.last_oracle_workers));
}

void judge(const Score& score, const Rule& rule, double bound, std::vector<std::string>& missed) {
  if (rule.figure == nullptr) return judge_unparked(score, bound, missed);
  const double figure = rule.figure(score);
  const bool least = rule.info.direction == Direction::at_least;
  // Written so that a figure that is no number is a miss.
  if (least ? figure >= bound - kRounding : figure <= bound + kRounding) return;
  missed.push_back(
      fmt::format("{}: {}", rule.info.name,
                  missed_by(figure, "", least ? "at least" : "at most", bound, rule.info.unit)));
}

const Rule& rule_named(std::string_view name, const std::string& where) {
  std::vector<std::string_view> names;
  for (const Rule& rule : kRules) {
    if (rule.info.name == name) return rule;
    names.push_back(rule.info.name);
  }
  throw Error(ErrorKind::usage, where,
              fmt::format("no bound is called '{}'; there are {}", name, listed(names)));
}

bool comparable(const Score& a, const Score& b) {
  return a.scenario == b.scenario && a.workers == b.workers && a.strict == b.strict &&
         a.plant == b.plant;
}

/// One sentence where another policy is clearly better; empty: none is.
std::string loss(const Score& own, std::span<const Score> scores) {
  const Score* best = &own;
  for (const Score& other : scores)
    if (comparable(own, other) && other.median.efficiency > best->median.efficiency) best = &other;
  if (best->median.efficiency <= own.median.efficiency + kLossPoints + kRounding) return {};
  return fmt::format("{} ({} workers{}): {:.3f}, {} {:.3f}", own.scenario, own.workers,
                     own.strict ? ", strict" : "", own.median.efficiency, best->policy,
                     best->median.efficiency);
}

ScoreCard card_of(const std::string& policy, std::span<const Score> scores) {
  ScoreCard card;
  card.policy = policy;
  card.efficiency_lowest = std::numeric_limits<double>::infinity();
  double logarithms = 0;
  double count = 0;
  std::vector<double> settles;
  for (const Score& score : scores) {
    if (score.policy != policy) continue;
    const Measures& m = score.median;
    ++count;
    logarithms += std::log(std::max(kLeastEfficiency, m.efficiency));
    if (score.efficiency_worst < card.efficiency_lowest) {
      card.efficiency_lowest = score.efficiency_worst;
      card.lowest_scenario = fmt::format("{} ({} workers)", score.scenario, score.workers);
    }
    settles.push_back(m.settle_seconds);
    card.moves_mean += m.moves;
    card.reversals_per_minute_mean += m.reversals_per_minute;
    card.budget_violations += m.budget_violations;
    card.cpu_share_mean += m.cpu_share;
    card.unparked_over_oracle_mean += ratio(m.unparked_mean, m.oracle_workers);
    if (!score.passed()) ++card.missed;
    std::string lost = loss(score, scores);
    if (!lost.empty()) card.losses.push_back(std::move(lost));
  }
  card.efficiency_geometric_mean = std::exp(logarithms / count);
  card.settle_seconds_median = median_of(std::move(settles));
  for (double* sum : {&card.moves_mean, &card.reversals_per_minute_mean, &card.cpu_share_mean,
                      &card.unparked_over_oracle_mean})
    *sum /= count;
  return card;
}

}  // namespace

std::span<const MustInfo> musts() {
  static const std::vector<MustInfo> kInfos = [] {
    std::vector<MustInfo> infos;
    for (const Rule& rule : kRules) infos.push_back(rule.info);
    return infos;
  }();
  return kInfos;
}

Score score(const Scenario& scenario, const TrialOptions& options, std::span<const Trial> trials) {
  Score result;
  result.scenario = scenario.name;
  result.workers = options.workers;
  result.policy = options.policy;
  result.strict = options.strict || scenario.strict;
  result.median = medians(trials);
  result.efficiency_worst = trials.front().measures.efficiency;
  for (const Trial& trial : trials)
    result.efficiency_worst = std::min(result.efficiency_worst, trial.measures.efficiency);
  for (const auto& [name, bound] : scenario.must)
    judge(result, rule_named(name, scenario.file), bound, result.missed);
  if (!scenario.must_label.empty() && result.median.label != scenario.must_label)
    result.missed.push_back(
        fmt::format("label: {}, {} is right", result.median.label, scenario.must_label));
  if (result.median.budget_violations > 0)
    result.missed.push_back(fmt::format("budget: {} packets began above the budget, A or a cap",
                                        result.median.budget_violations));
  return result;
}

std::vector<ScoreCard> score_cards(std::span<const Score> scores) {
  std::vector<std::string> policies;
  for (const Score& score : scores)
    if (std::find(policies.begin(), policies.end(), score.policy) == policies.end())
      policies.push_back(score.policy);
  std::vector<ScoreCard> cards;
  for (const std::string& policy : policies) cards.push_back(card_of(policy, scores));
  return cards;
}

}  // namespace weir::detail
