// Shows what a policy reaches on the random pipelines: the distribution and the worst cases.
//
//   weir_random_report [policy=balance] [start=policy|even|optimum|one_stage] [strict=1] [seed=1]
//                      [only=NUMBER] [longer=1] [worst=10] [log=FILE] [SETTING=VALUE ...]
//
// With only=NUMBER the changes of that one run are shown.

#include <cstdlib>
#include <exception>
#include <iostream>
#include <map>
#include <string>

#include <fmt/format.h>

#include "tests/suite/random_suite.hpp"
#include "tests/support/random_scenarios.hpp"

namespace {

using weir::detail::Measures;
using weir::detail::ScenarioStart;
using weir::test::SuiteCase;
using weir::test::SuiteRequest;

ScenarioStart::Kind start_named(const std::string& name) {
  if (name == "even") return ScenarioStart::Kind::even;
  if (name == "optimum") return ScenarioStart::Kind::optimum;
  if (name == "one_stage") return ScenarioStart::Kind::one_stage;
  return ScenarioStart::Kind::policy;
}

void print_case(const SuiteCase& own) {
  const Measures& m = own.measures;
  std::cout << fmt::format(
      "{:4}  E {:.3f}  run {:.3f}  of start {:.3f}  settle {:6.2f} s  moves {:2}  after {:2}  "
      "label {:12}  unparked {:.1f}/{:.1f}  {:.4g}/s of {:.4g}  T={:.0f}s  {}\n",
      own.index, m.efficiency, m.efficiency_whole_run, own.of_start(), m.settle_seconds, m.moves,
      m.moves_after_settling, m.label, m.unparked_mean, m.oracle_workers, m.steady_per_second,
      m.oracle_per_second, own.scenario.duration_seconds, own.text());
}

template <class Value>
void print_quantiles(const std::vector<SuiteCase>& cases, const char* name, Value value) {
  std::cout << fmt::format("{:22}", name);
  for (const double part : {0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0})
    std::cout << fmt::format(" {:9.3f}", weir::test::quantile(cases, part, value));
  std::cout << '\n';
}

void print_looks(const SuiteRequest& request) {
  weir::detail::Scenario scenario =
      weir::test::random_scenario(request.seed, request.indexes.front());
  scenario.start.kind = request.start;
  scenario.duration_seconds *= request.longer;
  weir::detail::TrialOptions options = request.options;
  options.workers = scenario.workers.front();
  options.seed = scenario.seed;
  options.timeline = true;
  for (const auto& stage : scenario.processes.front().stages)
    std::cout << fmt::format("{} {:.4g}ms{}{} | ", stage.name, 1e3 * stage.seconds,
                             stage.serial ? " serial" : "",
                             stage.limit > 0 ? fmt::format(" limit {}", stage.limit) : "");
  std::cout << '\n';
  double active = -1;
  std::vector<double> targets;
  for (const auto& point : weir::detail::simulate(scenario, options).timeline) {
    if (point.active == active && point.targets == targets) continue;
    active = point.active;
    targets = point.targets;
    std::cout << fmt::format("{:7.2f} s  {:8.2f}/s of {:.2f}  A={}  {:12} ", point.seconds,
                             point.per_second, point.oracle_per_second, active, point.label);
    for (const double target : targets) std::cout << fmt::format(" {:.2f}", target);
    std::cout << '\n';
  }
}

void report(std::map<std::string, std::string> given) {
  const auto take = [&](const std::string& name, const std::string& fallback) {
    const auto found = given.find(name);
    if (found == given.end()) return fallback;
    const std::string value = found->second;
    given.erase(found);
    return value;
  };
  SuiteRequest request;
  request.options.policy = take("policy", "balance");
  request.options.strict = take("strict", "0") == "1";
  request.options.log_path = take("log", "");
  request.start = start_named(take("start", "policy"));
  request.seed = std::stoull(take("seed", "1"));
  request.longer = std::stod(take("longer", "1"));
  if (const std::string only = take("only", ""); !only.empty()) request.indexes = {std::stoi(only)};
  const auto worst = static_cast<std::size_t>(std::stoul(take("worst", "10")));
  request.options.settings = given;
  if (!request.indexes.empty()) print_looks(request);

  std::vector<SuiteCase> cases = weir::test::run_suite(request);
  std::cout << fmt::format("{:22} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}\n", "", "least", "5 %",
                           "25 %", "median", "75 %", "95 %", "most");
  print_quantiles(cases, "efficiency", [](const SuiteCase& c) { return c.measures.efficiency; });
  print_quantiles(cases, "of start", [](const SuiteCase& c) { return c.of_start(); });
  print_quantiles(cases, "settle seconds",
                  [](const SuiteCase& c) { return c.measures.settle_seconds; });
  print_quantiles(cases, "moves", [](const SuiteCase& c) { return double(c.measures.moves); });
  print_quantiles(cases, "probes", [](const SuiteCase& c) { return double(c.measures.probes); });
  print_quantiles(cases, "moves after settling",
                  [](const SuiteCase& c) { return double(c.measures.moves_after_settling); });
  print_quantiles(cases, "unparked over oracle", [](const SuiteCase& c) {
    return c.measures.unparked_mean / c.measures.oracle_workers;
  });
  const auto share = [&](const char* what, auto holds) {
    std::cout << fmt::format("{} of {} {}\n", std::count_if(cases.begin(), cases.end(), holds),
                             cases.size(), what);
  };
  share("with no move after settling",
        [](const SuiteCase& c) { return c.measures.moves_after_settling == 0; });
  share("with at most 5 moves", [](const SuiteCase& c) { return c.measures.moves <= 5; });
  share("at 0.99 of the start or above", [](const SuiteCase& c) { return c.of_start() >= 0.99; });
  share("with violations of the budget",
        [](const SuiteCase& c) { return c.measures.budget_violations > 0; });
  const auto show = [&](const char* title, auto worse) {
    std::sort(cases.begin(), cases.end(), worse);
    std::cout << '\n' << title << '\n';
    for (std::size_t i = 0; i < std::min(worst, cases.size()); ++i) print_case(cases[i]);
  };
  show("lowest efficiency:", [](const SuiteCase& a, const SuiteCase& b) {
    return a.measures.efficiency < b.measures.efficiency;
  });
  // Above 1 is noise, or an oracle that is too low.
  show("highest efficiency:", [](const SuiteCase& a, const SuiteCase& b) {
    return a.measures.efficiency > b.measures.efficiency;
  });
  show("most moves after settling:", [](const SuiteCase& a, const SuiteCase& b) {
    return a.measures.moves_after_settling > b.measures.moves_after_settling;
  });
  show("most moves:",
       [](const SuiteCase& a, const SuiteCase& b) { return a.measures.moves > b.measures.moves; });
  show("least of the start:",
       [](const SuiteCase& a, const SuiteCase& b) { return a.of_start() < b.of_start(); });
}

}  // namespace

int main(int count, char** arguments) {
  std::map<std::string, std::string> given;
  for (int i = 1; i < count; ++i) {
    const std::string text = arguments[i];
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos) {
      std::cerr << "'" << text << "' is not NAME=VALUE\n";
      return 2;
    }
    given[text.substr(0, equals)] = text.substr(equals + 1);
  }
  try {
    report(given);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
  return 0;
}
