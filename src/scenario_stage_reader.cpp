#include "src/scenario_stage_reader.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <weir/error.hpp>

#include "src/section_reader.hpp"
#include "src/suggestion.hpp"
#include "src/variables.hpp"

namespace weir::detail {
namespace {

using enum ParameterType;

constexpr double kMostWorkers = 1024;

[[noreturn]] void refuse(const Location& place, const std::string& what) {
  throw Error(ErrorKind::usage, place.text(), what);
}

const std::vector<ParameterSpec>& flow_specs() {
  static const std::vector<ParameterSpec> specs{
      {.name = "rate",
       .type = number,
       .fallback = "none",
       .low = 1e-3,
       .high = 1e9,
       .meaning = "items a second"},
      {.name = "period", .type = duration, .fallback = "none", .meaning = "from burst to burst"},
      {.name = "duty",
       .type = share,
       .fallback = "none",
       .low = 0.01,
       .high = 1,
       .meaning = "share of the period in which it is awake"}};
  return specs;
}

void read_scaling(const YamlNode& map, const std::string& what, ScenarioStage& stage) {
  static const std::vector<ParameterSpec> specs{
      {.name = "contention", .type = number, .fallback = "0", .low = 0, .high = 1},
      {.name = "coherence", .type = number, .fallback = "0", .low = 0, .high = 1}};
  const Parameters given = read_scenario_map(map, "scaling of " + what, specs);
  stage.contention = given.number("contention");
  stage.coherence = given.number("coherence");
}

void read_slowdown(const YamlNode& map, const std::string& what, ScenarioStage& stage) {
  static const std::vector<ParameterSpec> specs{
      {.name = "above",
       .type = integer,
       .low = 1,
       .high = kMostWorkers,
       .meaning = "more at once than this are slow"},
      {.name = "factor",
       .type = number,
       .low = 1,
       .high = 1000,
       .meaning = "each then takes so many times as long"}};
  const Parameters given = read_scenario_map(map, "slowdown of " + what, specs);
  stage.slow_above = static_cast<int>(given.integer("above"));
  stage.slow_factor = given.number("factor");
}

void read_tail(const YamlNode& map, const std::string& what, ScenarioStage& stage) {
  static const std::vector<ParameterSpec> specs{{.name = "probability",
                                                 .type = share,
                                                 .low = 0,
                                                 .high = 1,
                                                 .meaning = "share of the items that are slow"},
                                                {.name = "factor",
                                                 .type = number,
                                                 .low = 1,
                                                 .high = 1e5,
                                                 .meaning = "they take so many times as long"}};
  const Parameters given = read_scenario_map(map, "tail of " + what, specs);
  stage.tail_probability = given.number("probability");
  stage.tail_factor = given.number("factor");
}

void read_spread(const Parameters& given, ScenarioStage& stage) {
  stage.cv = given.number("cv");
  stage.spread = stage.cv > 0 ? Spread::lognormal : Spread::constant;
  if (!given.has("distribution")) return;
  const std::string& word = given.text("distribution");
  stage.spread = word == "normal"     ? Spread::normal
                 : word == "constant" ? Spread::constant
                                      : Spread::lognormal;
  if (stage.spread == Spread::constant && stage.cv > 0)
    given.reject("distribution", fmt::format("a cv of {} is not constant", stage.cv));
}

void check_shape(const Parameters& given, const ScenarioStage& stage) {
  const int shapes =
      (stage.keep < 1 ? 1 : 0) + (stage.split > 1 ? 1 : 0) + (stage.batch > 1 ? 1 : 0);
  if (shapes > 1)
    given.reject(stage.batch > 1 ? "batch" : "split",
                 "a stage filters (keep), splits or gathers (batch); write a stage for each");
  if (stage.serial && stage.fixed_workers > 1)
    given.reject("workers", "a serial stage has one worker");
  if (stage.fixed_workers > 0 && stage.hand_cap > 0)
    given.reject("cap", "'workers' beside it already is the cap");
}

ScenarioStage read_stage(const YamlNode& node) {
  const YamlNode* named = node.kind == YamlNode::Kind::map ? node.find("name") : nullptr;
  const std::string what = named == nullptr ? "stage" : "stage " + named->text;
  const Parameters given =
      read_scenario_map(node, what, scenario_stage_specs(), {"scaling", "slowdown", "tail"});
  ScenarioStage stage;
  stage.name = given.text("name");
  stage.kind = given.text("kind") == "wait" ? ScenarioStage::Kind::wait : ScenarioStage::Kind::cpu;
  stage.seconds = given.number("time");
  read_spread(given, stage);
  const auto whole = [&](const char* key) {
    return given.has(key) ? static_cast<int>(given.integer(key)) : 0;
  };
  stage.limit = whole("limit");
  stage.plateau = whole("plateau");
  stage.serial = given.flag("serial");
  stage.keep = given.number("keep");
  stage.split = whole("split");
  stage.batch = whole("batch");
  stage.bytes_out = given.number("bytes_out");
  stage.fixed_workers = whole("workers");
  stage.hand_cap = whole("cap");
  stage.depth = whole("queue");
  check_shape(given, stage);
  if (const YamlNode* scaling = node.find("scaling")) read_scaling(*scaling, what, stage);
  if (const YamlNode* slowdown = node.find("slowdown")) read_slowdown(*slowdown, what, stage);
  if (const YamlNode* tail = node.find("tail")) read_tail(*tail, what, stage);
  return stage;
}

}  // namespace

Parameters read_scenario_map(const YamlNode& map, const std::string& what,
                             std::span<const ParameterSpec> specs,
                             std::initializer_list<const char*> nested) {
  static const Variables none(nullptr, {}, {});
  const std::vector<std::string> inner(nested.begin(), nested.end());
  std::vector<std::string> allowed;
  for (const ParameterSpec& spec : specs) allowed.push_back(spec.name);
  allowed.insert(allowed.end(), inner.begin(), inner.end());
  // What other libraries call a key is told for pipeline files only: there it stands elsewhere.
  for (const YamlNode::Key& key : map.keys)
    if (std::find(allowed.begin(), allowed.end(), key.text) == allowed.end())
      refuse(key.location, fmt::format("unknown key '{}' in {}{}", key.text, what,
                                       suggestion(key.text, allowed, "Allowed")));
  return {what, specs, written_values(map, none, what, inner), map.location};
}

std::span<const ParameterSpec> scenario_stage_specs() {
  static const std::vector<ParameterSpec> specs{
      {.name = "name", .type = text, .meaning = "by which events, start and label know it"},
      {.name = "kind", .type = choice, .fallback = "cpu", .choices = {"cpu", "wait"}},
      {.name = "time", .type = duration, .meaning = "per item that enters; batch: per batch"},
      {.name = "cv", .type = number, .fallback = "0", .low = 0, .high = 20},
      {.name = "distribution",
       .type = choice,
       .fallback = "none",
       .choices = {"constant", "lognormal", "normal"}},
      {.name = "limit", .type = integer, .fallback = "none", .low = 1, .high = kMostWorkers},
      {.name = "plateau", .type = integer, .fallback = "none", .low = 1, .high = kMostWorkers},
      {.name = "serial", .type = flag, .fallback = "false"},
      {.name = "keep", .type = share, .fallback = "1", .low = 0.001, .high = 1},
      {.name = "split", .type = integer, .fallback = "1", .low = 1, .high = 10000},
      {.name = "batch", .type = integer, .fallback = "1", .low = 1, .high = 10000},
      {.name = "bytes_out", .type = size, .fallback = "0"},
      {.name = "workers", .type = integer, .fallback = "none", .low = 1, .high = kMostWorkers},
      {.name = "cap", .type = integer, .fallback = "none", .low = 1, .high = kMostWorkers},
      {.name = "queue", .type = integer, .fallback = "none", .low = 1, .high = 1e6}};
  return specs;
}

std::vector<ScenarioStage> read_scenario_stages(const YamlNode& list) {
  if (list.kind != YamlNode::Kind::list || list.items.empty())
    refuse(list.location, "stages: must be a list of stages, as '- {name: a, time: 2ms}'");
  std::vector<ScenarioStage> stages;
  for (const YamlNode& node : list.items) {
    ScenarioStage stage = read_stage(node);
    for (const ScenarioStage& other : stages)
      if (other.name == stage.name)
        refuse(node.find("name")->location,
               fmt::format("a stage '{}' stands before; each has its own name", stage.name));
    stages.push_back(std::move(stage));
  }
  return stages;
}

ScenarioFlow read_scenario_flow(const YamlNode& map, const std::string& what) {
  const Parameters given = read_scenario_map(map, what, flow_specs());
  ScenarioFlow flow;
  if (given.has("rate")) flow.per_second = given.number("rate");
  if (given.has("period")) flow.period_seconds = given.number("period");
  if (given.has("duty")) flow.duty = given.number("duty");
  if (given.has("period") && !given.has("rate"))
    given.reject("period", "needs 'rate', the mean over the whole period");
  if (given.has("period") && !(flow.period_seconds > 0)) given.reject("period", "must be above 0");
  if (given.has("duty") && !given.has("period")) given.reject("duty", "needs 'period'");
  return flow;
}

int find_scenario_stage(const std::vector<ScenarioStage>& stages, std::string_view name,
                        const Location& place) {
  std::vector<std::string> names;
  for (const ScenarioStage& stage : stages) {
    if (stage.name == name) return static_cast<int>(names.size());
    names.push_back(stage.name);
  }
  refuse(place, fmt::format("no stage '{}'{}", name, suggestion(name, names, "Stages")));
}

}  // namespace weir::detail
