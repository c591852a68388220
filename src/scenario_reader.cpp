#include "src/scenario_reader.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include <weir/error.hpp>

#include "src/scenario_event_reader.hpp"
#include "src/scenario_stage_reader.hpp"
#include "src/suggestion.hpp"
#include "src/variables.hpp"
#include "src/yaml_reader.hpp"

namespace weir::detail {
namespace {

using enum ParameterType;

constexpr int kMostWorkers = 1024;
constexpr double kDay = 86400;

[[noreturn]] void refuse(const Location& place, const std::string& what) {
  throw Error(ErrorKind::usage, place.text(), what);
}

const std::vector<ParameterSpec>& scenario_specs() {
  static const std::vector<ParameterSpec> specs{
      {.name = "weir_scenario", .type = integer, .low = 1, .high = 1},
      {.name = "name", .type = text, .fallback = "none"},
      {.name = "workers",
       .type = numbers,
       .low = 1,
       .high = kMostWorkers,
       .meaning = "the budget N, or a list of them, one run each"},
      {.name = "cores", .type = integer, .fallback = "none", .low = 1, .high = kMostWorkers},
      {.name = "quota", .type = number, .fallback = "none", .low = 0.1, .high = kMostWorkers},
      {.name = "strict", .type = flag, .fallback = "false"},
      {.name = "order", .type = choice, .fallback = "input", .choices = {"input", "any"}},
      {.name = "live", .type = flag, .fallback = "true"},
      {.name = "tuned", .type = text, .fallback = "none"},
      {.name = "memory", .type = size, .fallback = "none", .low = 1},
      {.name = "duration", .type = duration, .fallback = "30s"},
      {.name = "repeats", .type = integer, .fallback = "10", .low = 1, .high = 1000},
      {.name = "seed", .type = integer, .fallback = "1", .low = 0}};
  return specs;
}

/// The bounds by the names of musts(), with what may be written of each.
const std::vector<ParameterSpec>& must_specs() {
  static const std::vector<ParameterSpec> table = [] {
    std::vector<ParameterSpec> specs;
    for (const char* name : {"efficiency", "worst", "whole_run", "of_start", "jain"})
      specs.push_back({.name = name, .type = share, .low = 0, .high = 1});
    for (const char* name : {"consumer_wait", "throttled", "cost_error", "visit_error"})
      specs.push_back({.name = name, .type = share, .low = 0, .high = 1});
    for (const char* name : {"settle", "reaction", "recovery"})
      specs.push_back({.name = name, .type = duration});
    for (const char* name : {"moves", "moves_after_settling"})
      specs.push_back({.name = name, .type = integer, .low = 0});
    for (const char* name : {"reversals", "unparked", "bytes", "cpu"})
      specs.push_back({.name = name, .type = number, .low = 0});
    specs.push_back({.name = "label", .type = text});
    for (ParameterSpec& spec : specs) spec.fallback = "none";
    return specs;
  }();
  return table;
}

/// A label that the controller gives, its stage one of the scenario's.
void check_label(const Parameters& given, const Location& place,
                 const std::vector<ScenarioStage>& stages) {
  static const std::vector<std::string> words{"memory", "contended", "consumer", "source", "none"};
  static const std::vector<std::string> kinds{"serial", "device", "stage"};
  const std::string& label = given.text("label");
  const std::size_t colon = label.find(':');
  if (colon == std::string::npos) {
    if (std::find(words.begin(), words.end(), label) != words.end()) return;
    std::vector<std::string> all = words;
    for (const std::string& kind : kinds) all.push_back(kind + ":STAGE");
    refuse(place, fmt::format("'{}' is no label{}", label, suggestion(label, all, "Labels")));
  }
  const std::string kind = label.substr(0, colon);
  if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end())
    refuse(place, fmt::format("'{}' is no label{}", label,
                              suggestion(kind, kinds, "Before the ':' stands")));
  static_cast<void>(find_scenario_stage(stages, label.substr(colon + 1), place));
}

void read_must(const YamlNode& node, Scenario& scenario) {
  if (node.is_nothing()) return;
  const Parameters given = read_scenario_map(node, "must", must_specs());
  for (const ParameterSpec& spec : must_specs())
    if (spec.name != "label" && given.has(spec.name))
      scenario.must[spec.name] = given.number(spec.name);
  if (!given.has("label")) return;
  check_label(given, node.find("label")->location, scenario.processes.front().stages);
  scenario.must_label = given.text("label");
}

ScenarioStart start_by_hand(const YamlNode& map, const std::vector<ScenarioStage>& stages) {
  std::vector<ParameterSpec> specs;
  for (const ScenarioStage& stage : stages)
    specs.push_back(
        {.name = stage.name, .type = number, .fallback = "none", .low = 0, .high = kMostWorkers});
  const Parameters given = read_scenario_map(map, "start", specs);
  ScenarioStart start;
  start.kind = ScenarioStart::Kind::by_hand;
  for (const ScenarioStage& stage : stages)
    if (given.has(stage.name)) start.workers[stage.name] = given.number(stage.name);
  if (start.workers.empty())
    refuse(map.location, "start: names no stage; give workers by stage, as {a: 1, b: 6}");
  return start;
}

ScenarioStart read_start(const YamlNode& node, const std::vector<ScenarioStage>& stages) {
  using Kind = ScenarioStart::Kind;
  static const std::vector<std::string> words{"policy", "even", "optimum", "one_stage"};
  if (node.kind == YamlNode::Kind::map) return start_by_hand(node, stages);
  const auto found = std::find(words.begin(), words.end(), node.text);
  if (node.kind != YamlNode::Kind::scalar || found == words.end())
    refuse(node.location,
           fmt::format("start is '{}', must be workers by stage, as {{a: 1, b: 6}}, or a word{}",
                       node.text, suggestion(node.text, words, "Words")));
  constexpr Kind kKinds[] = {Kind::policy, Kind::even, Kind::optimum, Kind::one_stage};
  return {kKinds[found - words.begin()], {}};
}

std::string start_name(const ScenarioStart& start) {
  switch (start.kind) {
    case ScenarioStart::Kind::policy:
      return "policy";
    case ScenarioStart::Kind::even:
      return "even";
    case ScenarioStart::Kind::optimum:
      return "optimum";
    case ScenarioStart::Kind::one_stage:
      return "one_stage";
    case ScenarioStart::Kind::by_hand:
      break;
  }
  return "by_hand";
}

/// `scenario` once for each start in the list, "name/even" and so on.
std::vector<Scenario> with_starts(const YamlNode& list, const Scenario& scenario) {
  if (list.items.empty()) refuse(list.location, "start: the list is empty");
  std::vector<Scenario> scenarios;
  for (const YamlNode& node : list.items) {
    Scenario one = scenario;
    one.start = read_start(node, scenario.processes.front().stages);
    one.name += "/" + start_name(one.start);
    for (const Scenario& other : scenarios)
      if (other.name == one.name)
        refuse(node.location, fmt::format("start: '{}' stands twice", start_name(one.start)));
    scenarios.push_back(std::move(one));
  }
  return scenarios;
}

std::vector<int> workers_of(const Parameters& given) {
  std::vector<int> workers;
  for (const double number : given.numbers("workers")) {
    if (number != std::floor(number)) given.reject("workers", "must be whole numbers");
    workers.push_back(static_cast<int>(number));
  }
  return workers;
}

/// The first process of the file at `path`; what else stands there does not matter here.
ScenarioProcess read_neighbour(const std::string& path, const Location& place) {
  const std::string text = read_yaml_text(path, "a scenario file");
  if (read_yaml(text, path).find("processes") != nullptr)
    refuse(place, fmt::format("'{}' has processes of its own", path));
  return read_scenarios(text, path).front().processes.front();
}

void read_processes(const YamlNode& node, const std::string& path, Scenario& scenario) {
  if (node.kind == YamlNode::Kind::list) {
    for (const YamlNode& entry : node.items) {
      if (entry.kind != YamlNode::Kind::scalar || entry.text.empty())
        refuse(entry.location, "processes: each entry is a scenario file");
      scenario.processes.push_back(read_neighbour(path_beside(path, entry.text), entry.location));
    }
    if (scenario.processes.empty()) refuse(node.location, "processes: the list is empty");
    return;
  }
  const Value value = scalar_value(node.text, node.plain, node.location);
  const auto* count = std::get_if<std::int64_t>(&value.data);
  if (node.kind != YamlNode::Kind::scalar || count == nullptr || *count < 1 || *count > 64)
    refuse(node.location,
           fmt::format("processes is '{}', must be a whole number from 1 to 64 or a list of "
                       "scenario files",
                       node.text));
  if (scenario.processes.empty()) refuse(node.location, "processes: no 'stages' to run so often");
  scenario.processes.resize(static_cast<std::size_t>(*count), scenario.processes.front());
}

/// Of this file itself; none where it only lists others.
std::optional<ScenarioProcess> own_process(const YamlNode& root, const Parameters& given) {
  ScenarioProcess process;
  if (const YamlNode* stages = root.find("stages")) process.stages = read_scenario_stages(*stages);
  if (const YamlNode* flow = root.find("consumer"))
    process.consumer = read_scenario_flow(*flow, "consumer");
  if (const YamlNode* flow = root.find("source"))
    process.source = read_scenario_flow(*flow, "source");
  if (given.has("memory")) process.memory_bytes = given.number("memory");
  process.ordered = given.text("order") == "input";
  if (process.stages.empty()) return std::nullopt;
  return process;
}

void check_version(const YamlNode& root) {
  if (root.kind == YamlNode::Kind::map && root.find("weir_scenario") != nullptr) return;
  const bool pipeline = root.kind == YamlNode::Kind::map && root.find("weir") != nullptr;
  refuse(root.location, pipeline
                            ? "is a pipeline file, which weir run takes; a scenario file begins "
                              "with 'weir_scenario: 1'"
                            : "no 'weir_scenario: 1' at the head, so this is no scenario file");
}

}  // namespace

