#include "tuner/decision_record.hpp"

#include "tuner/json_field.hpp"

#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace weir::detail {
namespace {

// Keys in the order in which a person reads them.
using Json = nlohmann::ordered_json;

constexpr const char* kUnlimited = "unlimited";

Json json_of(const Allocation& allocation, const std::vector<std::string>& names) {
  Json result{{"active", allocation.active}, {"strict", allocation.strict}};
  if (!allocation.helping) result["helping"] = false;
  if (!allocation.strict)
    result["stay"] =
        std::isinf(allocation.stay_slack) ? Json(kUnlimited) : rounded_json(allocation.stay_slack);
  Json& all = result["stages"] = Json::object();
  for (std::size_t i = 0; i < allocation.stages.size(); ++i) {
    const StageAllocation& own = allocation.stages[i];
    Json each{{"target", rounded_json(own.target)}};
    if (own.cap != std::numeric_limits<int>::max()) each["cap"] = own.cap;
    if (own.depth_items > 0) each["depth"] = own.depth_items;
    if (own.packet_items > 0) each["packet"] = own.packet_items;
    if (own.group >= 0) each["group"] = own.group;
    all[i < names.size() ? names[i] : std::to_string(i)] = std::move(each);
  }
  if (!allocation.groups.empty()) result["groups"] = allocation.groups;
  return result;
}

Allocation allocation_of(const Json& record, const std::vector<std::string>& names) {
  const JsonFields fields(record, "allocation");
  Allocation allocation;
  fields("active", allocation.active);
  fields("strict", allocation.strict);
  fields("helping", allocation.helping);
  if (const Json* const stay = fields.find("stay")) {
    if (*stay == kUnlimited)
      allocation.stay_slack = Allocation::kUnlimited;
    else
      read_json(*stay, "stay", allocation.stay_slack);
  }
  if (const Json* const stages = fields.find_object("stages")) {
    allocation.stages.resize(names.size());
    for (std::size_t i = 0; i < names.size(); ++i) {
      const auto found = stages->find(names[i]);
      if (found == stages->end()) continue;
      const JsonFields stage(*found, "stages");
      StageAllocation& own = allocation.stages[i];
      stage("target", own.target);
      stage("cap", own.cap);
      stage("depth", own.depth_items);
      stage("packet", own.packet_items);
      stage("group", own.group);
    }
  }
  if (const Json* const groups = fields.find_array("groups"))
    for (const Json& workers : *groups)
      read_json(workers, "groups", allocation.groups.emplace_back());
  return allocation;
}

/// The value of `Named` whose name the field has. Its values are numbered from 0 without gaps.
template <class Named>
void read_named(const Json& record, const char* field, Named& to) {
  constexpr int kMost = 64;
  std::string name;
  JsonFields(record, "decision")(field, name);
  for (int i = 0; i < kMost; ++i)
    if (name_of(static_cast<Named>(i)) == name) {
      to = static_cast<Named>(i);
      return;
    }
  refuse_json(field, "is none that this version knows");
}

}  // namespace

Json rounded_json(double value, int digits) {
  if (!std::isfinite(value)) return nullptr;
  if (value == 0) return 0.0;
  const double scale = std::pow(10.0, digits - 1 - std::floor(std::log10(std::abs(value))));
  const double rounded = std::round(value * scale) / scale;
  return std::isfinite(rounded) ? rounded : value;
}

std::vector<std::string> stage_names(const Observation& seen) {
  std::map<std::string, int> loaders;
  for (const LoaderObservation& loader : seen.loaders) ++loaders[loader.name];
  std::map<std::string, int> stages;
  for (const StageObservation& stage : seen.stages) ++stages[stage.name];
  std::vector<std::string> names;
  for (const StageObservation& stage : seen.stages) {
    const auto loader = static_cast<std::size_t>(stage.loader);
    std::string name = stage.name;
    if (stages[stage.name] > 1 && loader < seen.loaders.size()) {
      const std::string& of = seen.loaders[loader].name;
      name = fmt::format("{}{}/{}", of, loaders[of] > 1 ? fmt::format("#{}", loader) : "", name);
    }
    names.push_back(std::move(name));
  }
  return names;
}

Json decision_json(const Decision& decision, const std::vector<std::string>& stage_names) {
  Json record{{"kind", name_of(decision.kind)},
              {"phase", decision.phase},
              {"reason", decision.reason},
              {"predicted_gain", rounded_json(decision.predicted_gain)}};
  if (decision.predicted_per_second > 0)
    record["predicted_per_second"] = rounded_json(decision.predicted_per_second);
  if (decision.look_again_seconds > 0)
    record["look_again"] = rounded_json(decision.look_again_seconds);
  if (decision.allocation) record["allocation"] = json_of(*decision.allocation, stage_names);
  return record;
}

Json outcome_json(const Outcome& outcome) {
  return {{"kind", name_of(outcome.kind)},
          {"verdict", name_of(outcome.verdict)},
          {"predicted_gain", rounded_json(outcome.predicted_gain)},
          {"realised_gain", rounded_json(outcome.realised_gain)},
          {"standard_error", rounded_json(outcome.standard_error)}};
}

Decision decision_of(const Json& record, const std::vector<std::string>& stage_names) {
  const JsonFields fields(record, "decision");
  Decision decision;
  read_named(record, "kind", decision.kind);
  fields("phase", decision.phase);
  fields("reason", decision.reason);
  fields("predicted_gain", decision.predicted_gain);
  fields("predicted_per_second", decision.predicted_per_second);
  fields("look_again", decision.look_again_seconds);
  if (const Json* const allocation = fields.find_object("allocation"))
    decision.allocation = allocation_of(*allocation, stage_names);
  return decision;
}

Outcome outcome_of(const Json& record) {
  const JsonFields fields(record, "outcome");
  Outcome outcome;
  read_named(record, "kind", outcome.kind);
  read_named(record, "verdict", outcome.verdict);
  fields("predicted_gain", outcome.predicted_gain);
  fields("realised_gain", outcome.realised_gain);
  fields("standard_error", outcome.standard_error);
  return outcome;
}

}  // namespace weir::detail
