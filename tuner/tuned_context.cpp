#include "tuner/tuned_context.hpp"

#include <fmt/format.h>

#include "machine/machine_description.hpp"
#include "machine/topology.hpp"

namespace weir::detail {

MachineIdentity identify_machine() {
  const MachineDescription machine = describe_machine(read_topology());
  MachineIdentity identity;
  identity.cpu = machine.cpu_model;
  identity.threads = machine.threads;
  identity.cores = machine.cores;
  identity.nodes = machine.nodes;
  identity.quota = machine.quota ? fmt::format("{:g}", *machine.quota) : "none";
  identity.memory = fmt::format("{}GiB", machine.memory_bytes >> 30U);
  identity.fingerprint = machine.fingerprint;
  return identity;
}

PipelineIdentity identify_pipeline(const StagePlan& plan, const Options& options) {
  return {options.name, fmt::format("{:016x}", plan.structure)};
}

TunedContext make_tuned_context(const StagePlan& plan, const Options& options, int budget) {
  TunedContext context;
  context.pipeline = identify_pipeline(plan, options);
  context.machine = identify_machine();
  for (const PlannedStage& stage : plan.stages)
    context.stages.push_back({stage.name, stage.serial, stage.options.workers, stage.options.cap});
  context.budget = budget;
  context.strict = options.strict;
  context.autotune = options.autotune;
  context.ignore_mismatch = options.tuned_mismatch == TunedMismatch::ignore;
  return context;
}

}  // namespace weir::detail
