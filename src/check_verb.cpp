#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <weir/plan_description.hpp>

#include "src/quantity_text.hpp"
#include "src/run_settings.hpp"
#include "src/standard_output.hpp"
#include "src/summary_json.hpp"
#include "src/text_table.hpp"
#include "src/verb.hpp"

namespace weir::program {
namespace {

using Json = nlohmann::ordered_json;
using Stage = PlanDescription::Stage;

/// A number set by hand, or who decides.
std::string by_hand(std::int64_t number, const char* otherwise) {
  return number > 0 ? fmt::format("{}", number) : otherwise;
}

/// The operators of a stage whose name does not tell them, and what its output edge does.
std::string contents(const Stage& stage) {
  const std::string operators = fmt::format("{}", fmt::join(stage.operators, "+"));
  std::string text = operators == stage.name ? "" : operators;
  if (!stage.behind.empty()) text += (text.empty() ? "then " : "; then ") + stage.behind;
  return text;
}

/// Names are whole, since a tuned file needs them so.
std::string stage_rows(const PlanDescription& plan) {
  const bool some = std::any_of(plan.stages.begin(), plan.stages.end(),
                                [](const Stage& stage) { return !contents(stage).empty(); });
  TextTable table({"stage", "kind", "workers", "cap", "queue", some ? "operators" : ""}, {0, 1, 5});
  for (const Stage& stage : plan.stages)
    table.add({stage.name, stage.kind, stage.serial ? "1 (serial)" : by_hand(stage.workers, "auto"),
               by_hand(stage.cap, "none"), by_hand(stage.queue, "auto"), contents(stage)});
  return table.text();
}

const char* action_name(TunedPlan::Action action) {
  switch (action) {
    case TunedPlan::Action::use:
      return "use";
    case TunedPlan::Action::probation:
      return "probation";
    case TunedPlan::Action::solved:
      return "solved";
    case TunedPlan::Action::ignore:
      return "ignore";
    case TunedPlan::Action::refuse:
      return "refuse";
  }
  return "";
}

constexpr int kNoCap = std::numeric_limits<int>::max();

std::string tuned_text(const Pipeline& pipeline, const PlanDescription& plan) {
  const std::string& file = pipeline.options.tuned;
  const TunedPlan& tuned = *plan.tuned;
  std::string text = "\ntuned file: ";
  switch (tuned.action) {
    case TunedPlan::Action::use:
      text += file + " would be used as it is, controller off\n";
      break;
    case TunedPlan::Action::probation:
      text += file + " would be the start of the tuning, on probation\n";
      break;
    case TunedPlan::Action::solved:
      text += fmt::format("{}: {}\n", file, tuned.text);
      break;
    default:
      text += tuned.text + "\n";
  }
  if (!tuned.allocation) return text;
  const Allocation& allocation = *tuned.allocation;
  text += fmt::format("{} of {} workers awake{}\n", allocation.active, plan.budget_threads,
                      allocation.strict ? ", whole workers a stage" : "");
  TextTable table({"stage", "target", "cap", "queue"});
  for (std::size_t i = 0; i < plan.stages.size(); ++i) {
    const StageAllocation& stage = allocation.stages[i];
    table.add({plan.stages[i].name,
               stage.group >= 0 ? fmt::format("group {}", stage.group + 1)
                                : fmt::format("{:.{}f}", stage.target, allocation.strict ? 0 : 2),
               stage.cap < plan.budget_threads ? fmt::format("{}", stage.cap) : "none",
               by_hand(stage.depth_items, "auto")});
  }
  return text + table.text();
}

Json tuned_json(const Pipeline& pipeline, const PlanDescription& plan) {
  if (!plan.tuned) return nullptr;
  Json document{{"file", pipeline.options.tuned},
                {"action", action_name(plan.tuned->action)},
                {"text", plan.tuned->text}};
  if (!plan.tuned->allocation) return document;
  const Allocation& allocation = *plan.tuned->allocation;
  document["active"] = allocation.active;
  document["strict"] = allocation.strict;
  Json& stages = document["stages"] = Json::object();
  for (std::size_t i = 0; i < plan.stages.size(); ++i) {
    const StageAllocation& stage = allocation.stages[i];
    stages[plan.stages[i].name] = {
        {"target", stage.target},
        {"cap", stage.cap == kNoCap ? Json(nullptr) : Json(stage.cap)},
        {"queue", stage.depth_items > 0 ? Json(stage.depth_items) : Json(nullptr)}};
  }
  return document;
}

std::string plan_text(const Pipeline& pipeline, const PlanDescription& plan) {
  std::string text =
      fmt::format("{} ({}): structure {}\n", pipeline.name, pipeline.file, plan.structure);
  text += plan.source_items
              ? fmt::format("source: {} items", count_text(static_cast<double>(*plan.source_items)))
              : "source: no index, as many items as it gives";
  if (!plan.classes.empty()) text += fmt::format(", {} classes", plan.classes.size());
  if (!plan.remark.empty()) text += "; " + plan.remark;
  text += "\n";
  if (plan.outputs_per_epoch)
    text += fmt::format("epoch: {}{} {}\n", plan.outputs_exact ? "" : "at most ",
                        count_text(static_cast<double>(*plan.outputs_per_epoch)),
                        pipeline.has_batches() ? "batches" : "samples");
  text += fmt::format("machine: {} workers ({}), memory at most {}\n", plan.budget_threads,
                      plan.budget_source, bytes_text(plan.memory_bound_bytes));
  text += fmt::format("order: {}; resume: {}; rows: {}\n", plan.any_order ? "any" : "input",
                      plan.any_order      ? "none"
                      : plan.exact_resume ? "exact, reads only what is left"
                                          : "exact, reads the stream again from its beginning",
                      plan.in_place ? "written in place in the batch" : "copied into the batch");
  for (const std::string& chain : plan.image_kernels)
    text += fmt::format("image path: one kernel for {}; --image-path plain keeps the operators\n",
                        chain);
  text += "\n" + stage_rows(plan);
  return plan.tuned ? text + tuned_text(pipeline, plan) : text;
}

Json plan_json(const Pipeline& pipeline, const PlanDescription& plan) {
  Json stages = Json::array();
  for (const Stage& stage : plan.stages)
    stages.push_back({{"name", stage.name},
                      {"kind", stage.kind},
                      {"operators", stage.operators},
                      {"serial", stage.serial},
                      {"workers", stage.workers > 0 ? Json(stage.workers) : Json(nullptr)},
                      {"cap", stage.cap > 0 ? Json(stage.cap) : Json(nullptr)},
                      {"queue", stage.queue > 0 ? Json(stage.queue) : Json(nullptr)},
                      {"behind", stage.behind}});
  Json operators = Json::array();
  for (const WrittenOperator& written : pipeline.operators)
    operators.push_back(
        {{"operator", written.op}, {"stage", written.stage}, {"place", written.location.text()}});
  return {
      {"pipeline", pipeline.name},
      {"file", pipeline.file},
      {"structure", plan.structure},
      {"source_items", plan.source_items ? Json(*plan.source_items) : Json(nullptr)},
      {"classes", plan.classes},
      {"outputs_per_epoch", plan.outputs_per_epoch ? Json(*plan.outputs_per_epoch) : Json(nullptr)},
      {"outputs_exact", plan.outputs_exact},
      {"in_place", plan.in_place},
      {"exact_resume", plan.exact_resume},
      {"budget", {{"threads", plan.budget_threads}, {"source", plan.budget_source}}},
      {"memory_bound_bytes", plan.memory_bound_bytes},
      {"image_kernels", plan.image_kernels},
      {"tuned", tuned_json(pipeline, plan)},
      {"stages", std::move(stages)},
      {"operators", std::move(operators)}};
}

}  // namespace

int check_verb(const CommandLine& line, SignalWatch&) {
  const RunSettings settings = run_settings(line, "check");
  const Pipeline& pipeline = settings.pipeline;
  const auto last = std::visit([](const auto& stream) { return stream.step(); }, pipeline.stream);
  try {
    const PlanDescription plan = describe_plan(last, pipeline.options);
    write_output(line.has("--json") ? document_text(plan_json(pipeline, plan))
                                    : plan_text(pipeline, plan));
  } catch (const Error& error) {
    throw pipeline.with_place(error);
  }
  return 0;
}

}  // namespace weir::program
