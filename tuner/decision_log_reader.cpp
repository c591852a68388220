#include "tuner/decision_log_reader.hpp"

#include <weir/error.hpp>

#include "tuner/decision_log.hpp"
#include "tuner/decision_record.hpp"
#include "tuner/json_field.hpp"

#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace weir::detail {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kMicroseconds = 1e-6;
constexpr int kMostBudget = 65536;
constexpr int kMostLoaders = 10000;
constexpr std::size_t kMostShown = 40;  // characters of a line in a message

/// The beginning of a line that may hold any bytes.
std::string shown(const std::string& text) {
  std::string plain = text.substr(0, kMostShown);
  for (char& each : plain)
    if (static_cast<unsigned char>(each) < 0x20 || static_cast<unsigned char>(each) >= 0x7f)
      each = '?';
  return plain + (text.size() > kMostShown ? "..." : "");
}

[[noreturn]] void refuse(const std::string& where, const std::string& what) {
  throw Error(ErrorKind::usage, where, what);
}

LogHead head_of(const Json& object) {
  const JsonFields fields(object, "head");
  LogHead head;
  fields("weir_log", head.version);
  if (head.version > DecisionLog::kVersion)
    refuse("", fmt::format("was written by a later weir (weir_log: {}); this one reads up to "
                           "weir_log: {}",
                           head.version, DecisionLog::kVersion));
  if (head.version < 1) refuse_json("weir_log", "is below 1");
  fields("weir", head.written_by);
  fields("time", head.first.time_seconds);
  fields("policy", head.policy);
  fields("strict", head.strict);
  if (const Json* const settings = fields.find_object("settings"))
    for (const auto& [name, value] : settings->items())
      read_json(value, "settings", head.settings[name]);
  fields("seed", head.seed);
  fields("budget", head.first.budget);
  if (const Json* const loaders = fields.find_array("loaders"))
    for (const Json& name : *loaders)
      read_json(name, "loaders", head.first.loaders.emplace_back().name);
  if (const Json* const stages = fields.find_array("stages"))
    for (const Json& each : *stages) {
      const JsonFields own(each, "stages");
      StageObservation& stage = head.first.stages.emplace_back();
      own("name", stage.name);
      own("loader", stage.loader);
      if (stage.loader < 0 || stage.loader > kMostLoaders)
        refuse_json("loader", "names a loader that is not there");
      own("serial", stage.serial);
      own("fixed_workers", stage.fixed_workers);
      own("hand_cap", stage.hand_cap);
      head.stage_names.push_back(stage.name);
    }
  if (head.version == 1)  // which names no loaders
    for (const StageObservation& stage : head.first.stages)
      if (stage.loader >= static_cast<int>(head.first.loaders.size()))
        head.first.loaders.resize(static_cast<std::size_t>(stage.loader) + 1);
  if (const Json* const start = fields.find_object("start")) head.start = exact_allocation(*start);
  return head;
}

LoaderObservation loader_of(const Json& object) {
  const JsonFields fields(object, "loaders");
  LoaderObservation loader;
  fields("name", loader.name);
  fields("items", loader.items);
  fields("items_per_second", loader.items_per_second);
  fields("wait_share", loader.wait_share);
  fields("service_us", loader.service_seconds);
  loader.service_seconds *= kMicroseconds;
  fields("peak_per_second", loader.peak_per_second);
  fields("paused", loader.paused);
  return loader;
}

StageObservation stage_of(const Json& object, const StageObservation& known) {
  const JsonFields fields(object, "stages");
  StageObservation stage = known;
  fields("items_per_second", stage.items_per_second);
  fields("service_us", stage.service_seconds);
  stage.service_seconds *= kMicroseconds;
  fields("smoothed_us", stage.estimate.service_seconds);
  stage.estimate.service_seconds *= kMicroseconds;
  fields("error", stage.estimate.relative_error);
  stage.estimate.trusted = true;
  fields("trusted", stage.estimate.trusted);
  fields("visits", stage.estimate.visits);
  stage.estimate.demand_seconds = stage.estimate.visits * stage.estimate.service_seconds;
  fields("running", stage.running_mean);
  fields("wait_input", stage.wait_input_share);
  fields("wait_output", stage.wait_output_share);
  fields("queue", stage.queue_mean);
  fields("queue_empty", stage.queue_empty_share);
  fields("queue_full", stage.queue_full_share);
  fields("cpus", stage.cpus_mean);
  fields("system", stage.system_share);
  fields("blocked", stage.blocked_share);
  fields("hint", stage.hint);
  fields("suspect", stage.suspect);
  fields("drifted", stage.drifted);
  return stage;
}

/// The elements of a list that has as many as the head says.
const Json& list_of(const JsonFields& fields, const char* field, std::size_t count) {
  static const Json kNone = Json::array();
  const Json* const found = fields.find_array(field);
  const Json& list = found == nullptr ? kNone : *found;
  if (list.size() != count)
    refuse("", fmt::format("'{}' are {}, and {} in the head", field, list.size(), count));
  return list;
}

