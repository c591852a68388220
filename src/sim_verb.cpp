#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <weir/error.hpp>
#include <weir/policy.hpp>
#include <weir/policy_settings.hpp>
#include <weir/thread_budget.hpp>

#include "src/live_scenario.hpp"
#include "src/scenario_files.hpp"
#include "src/scenario_plot.hpp"
#include "src/scenario_reader.hpp"
#include "src/score_json.hpp"
#include "src/score_table.hpp"
#include "src/standard_output.hpp"
#include "src/summary_json.hpp"
#include "src/trial_runner.hpp"
#include "src/verb.hpp"
#include "src/whole_file.hpp"
#include "tuner/replay.hpp"
#include "tuner/score.hpp"
#include "tuner/simulation.hpp"

namespace weir::program {
namespace {

using Clock = std::chrono::steady_clock;
using detail::Scenario;
using detail::Score;
using Settings = std::map<std::string, std::string>;

constexpr std::chrono::milliseconds kRedraw{100};

/// The policy by which the exit status is judged.
std::string default_policy() { return std::string(policies().front().name); }

std::vector<std::string> policies_of(const CommandLine& line) {
  const std::string list = line.text("--policy").value_or(default_policy());
  std::vector<std::string> names;
  if (list == "all") {
    for (const PolicyInfo& policy : policies()) names.emplace_back(policy.name);
    return names;
  }
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    const std::string name = list.substr(begin, end - begin);
    static_cast<void>(policy_info(name, "--policy"));
    if (std::find(names.begin(), names.end(), name) != names.end())
      throw Error(ErrorKind::usage, "--policy", fmt::format("'{}' is named twice", name));
    names.push_back(name);
    begin = end + 1;
  }
  return names;
}

/// Of `given` what `policy` knows.
Settings settings_of(const std::string& policy, const Settings& given) {
  Settings settings;
  for (const SettingInfo& info : policy_info(policy).settings)
    if (const auto found = given.find(std::string(info.name)); found != given.end())
      settings.insert(*found);
  return settings;
}

/// A setting that none of the policies has is a mistake, and so is a wrong value.
void check_settings(const std::vector<std::string>& names, const Settings& given) {
  for (const auto& setting : given) {
    bool known = false;
    for (const std::string& policy : names) {
      if (settings_of(policy, {setting}).empty()) continue;
      known = true;
      static_cast<void>(make_settings(policy, {setting}, "--set"));
    }
    if (!known) static_cast<void>(make_settings(names.front(), {setting}, "--set"));
  }
}

std::vector<TrialCase> cases_of(const CommandLine& line, const std::vector<Scenario>& scenarios) {
  const std::vector<std::string> names = policies_of(line);
  const Settings given = variables_of(line);
  check_settings(names, given);
  const auto repeats = line.count("--repeats", 1, 1000);
  const auto seed = line.count("--seed", 0, UINT64_MAX);
  std::vector<TrialCase> cases;
  for (const Scenario& scenario : scenarios) {
    for (const int workers : scenario.workers) {
      for (const std::string& policy : names) {
        TrialCase one;
        one.scenario = scenario;
        one.options.policy = policy;
        one.options.strict = scenario.strict || line.has("--strict");
        one.options.workers = workers;
        one.options.seed = seed.value_or(scenario.seed);
        one.options.settings = settings_of(policy, given);
        one.options.timeline = line.has("--plot");
        // A live run takes as long as it takes.
        const int usual = line.has("--live") ? 1 : scenario.repeats;
        one.repeats = repeats ? static_cast<int>(*repeats) : usual;
        cases.push_back(std::move(one));
      }
    }
  }
  if (const auto log = line.text("--log")) {
    if (cases.size() != 1)
      throw Error(
          ErrorKind::usage, "--log",
          fmt::format("is for one scenario with one budget and one policy; these are {} runs",
                      cases.size()));
    cases.front().options.log_path = *log;
  }
  return cases;
}

std::vector<Scenario> scenarios_of(const CommandLine& line) {
  if (line.arguments().empty())
    throw Error(ErrorKind::usage, "",
                "name a scenario: a file, one of the suite as skewed_costs, or all; or a decision "
                "log with --replay");
  std::vector<Scenario> scenarios;
  for (const std::string& file : scenario_files(line.arguments(), line.text("--scenarios")))
    for (Scenario& scenario : detail::load_scenarios(file))
      scenarios.push_back(std::move(scenario));
  return scenarios;
}

/// One line on a terminal that is rewritten at most ten times a second, elsewhere nothing.
class TrialLine {
 public:
  explicit TrialLine(bool quiet) {
    const char* terminal = std::getenv("TERM");
    shown_ = !quiet && ::isatty(STDERR_FILENO) == 1 &&
             std::string_view(terminal == nullptr ? "" : terminal) != "dumb";
  }
  ~TrialLine() { clear(); }
  TrialLine(const TrialLine&) = delete;
  TrialLine& operator=(const TrialLine&) = delete;