std::vector<Scenario> read_scenarios(const std::string& text, const std::string& path) {
  const YamlNode root = read_yaml(text, path);
  check_version(root);
  const Parameters given =
      read_scenario_map(root, "a scenario file", scenario_specs(),
                        {"start", "stages", "consumer", "source", "processes", "events", "must"});
  Scenario scenario;
  scenario.file = path;
  scenario.name =
      given.has("name") ? given.text("name") : std::filesystem::path(path).stem().string();
  scenario.workers = workers_of(given);
  if (given.has("cores")) scenario.cores = static_cast<int>(given.integer("cores"));
  if (given.has("quota")) scenario.quota_cpus = given.number("quota");
  scenario.strict = given.flag("strict");
  scenario.live = given.flag("live");
  if (given.has("tuned")) scenario.tuned = path_beside(path, given.text("tuned"));
  scenario.duration_seconds = given.number("duration");
  if (!(scenario.duration_seconds > 0) || scenario.duration_seconds > kDay)
    given.reject("duration", "must be above 0 and at most a day");
  scenario.repeats = static_cast<int>(given.integer("repeats"));
  scenario.seed = static_cast<std::uint64_t>(given.integer("seed"));

  if (std::optional<ScenarioProcess> own = own_process(root, given)) {
    own->name = scenario.name;
    scenario.processes.push_back(std::move(*own));
  }
  if (const YamlNode* processes = root.find("processes"))
    read_processes(*processes, path, scenario);
  if (scenario.processes.empty())
    refuse(root.location, "'stages:', the list of stages, is missing");
  if (const YamlNode* events = root.find("events"))
    scenario.events = read_scenario_events(*events, scenario);
  if (const YamlNode* must = root.find("must")) read_must(*must, scenario);

  const YamlNode* start = root.find("start");
  if (start != nullptr && start->kind == YamlNode::Kind::list) return with_starts(*start, scenario);
  if (start != nullptr && !start->is_nothing())
    scenario.start = read_start(*start, scenario.processes.front().stages);
  return {scenario};
}

std::vector<Scenario> load_scenarios(const std::string& path) {
  return read_scenarios(read_yaml_text(path, "a scenario file"), path);
}

Scenario load_scenario(const std::string& path) { return load_scenarios(path).front(); }

Scenario read_scenario(std::string_view text, const std::string& path) {
  return read_scenarios(std::string(text), path).front();
}

}  // namespace weir::detail
