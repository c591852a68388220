#include <cmath>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "src/decision_story.hpp"
#include "src/standard_output.hpp"
#include "src/story_text.hpp"
#include "src/summary_json.hpp"
#include "src/verb.hpp"

namespace weir::program {
namespace {

using Json = nlohmann::ordered_json;

Json event_json(const StoryEvent& event) {
  Json object{{"seconds", event.seconds},
              {"until_seconds", event.until_seconds},
              {"kind", event.kind},
              {"text", event.text}};
  if (event.predicted_gain != 0) object["predicted_gain"] = event.predicted_gain;
  if (event.outcome)
    object["outcome"] = {{"verdict", name_of(event.outcome->verdict)},
                         {"predicted_gain", event.outcome->predicted_gain},
                         {"realised_gain", event.outcome->realised_gain},
                         {"standard_error", event.outcome->standard_error}};
  return object;
}

Json end_json(const Story& story) {
  if (!story.last) return nullptr;
  const detail::LogWindow& judged = story.last_judged ? *story.last_judged : *story.last;
  Json stages = Json::array();
  for (std::size_t i = 0; i < judged.seen.stages.size(); ++i) {
    const StageObservation& stage = judged.seen.stages[i];
    Json each{{"name", stage.name},
              {"running_mean", story.stage_running[i]},
              {"service_time_us", 1e6 * stage.estimate.service_seconds},
              {"trusted", stage.estimate.trusted},
              {"visits", stage.estimate.visits},
              {"items_per_second", story.stage_per_second[i]},
              {"blocked_share", story.stage_blocked[i]}};
    if (i < story.allocation.stages.size()) {
      each["target"] = story.allocation.stages[i].target;
      each["cap"] = story.allocation.stages[i].cap;
    }
    if (!stage.hint.empty()) each["hint"] = stage.hint;
    stages.push_back(std::move(each));
  }
  Json loaders = Json::array();
  for (std::size_t i = 0; i < story.loader_per_second.size(); ++i)
    loaders.push_back({{"name", story.loaders[i]},
                       {"items_per_second", story.loader_per_second[i]},
                       {"wait_share", story.loader_wait_share[i]}});
  return {{"settled", story.last->settled},
          {"moves", story.last->moves},
          {"last_change_seconds",
           story.last_change_seconds ? Json(*story.last_change_seconds) : Json(nullptr)},
          {"label", judged.seen.label},
          {"active", story.allocation.active},
          {"needed_workers", judged.seen.bounds.needed_workers},
          {"loaders", std::move(loaders)},
          {"bound_shared", judged.seen.bounds.shared_per_second},
          {"bound_whole", judged.seen.bounds.whole_per_second},
          {"reason", story.last->decision.reason},
          {"stages", std::move(stages)}};
}

Json story_json(const Story& story, const std::string& path) {
  Json events = Json::array();
  for (const StoryEvent& event : story.events) events.push_back(event_json(event));
  return {
      {"log", path},
      {"weir_log", story.version},
      {"weir", story.written_by},
      {"policy", story.policy},
      {"strict", story.strict},
      {"settings", story.settings},
      {"budget", story.budget},
      {"loaders", story.loaders},
      {"seconds", story.seconds},
      {"windows", {{"all", story.windows}, {"judged", story.judged}, {"left_out", story.left_out}}},
      {"label_shares", story.label_shares},
      {"host",
       {{"cpu_wait_share", story.host.cpu_wait_share},
        {"switches_per_cpu_second", story.host.switches_per_cpu_second},
        {"throttled_share", story.host.throttled_share},
        {"others_cores", story.host.others_cores},
        {"idle_cores", story.host.idle_cores},
        {"cpu_pressure", story.host.cpu_pressure},
        {"contended_shares", story.host.contended_shares}}},
      {"corrections", story.corrections},
      {"events", std::move(events)},
      {"end", end_json(story)},
      {"notes", story.notes}};
}

}  // namespace

int explain_verb(const CommandLine& line, SignalWatch&) {
  detail::DecisionLogReader log(line.argument());
  const Story story = tell_story(log);
  write_output(line.has("--json") ? document_text(story_json(story, line.argument()))
                                  : story_text(story, line.argument()));
  return 0;
}

}  // namespace weir::program