Observation observation_of(const JsonFields& fields, const LogHead& head) {
  Observation seen;
  fields("time", seen.time_seconds);
  fields("window", seen.window_seconds);
  fields("label", seen.label);
  fields("valid", seen.valid);
  fields("by_hand", seen.by_hand);
  fields("contended", seen.contended);
  fields("contended_by", seen.contended_by);
  seen.budget = head.first.budget;
  fields("budget", seen.budget);
  fields("active", seen.active);
  fields("unparked", seen.unparked_mean);
  fields("memory_bytes", seen.memory_bytes);
  fields("bound_shared", seen.bounds.shared_per_second);
  fields("bound_whole", seen.bounds.whole_per_second);
  fields("needed_workers", seen.bounds.needed_workers);
  for (const Json& loader : list_of(fields, "loaders", head.first.loaders.size()))
    seen.loaders.push_back(loader_of(loader));
  const Json& stages = list_of(fields, "stages", head.first.stages.size());
  for (std::size_t i = 0; i < stages.size(); ++i)
    seen.stages.push_back(stage_of(stages[i], head.first.stages[i]));
  return seen;
}

HostFigures host_of(const JsonFields& fields) {
  HostFigures host;
  // Logs of version 2 have these two beside the window's own.
  fields("others_cores", host.others_cores);
  fields("throttled_share", host.throttled_share);
  const Json* const found = fields.find_object("host");
  if (found == nullptr) return host;
  const JsonFields own(*found, "host");
  own("cpu_wait_share", host.cpu_wait_share);
  own("switches_per_cpu_second", host.switches_per_cpu_second);
  own("throttled_share", host.throttled_share);
  own("others_cores", host.others_cores);
  own("idle_cores", host.idle_cores);
  own("cpu_pressure", host.cpu_pressure);
  return host;
}

LogWindow window_of(const Json& object, const LogHead& head, LookRecord& looks) {
  const JsonFields fields(object, "window");
  const Json* const decision = fields.find_object("decision");
  if (decision == nullptr) refuse_json("decision", "is missing");
  LogWindow window;
  window.seen = observation_of(fields, head);
  window.host = host_of(fields);
  window.seen.host.others_cores = window.host.others_cores;
  window.seen.host.throttled_share = window.host.throttled_share;
  fields("left_out", window.left_out);
  fields("moves", window.moves);
  fields("settled", window.settled);
  Json bare = *decision;
  bare.erase("applied");  // what became of it is not the policy's
  window.decision = decision_of(*decision, head.stage_names);
  JsonFields(*decision, "decision")("applied", window.applied);
  window.decision_text = bare.dump();
  if (const Json* const outcome = fields.find_object("outcome")) {
    window.decision.outcome = outcome_of(*outcome);
    window.decision_text += outcome->dump();
  }
  if (const Json* const guard = fields.find_array("guard"))
    for (const Json& text : *guard) read_json(text, "guard", window.corrections.emplace_back());
  if (const Json* const observation = fields.find("observation")) {
    window.given = looks.read(*observation);
    const Snapshot& snapshot = window.given->snapshot;
    if (snapshot.stages.size() != head.first.stages.size() ||
        snapshot.loaders.size() != head.first.loaders.size())
      refuse_json("observation", "has other stages or loaders than the head");
    // A solver takes as long as there are workers.
    if (snapshot.budget < 0 || snapshot.budget > kMostBudget)
      refuse_json("budget", "is out of range");
  }
  return window;
}

}  // namespace

DecisionLogReader::DecisionLogReader(const std::string& path) : path_(path), file_(path) {
  const bool open = static_cast<bool>(file_);
  // A folder opens, and fails with the first character.
  if (open) errno = 0;
  if (!open || (file_.peek() == std::ifstream::traits_type::eof() && errno != 0))
    refuse(path_, std::string("the decision log cannot be read: ") + std::strerror(errno));
  if (file_.eof())
    refuse(path_, "is empty: the run ended before anything was decided, or its log went elsewhere");
  if (file_.peek() != '{') refuse(path_ + ":1", "is no decision log: a line of one is {…}");
}

std::string DecisionLogReader::place() const { return fmt::format("{}:{}", path_, line_); }

DecisionLogReader::Entry DecisionLogReader::read_entry(const std::string& text) {
  Json object;
  try {
    object = Json::parse(text);
  } catch (const Json::parse_error& error) {
    refuse(place(), fmt::format("is not JSON at character {}: {}", error.byte, shown(text)));
  }
  try {
    if (object.is_object() && object.contains("weir_log")) {
      head_ = head_of(object);
      head_.line = line_;
      looks_.restart();
      return head_;
    }
    if (head_.line == 0) refuse("", "is no decision log: its first line has no 'weir_log'");
    LogWindow window = window_of(object, head_, looks_);
    window.line = line_;
    return window;
  } catch (const Error& error) {
    refuse(place(), error.what());
  }
}

std::optional<DecisionLogReader::Entry> DecisionLogReader::next() {
  std::string text;
  while (std::getline(file_, text)) {
    ++line_;
    const bool cut_off = file_.eof();  // no end of line behind it
    if (text.find_first_not_of(" \t\r") == std::string::npos) continue;
    if (cut_off && !Json::accept(text)) {
      note_ = fmt::format("line {} is cut off: the run was killed, or is still going on", line_);
      return std::nullopt;
    }
    return read_entry(text);
  }
  if (file_.bad())
    refuse(place(), std::string("cannot be read to its end: ") + std::strerror(errno));
  return std::nullopt;
}

}  // namespace weir::detail
