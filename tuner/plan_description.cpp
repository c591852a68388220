#include <weir/plan_description.hpp>

#include <fmt/format.h>

#include <weir/error.hpp>
#include <weir/memory_limit.hpp>
#include <weir/thread_budget.hpp>

#include "pipeline/stage_plan.hpp"
#include "tuner/plan_options.hpp"
#include "tuner/tuned_context.hpp"

namespace weir {
namespace {

std::string kind_of(const detail::PlannedStage& stage) {
  if (stage.steps.empty()) return "pass";
  switch (stage.steps.back()->kind) {
    case detail::Step::Kind::filter:
      return "filter";
    case detail::Step::Kind::flat_map:
      return "flat_map";
    case detail::Step::Kind::batch:
      return "batch";
    default:
      return "map";
  }
}

}  // namespace

PlanDescription describe_plan(const std::shared_ptr<const detail::Step>& last,
                              const Options& options) {
  const detail::StagePlan plan =
      detail::make_stage_plan(last, options.seed, detail::fusion_of(options.fuse),
                              options.order == Order::any, detail::kernels_of(options.image_path));
  ThreadBudgetRequest request;
  if (options.workers) request.explicit_limit = RequestedThreads{*options.workers, "workers"};
  request.oversubscribe = options.oversubscribe;
  request.reserve = options.reserve;
  const ThreadBudget budget = derive_thread_budget(request);
  budget.throw_if_refused();

  PlanDescription description;
  description.budget_threads = budget.threads;
  description.budget_source = std::string(to_string(budget.source));
  description.memory_bound_bytes = derive_memory_limit(options.memory_bytes).bytes;
  description.classes = plan.source->classes();
  description.source_items = plan.source->size();
  description.outputs_per_epoch = plan.outputs_per_epoch(description.outputs_exact);
  description.in_place = plan.in_place;
  description.exact_resume = plan.exact_resume;
  description.any_order = options.order == Order::any;
  description.structure = fmt::format("{:016x}", plan.structure);
  description.remark = plan.source->remark();
  description.image_kernels = plan.kernel_chains;
  for (const detail::PlannedStage& planned : plan.stages) {
    PlanDescription::Stage& stage = description.stages.emplace_back();
    stage.name = planned.name;
    for (const auto& step : planned.steps) stage.operators.push_back(step->written);
    stage.kind = kind_of(planned);
    stage.serial = planned.serial;
    stage.workers = planned.options.workers;
    stage.cap = planned.options.cap;
    stage.queue = planned.depth;
    for (const auto& step : planned.renumbering)
      stage.behind +=
          fmt::format("{}{} {}", stage.behind.empty() ? "" : ", ", step->name, step->count);
  }
  if (!options.tuned.empty()) {
    description.tuned = plan_tuned(read_tuned_file(options.tuned),
                                   detail::make_tuned_context(plan, options, budget.threads));
    if (description.tuned->action == TunedPlan::Action::refuse)
      throw Error(ErrorKind::usage, "", description.tuned->text);
  }
  return description;
}

}  // namespace weir
