#include "src/scenario_event_reader.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <weir/error.hpp>

#include "src/scenario_stage_reader.hpp"

namespace weir::detail {
namespace {

using enum ParameterType;

struct FieldName {
  const char* key;
  StageField field;
  bool whole;  ///< counted, so it jumps
};
constexpr FieldName kFields[] = {
    {"time", StageField::seconds, false}, {"cv", StageField::cv, false},
    {"keep", StageField::keep, false},    {"limit", StageField::limit, true},
    {"batch", StageField::batch, true},   {"bytes_out", StageField::bytes_out, false}};

[[noreturn]] void refuse(const Location& place, const std::string& what) {
  throw Error(ErrorKind::usage, place.text(), what);
}

const std::vector<ParameterSpec>& event_specs() {
  static const std::vector<ParameterSpec> table = [] {
    std::vector<ParameterSpec> specs{
        {.name = "at", .type = duration, .meaning = "when it happens"},
        {.name = "until", .type = duration, .fallback = "none"},
        {.name = "over", .type = duration, .fallback = "0"},
        {.name = "stage", .type = text, .fallback = "none"},
        {.name = "cores_taken", .type = integer, .fallback = "none", .low = 0, .high = 1024},
        {.name = "workers", .type = integer, .fallback = "none", .low = 1, .high = 1024}};
    // A stage's keys may be anything here that they may be there.
    for (const FieldName& name : kFields)
      for (ParameterSpec spec : scenario_stage_specs()) {
        if (spec.name != name.key) continue;
        spec.fallback = "none";
        specs.push_back(std::move(spec));
      }
    return specs;
  }();
  return table;
}

void check_times(const Parameters& given, const ScenarioEvent& event, const Scenario& scenario) {
  if (event.at_seconds >= scenario.duration_seconds)
    given.reject("at",
                 fmt::format("must be before the end of the run, {} s", scenario.duration_seconds));
  if (given.has("until") && event.until_seconds <= event.at_seconds + event.over_seconds)
    given.reject("until", event.over_seconds > 0 ? "must be later than 'at' and 'over' together"
                                                 : "must be later than 'at'");
}

void read_stage_fields(const YamlNode& node, const Parameters& given, const Scenario& scenario,
                       ScenarioEvent& event) {
  const std::vector<ScenarioStage>& stages = scenario.processes.front().stages;
  if (given.has("stage"))
    event.stage = find_scenario_stage(stages, given.text("stage"), node.find("stage")->location);
  for (const FieldName& name : kFields) {
    if (!given.has(name.key)) continue;
    if (event.stage < 0) given.reject(name.key, "needs 'stage', the stage that it changes");
    if (name.whole && event.over_seconds > 0)
      given.reject("over", fmt::format("'{}' changes at once; leave 'over' out", name.key));
    event.changes[name.field] = given.number(name.key);
  }
  if (event.stage < 0) {
    if (event.over_seconds > 0) given.reject("over", "is for what changes of a stage");
    return;
  }
  if (event.changes.empty())
    given.reject("stage", "nothing of it changes; give time, cv, keep, limit, batch or bytes_out");
  const ScenarioStage& stage = stages[static_cast<std::size_t>(event.stage)];
  if (event.changes.contains(StageField::keep) && (stage.batch > 1 || stage.split > 1))
    given.reject("keep", fmt::format("the stage '{}' is no filter", stage.name));
  if (event.changes.contains(StageField::batch) && stage.batch == 1)
    given.reject("batch", fmt::format("the stage '{}' gathers nothing", stage.name));
}

ScenarioEvent read_event(const YamlNode& node, const Scenario& scenario) {
  const Parameters given = read_scenario_map(node, "event", event_specs(), {"consumer", "source"});
  ScenarioEvent event;
  event.at_seconds = given.number("at");
  if (given.has("until")) event.until_seconds = given.number("until");
  event.over_seconds = given.number("over");
  check_times(given, event, scenario);
  read_stage_fields(node, given, scenario, event);

  const int least = *std::min_element(scenario.workers.begin(), scenario.workers.end());
  const int cores = scenario.cores > 0 ? scenario.cores : least;
  if (given.has("cores_taken")) {
    event.cores_taken = static_cast<int>(given.integer("cores_taken"));
    if (*event.cores_taken >= cores)
      given.reject("cores_taken", fmt::format("must leave one of the {} cores", cores));
  }
  if (given.has("workers")) event.workers = static_cast<int>(given.integer("workers"));
  if (const YamlNode* flow = node.find("consumer"))
    event.consumer = read_scenario_flow(*flow, "consumer");
  if (const YamlNode* flow = node.find("source"))
    event.source = read_scenario_flow(*flow, "source");
  if (event.stage < 0 && !event.cores_taken && !event.workers && !event.consumer && !event.source)
    refuse(node.location,
           "changes nothing; give a stage with what changes, cores_taken, workers, consumer or "
           "source");
  return event;
}

}  // namespace

std::vector<ScenarioEvent> read_scenario_events(const YamlNode& list, const Scenario& scenario) {
  if (list.is_nothing()) return {};
  if (list.kind != YamlNode::Kind::list)
    refuse(list.location, "events: must be a list, as '- {at: 10s, stage: a, time: 8ms}'");
  std::vector<ScenarioEvent> events;
  for (const YamlNode& node : list.items) events.push_back(read_event(node, scenario));
  std::stable_sort(events.begin(), events.end(), [](const auto& one, const auto& other) {
    return one.at_seconds < other.at_seconds;
  });
  return events;
}

}  // namespace weir::detail
