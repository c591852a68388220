#include "tuner/decision_log.hpp"

#include <weir/error.hpp>

#include <cerrno>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>

#include <fcntl.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

namespace weir::detail {
namespace {

// Keys in the order in which a person reads them.
using Json = nlohmann::ordered_json;

// Six digits say all that a measurement knows, and keep lines short; JSON has no infinity.
Json number(double value) {
  if (!std::isfinite(value)) return nullptr;
  if (value == 0) return 0.0;
  const double scale = std::pow(10.0, 5 - std::floor(std::log10(std::abs(value))));
  const double rounded = std::round(value * scale) / scale;
  return std::isfinite(rounded) ? rounded : value;
}

Json json_of(const Allocation& allocation, const std::vector<StageObservation>& stages) {
  Json result{{"active", allocation.active}, {"strict", allocation.strict}};
  if (!allocation.helping) result["helping"] = false;
  if (!allocation.strict) result["stay"] = number(allocation.stay_slack);
  Json& all = result["stages"] = Json::object();
  for (std::size_t i = 0; i < allocation.stages.size(); ++i) {
    const StageAllocation& own = allocation.stages[i];
    Json each{{"target", number(own.target)}};
    if (own.cap != std::numeric_limits<int>::max()) each["cap"] = own.cap;
    if (own.depth_items > 0) each["depth"] = own.depth_items;
    if (own.packet_items > 0) each["packet"] = own.packet_items;
    if (own.group >= 0) each["group"] = own.group;
    all[i < stages.size() ? stages[i].name : std::to_string(i)] = std::move(each);
  }
  if (!allocation.groups.empty()) result["groups"] = allocation.groups;
  return result;
}

Json json_of(const StageObservation& stage) {
  return {{"name", stage.name},
          {"completions", stage.completions},
          {"items_per_second", number(stage.items_per_second)},
          {"service_us", number(1e6 * stage.service_seconds)},
          {"smoothed_us", number(1e6 * stage.estimate.service_seconds)},
          {"error", number(stage.estimate.relative_error)},
          {"trusted", stage.estimate.trusted},
          {"visits", number(stage.estimate.visits)},
          {"demand_us", number(1e6 * stage.estimate.demand_seconds)},
          {"running", number(stage.running_mean)},
          {"wait_input", number(stage.wait_input_share)},
          {"wait_output", number(stage.wait_output_share)},
          {"queue", number(stage.queue_mean)},
          {"queue_empty", number(stage.queue_empty_share)},
          {"queue_full", number(stage.queue_full_share)},
          {"drifted", stage.drifted}};
}

Json json_of(const LoaderObservation& loader) {
  return {{"name", loader.name},
          {"items", loader.items},
          {"items_per_second", number(loader.items_per_second)},
          {"wait_share", number(loader.wait_share)},
          {"service_us", number(1e6 * loader.service_seconds)},
          {"peak_per_second", number(loader.peak_per_second)},
          {"paused", loader.paused}};
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

void DecisionLog::begin(const TuningOptions& options, const Observation& first) {
  if (file_ < 0) return;
  Json stages = Json::array();
  for (const StageObservation& stage : first.stages)
    stages.push_back({{"name", stage.name},
                      {"loader", stage.loader},
                      {"serial", stage.serial},
                      {"fixed_workers", stage.fixed_workers},
                      {"hand_cap", stage.hand_cap}});
  const Json line{{"weir_log", 1},
                  {"time", number(first.time_seconds)},
                  {"policy", options.policy},
                  {"strict", options.strict},
                  {"settings", options.settings},
                  {"seed", options.seed},
                  {"budget", first.budget},
                  {"stages", std::move(stages)}};
  put(line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
}

void DecisionLog::write(const Observation& seen, const Decision& decision,
                        const std::vector<std::string>& corrections, bool applied) {
  if (file_ < 0) return;
  Json line{{"time", seen.time_seconds},
            {"window", number(seen.window_seconds)},
            {"label", seen.label},
            {"valid", seen.valid && !seen.first_after_change}};
  if (!seen.valid) line["left_out"] = seen.invalid_reason;
  if (seen.first_after_change) line["left_out"] = "first window after a change";
  line["active"] = seen.active;
  line["unparked"] = number(seen.unparked_mean);
  line["memory_bytes"] = seen.memory_bytes;
  line["bound_shared"] = number(seen.bounds.shared_per_second);
  line["bound_whole"] = number(seen.bounds.whole_per_second);
  line["needed_workers"] = seen.bounds.needed_workers;
  Json& loaders = line["loaders"] = Json::array();
  for (const LoaderObservation& loader : seen.loaders) loaders.push_back(json_of(loader));
  Json& stages = line["stages"] = Json::array();
  for (const StageObservation& stage : seen.stages) stages.push_back(json_of(stage));
  Json& wanted = line["decision"] = Json{{"kind", name_of(decision.kind)},
                                         {"phase", decision.phase},
                                         {"reason", decision.reason},
                                         {"predicted_gain", number(decision.predicted_gain)}};
  if (decision.predicted_per_second > 0)
    wanted["predicted_per_second"] = number(decision.predicted_per_second);
  if (decision.allocation) {
    wanted["allocation"] = json_of(*decision.allocation, seen.stages);
    wanted["applied"] = applied;
  }
  if (!corrections.empty()) line["guard"] = corrections;
  if (decision.outcome)
    line["outcome"] = {{"kind", name_of(decision.outcome->kind)},
                       {"verdict", name_of(decision.outcome->verdict)},
                       {"predicted_gain", number(decision.outcome->predicted_gain)},
                       {"realised_gain", number(decision.outcome->realised_gain)},
                       {"standard_error", number(decision.outcome->standard_error)}};
  // File names may hold any bytes; what is not UTF-8 is replaced, never thrown at.
  put(line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace weir::detail
