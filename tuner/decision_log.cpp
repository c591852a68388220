#include "tuner/decision_log.hpp"

#include <weir/error.hpp>
#include <weir/version.hpp>

#include "tuner/decision_record.hpp"
#include "tuner/host_totals.hpp"

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

namespace weir::detail {
namespace {

// Keys in the order in which a person reads them.
using Json = nlohmann::ordered_json;

// Four digits are more than one window knows of a stage.
Json brief(double value) { return rounded_json(value, 4); }

// What is as usual is left out: a zero, a stage that is trusted. Lines stay short, and what is not
// usual shows.
void put_unusual(Json& to, const char* key, double value) {
  if (value != 0) to[key] = brief(value);
}

Json json_of(const StageObservation& stage, const std::string& name) {
  Json each{{"name", name},
            {"items_per_second", brief(stage.items_per_second)},
            {"service_us", brief(1e6 * stage.service_seconds)},
            {"smoothed_us", brief(1e6 * stage.estimate.service_seconds)},
            {"error", brief(stage.estimate.relative_error)},
            {"visits", brief(stage.estimate.visits)},
            {"running", brief(stage.running_mean)}};
  if (!stage.estimate.trusted) each["trusted"] = false;
  put_unusual(each, "wait_input", stage.wait_input_share);
  put_unusual(each, "wait_output", stage.wait_output_share);
  put_unusual(each, "queue", stage.queue_mean);
  put_unusual(each, "queue_empty", stage.queue_empty_share);
  put_unusual(each, "queue_full", stage.queue_full_share);
  put_unusual(each, "cpus", stage.cpus_mean);
  put_unusual(each, "system", stage.system_share);
  put_unusual(each, "blocked", stage.blocked_share);
  if (!stage.hint.empty()) each["hint"] = stage.hint;
  if (stage.suspect) each["suspect"] = true;
  if (stage.drifted) each["drifted"] = true;
  return each;
}

Json json_of(const LoaderObservation& loader) {
  Json each{{"name", loader.name},
            {"items", loader.items},
            {"items_per_second", rounded_json(loader.items_per_second)},
            {"wait_share", rounded_json(loader.wait_share)},
            {"service_us", rounded_json(1e6 * loader.service_seconds)}};
  put_unusual(each, "peak_per_second", loader.peak_per_second);
  if (loader.paused) each["paused"] = true;
  return each;
}

Json host_json(const Observation& seen) {
  const HostFigures figures = host_figures(seen);
  Json host = Json::object();
  put_unusual(host, "cpu_wait_share", figures.cpu_wait_share);
  put_unusual(host, "switches_per_cpu_second", figures.switches_per_cpu_second);
  put_unusual(host, "throttled_share", figures.throttled_share);
  put_unusual(host, "others_cores", figures.others_cores);
  put_unusual(host, "idle_cores", figures.idle_cores);
  put_unusual(host, "cpu_pressure", figures.cpu_pressure);
  return host;
}

// File names may hold any bytes; what is not UTF-8 is replaced, never thrown at.
std::string line_of(const Json& object) {
  return object.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

DecisionLog::DecisionLog(const std::string& path) : path_(path) {
  if (path_.empty()) return;
  file_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file_ < 0)
    throw Error(ErrorKind::cannot, path_,
                std::string("the decision log cannot be opened: ") + std::strerror(errno));
}

DecisionLog::~DecisionLog() {
  if (file_ >= 0) ::close(file_);
}

void DecisionLog::put(const std::string& line) {
  std::size_t written = 0;
  while (file_ >= 0 && written < line.size()) {
    const ssize_t count = ::write(file_, line.data() + written, line.size() - written);
    if (count >= 0) {
      written += static_cast<std::size_t>(count);
    } else if (errno != EINTR) {
      error_ = path_ + ": the decision log ends early: " + std::strerror(errno);
      ::close(file_);
      file_ = -1;
    }
  }
}

void DecisionLog::begin(const TuningOptions& options, const Observation& first,
                        const std::optional<Allocation>& start) {
  if (file_ < 0) return;
  looks_.restart();
  Json loaders = Json::array();
  for (const LoaderObservation& loader : first.loaders) loaders.push_back(loader.name);
  const std::vector<std::string> names = stage_names(first);
  Json stages = Json::array();
  for (std::size_t i = 0; i < first.stages.size(); ++i) {
    const StageObservation& stage = first.stages[i];
    Json each{{"name", names[i]}, {"loader", stage.loader}};
    if (stage.serial) each["serial"] = true;
    if (stage.fixed_workers > 0) each["fixed_workers"] = stage.fixed_workers;
    if (stage.hand_cap > 0) each["hand_cap"] = stage.hand_cap;
    stages.push_back(std::move(each));
  }
  Json line{{"weir_log", kVersion},
            {"weir", version()},
            {"time", rounded_json(first.time_seconds)},
            {"policy", options.policy},
            {"strict", options.strict},
            {"settings", options.settings},
            {"seed", options.seed},
            {"budget", first.budget},
            {"loaders", std::move(loaders)},
            {"stages", std::move(stages)}};
  if (start) line["start"] = exact_json(*start);
  put(line_of(line));
}

void DecisionLog::write(const Line& what) {
  if (file_ < 0) return;
  const Observation& seen = what.seen;
  const Decision& decision = what.decision;
  const std::vector<std::string> names = stage_names(seen);
  Json line{{"time", seen.time_seconds},
            {"window", rounded_json(seen.window_seconds)},
            {"label", seen.label},
            {"valid", seen.valid && !seen.first_after_change}};
  if (!seen.valid) line["left_out"] = seen.invalid_reason;
  if (seen.first_after_change) line["left_out"] = "first window after a change";
  if (seen.by_hand) line["by_hand"] = true;
  if (seen.contended) line["contended"] = true;
  if (!seen.contended_by.empty()) line["contended_by"] = seen.contended_by;
  line["host"] = host_json(seen);
  line["budget"] = seen.budget;
  line["active"] = seen.active;
  line["unparked"] = rounded_json(seen.unparked_mean);
  line["memory_bytes"] = seen.memory_bytes;
  line["bound_shared"] = rounded_json(seen.bounds.shared_per_second);
  line["bound_whole"] = rounded_json(seen.bounds.whole_per_second);
  line["needed_workers"] = seen.bounds.needed_workers;
  line["moves"] = what.standing.moves;
  line["settled"] = what.standing.settled;
  Json& loaders = line["loaders"] = Json::array();
  for (const LoaderObservation& loader : seen.loaders) loaders.push_back(json_of(loader));
  Json& stages = line["stages"] = Json::array();
  for (std::size_t i = 0; i < seen.stages.size(); ++i)
    stages.push_back(json_of(seen.stages[i], names[i]));
  Json& wanted = line["decision"] = decision_json(decision, names);
  if (decision.allocation) wanted["applied"] = what.applied;
  if (!what.corrections.empty()) line["guard"] = what.corrections;
  if (decision.outcome) line["outcome"] = outcome_json(*decision.outcome);
  line["observation"] = looks_.write(what.given);
  put(line_of(line));
}

}  // namespace weir::detail