  void clear() {
    if (std::exchange(drawn_, false)) write_notice("\r\x1b[K");
  }
  void show(int done, int all, const TrialCase& latest) {
    const Clock::time_point now = Clock::now();
    if (!shown_ || now - latest_ < kRedraw) return;
    latest_ = now;
    drawn_ = true;
    constexpr std::size_t kWidth = 78;
    write_notice("\r" +
                 fmt::format("{}/{}  {}, {} workers, {}", done, all, latest.scenario.name,
                             latest.options.workers, latest.options.policy)
                     .substr(0, kWidth) +
                 "\x1b[K");
  }

 private:
  bool shown_ = false;
  bool drawn_ = false;
  Clock::time_point latest_;
};

int replay(const CommandLine& line, const std::string& log) {
  if (!line.arguments().empty())
    throw Error(
        ErrorKind::usage, "--replay",
        fmt::format("takes no scenario beside the log, and '{}' was given", line.argument()));
  const detail::Replay replayed = detail::replay_log(log);
  write_output(line.has("--json") ? document_text(replay_json(replayed)) : replayed.text());
  return replayed.same() ? 0 : static_cast<int>(ErrorKind::data);
}

int threads_for_trials() {
  const ThreadBudget budget = derive_thread_budget();
  return std::max(budget.threads, 1);
}

void run_all(const CommandLine& line, std::vector<TrialCase>& cases) {
  TrialLine shown(line.has("--quiet"));
  const TrialProgress progress = [&shown](int done, int all, const TrialCase& latest) {
    shown.show(done, all, latest);
  };
  if (!line.has("--live")) {
    run_trials(cases, detail::simulate, threads_for_trials(), progress);
    return;
  }
  std::vector<Error> errors;
  run_live_trials(cases, detail::run_live, progress, [&](const TrialCase&, const Error& error) {
    const bool known = std::any_of(errors.begin(), errors.end(), [&](const Error& other) {
      return std::string_view(other.what()) == error.what();
    });
    if (!known) errors.push_back(error);
  });
  shown.clear();
  if (cases.empty() && !errors.empty()) throw errors.front();
  if (line.has("--quiet")) return;
  for (const Error& error : errors)
    write_notice(fmt::format("weir sim: left out: {}\n", error.what()));
}

}  // namespace

int sim_verb(const CommandLine& line, SignalWatch&) {
  if (const auto log = line.text("--replay")) return replay(line, *log);
  const std::vector<Scenario> scenarios = scenarios_of(line);
  std::vector<TrialCase> cases = cases_of(line, scenarios);
  const std::optional<std::string> plot = line.text("--plot");
  if (plot) check_writable("--plot", *plot);
  run_all(line, cases);
  std::vector<Score> scores;
  for (const TrialCase& one : cases) {
    scores.push_back(detail::score(one.scenario, one.options, one.trials));
    if (line.has("--live")) scores.back().plant = "live";
  }
  if (plot) write_whole_file(*plot, scenario_plot(cases, scores));
  write_output(line.has("--json") ? document_text(scores_json(scores, cases))
                                  : scores_text(scores, cases, default_policy()));
  const bool missed = std::any_of(scores.begin(), scores.end(), [](const Score& score) {
    return score.policy == default_policy() && !score.passed();
  });
  return missed ? static_cast<int>(ErrorKind::data) : 0;
}

}  // namespace weir::program
