#include "tuner/trial_start.hpp"

#include <weir/error.hpp>
#include <weir/random.hpp>
#include <weir/tuned_plan.hpp>

#include <cstddef>
#include <utility>

namespace weir::detail {
namespace {

Allocation tuned_start(const Scenario& scenario, const Conditions& now, bool strict) {
  const TunedFile file = read_tuned_file(scenario.tuned);
  TunedContext context;
  context.pipeline.name = scenario.name;
  // The names of the stages are compared; a scenario has no operators that could differ.
  if (file.pipeline) context.pipeline.structure = file.pipeline->structure;
  context.machine.fingerprint = "simulated";
  context.budget = now.workers;
  if (file.machine && file.budget.threads.value_or(now.workers) == now.workers)
    context.machine = *file.machine;
  for (const ScenarioStage& stage : now.processes.front().stages)
    context.stages.push_back({stage.name, stage.serial, stage.fixed_workers, stage.hand_cap});
  context.strict = strict;
  context.autotune = true;
  TunedPlan plan = plan_tuned(file, context);
  if (!plan.allocation) throw Error(ErrorKind::usage, scenario.file, plan.text);
  return std::move(*plan.allocation);
}

}  // namespace

TuningOptions tuning_of(const Scenario& scenario, const TrialOptions& options,
                        const Timetable& timetable, int process) {
  TuningOptions tuning;
  tuning.policy = options.policy;
  tuning.strict = timetable.strict();
  tuning.settings = options.settings;
  if (process == 0) tuning.log_path = options.log_path;
  tuning.seed = mix_bits(options.seed + 0x1000 * static_cast<std::uint64_t>(process + 1));
  if (options.policy == "even" || options.policy == "share") return tuning;
  const Conditions now = timetable.at(0);
  const ScenarioProcess& own = now.processes[static_cast<std::size_t>(process)];
  if (process == 0 && !scenario.tuned.empty())
    tuning.start = tuned_start(scenario, now, timetable.strict());
  else if (scenario.start.kind != ScenarioStart::Kind::policy)
    tuning.start = starting_allocation(scenario.start, own, now.workers, timetable.cores_left(0),
                                       timetable.strict());
  if (!tuning.start) return tuning;
  for (const ScenarioStage& stage : own.stages) tuning.start_stages.push_back(stage.name);
  return tuning;
}

}  // namespace weir::detail
