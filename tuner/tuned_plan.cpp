#include <weir/tuned_plan.hpp>

#include <weir/version.hpp>

#include "policies/allotment.hpp"
#include "policies/nearest_name.hpp"
#include "policies/problem.hpp"
#include "policies/solver.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <set>

#include <fmt/format.h>

namespace weir {
namespace {

constexpr double kReleaseMargin = 1.1;  // over the consumer's rate, as the tuner keeps it

using Stage = TunedContext::Stage;

template <class Named>
const Named* found(const std::vector<Named>& all, const std::string& name) {
  const auto it =
      std::find_if(all.begin(), all.end(), [&](const Named& each) { return each.name == name; });
  return it == all.end() ? nullptr : &*it;
}

std::string joined(const std::vector<std::string>& names) {
  const std::vector<std::string_view> views(names.begin(), names.end());
  return detail::listed(views);
}

/// What differs between the file's pipeline and this one; empty: nothing.
std::string difference(const TunedFile& file, const TunedContext& context) {
  std::vector<std::string> missing;
  std::vector<std::string> extra;
  for (const Stage& stage : context.stages)
    if (found(file.stages, stage.name) == nullptr) missing.push_back(stage.name);
  for (const TunedFile::Stage& stage : file.stages)
    if (found(context.stages, stage.name) == nullptr) extra.push_back(stage.name);
  std::string text;
  if (!missing.empty()) text += "the file lacks the stages " + joined(missing);
  if (!extra.empty())
    text +=
        (text.empty() ? "" : "; ") + std::string("the pipeline lacks the stages ") + joined(extra);
  if (text.empty() && file.pipeline && !file.pipeline->structure.empty() &&
      file.pipeline->structure != context.pipeline.structure)
    text = fmt::format(
        "the stages have the same names, but other order, operators or parameters "
        "(structure {} in the file, {} here)",
        file.pipeline->structure, context.pipeline.structure);
  return text;
}

bool same_machine(const TunedFile& file, const TunedContext& context) {
  if (!file.machine) return true;  // made by hand: taken as this machine's
  if (!file.machine->fingerprint.empty())
    return file.machine->fingerprint == context.machine.fingerprint;
  return file.machine->cpu == context.machine.cpu &&
         file.machine->threads == context.machine.threads &&
         file.machine->quota == context.machine.quota;
}

int sum_of_workers(const TunedFile& file) {
  int total = 0;
  std::set<std::string> grouped;
  for (const TunedFile::Group& group : file.groups) {
    total += group.workers;
    grouped.insert(group.stages.begin(), group.stages.end());
  }
  for (const TunedFile::Stage& stage : file.stages)
    if (grouped.count(stage.name) == 0) total += stage.workers.value_or(0);
  return total;
}

/// The keys that evidence would need to be solved from; empty: it is complete.
std::vector<std::string> missing_evidence(const TunedFile& file, const TunedContext& context) {
  std::vector<std::string> missing;
  for (const Stage& stage : context.stages) {
    const TunedFile::StageEvidence* seen = found(file.evidence.stages, stage.name);
    if (seen == nullptr || seen->service_time_us <= 0)
      missing.push_back(fmt::format("evidence.stages.{}.service_time_us", stage.name));
    if (seen != nullptr && seen->visits <= 0)
      missing.push_back(fmt::format("evidence.stages.{}.visits", stage.name));
  }
  return missing;
}

/// A cap below the file's own budget was found out. Where the levels do not show why, as they end
/// at it, it is all that is known of what lies beyond. 0: none.
int most_of(const TunedFile& file, const TunedFile::StageEvidence& known, const Stage& stage) {
  const TunedFile::Stage* const written = found(file.stages, stage.name);
  if (written == nullptr || !written->cap || !file.budget.threads ||
      *written->cap >= *file.budget.threads)
    return stage.hand_cap;
  double highest = 0;
  for (const auto& [running, service_us] : known.levels) highest = std::max(highest, running);
  if (highest >= *written->cap + 0.5) return stage.hand_cap;
  return stage.hand_cap > 0 ? std::min(stage.hand_cap, *written->cap) : *written->cap;
}

/// The file's evidence as if it had just been observed here.
Observation observed(const TunedFile& file, const TunedContext& context) {
  Observation seen;
  seen.budget = context.budget;
  LoaderObservation& loader = seen.loaders.emplace_back();
  loader.asked = true;
  // The rate is the consumer's own only where the consumer was the limit.
  if (file.evidence.label == "consumer")
    loader.peak_per_second = file.evidence.consumer_rate_per_second.value_or(0.0);
  for (const Stage& stage : context.stages) {
    const TunedFile::StageEvidence& known = *found(file.evidence.stages, stage.name);
    StageObservation& own = seen.stages.emplace_back();
    own.name = stage.name;
    own.serial = stage.serial;
    own.fixed_workers = stage.fixed_workers;
    own.hand_cap = most_of(file, known, stage);
    StageEstimate& estimate = own.estimate;
    estimate.service_seconds = 1e-6 * known.service_time_us;
    estimate.cv = known.cv;
    estimate.visits = known.visits;
    estimate.visits_known = true;
    estimate.demand_seconds = estimate.visits * estimate.service_seconds;
    const double samples = static_cast<double>(std::max<std::uint64_t>(known.samples, 1));
    for (const auto& [running, service_us] : known.levels)
      if (running > 0 && service_us > 0)
        estimate.levels.push_back({running, 1e-6 * service_us,
                                   known.cv / std::sqrt(samples / double(known.levels.size())),
                                   samples});
    std::sort(estimate.levels.begin(), estimate.levels.end(),
              [](const Level& a, const Level& b) { return a.running < b.running; });
  }
  return seen;
}

void set_depths(const TunedFile& file, const TunedContext& context, Allocation& allocation) {
  for (std::size_t i = 0; i < context.stages.size(); ++i) {
    for (const TunedFile::Queue& queue : file.queues)
      if (queue.stage == context.stages[i].name) allocation.stages[i].depth_items = queue.items;
    const TunedFile::Stage* stage = found(file.stages, context.stages[i].name);
    if (stage != nullptr) allocation.stages[i].packet_items = stage->packet_items.value_or(0);
  }
}

Allocation solved(const TunedFile& file, const TunedContext& context, bool strict) {
  const Observation seen = observed(file, context);
  const detail::Problem problem = detail::make_problem(seen, kReleaseMargin, strict);
  const detail::Solution solution =
      strict ? detail::solve_whole(problem) : detail::solve_shared(problem);
  Allocation result;
  if (solution.workers.size() != context.stages.size())
    result = detail::even_allotment(seen, strict, 1.0);
  else if (strict)
    result = detail::whole_allotment(seen, solution);
  else
    result = detail::shared_allotment(seen, solution.workers,
                                      static_cast<int>(std::ceil(solution.total - 1e-6)), 1.0);
  set_depths(file, context, result);
  return result;
}

Allocation as_written(const TunedFile& file, const TunedContext& context, bool strict) {
  Allocation result;
  result.strict = strict;
  result.stages.resize(context.stages.size());
  double total = 0;
  for (std::size_t i = 0; i < context.stages.size(); ++i) {
    const TunedFile::Stage& written = *found(file.stages, context.stages[i].name);
    StageAllocation& own = result.stages[i];
    const double whole = written.workers.value_or(
        std::max(1, static_cast<int>(std::lround(written.target.value_or(1.0)))));
    own.target = strict ? whole : written.target.value_or(whole);
    // By hand `workers` alone means target and cap.
    if (written.cap)
      own.cap = *written.cap;
    else if (written.workers && !written.target)
      own.cap = *written.workers;
    const Stage& stage = context.stages[i];
    if (stage.hand_cap > 0) own.cap = std::min(own.cap, stage.hand_cap);
    if (stage.fixed_workers > 0) own.target = own.cap = stage.fixed_workers;
    if (stage.serial) own.cap = 1;
    own.target = std::min<double>(own.target, own.cap);
    if (strict) own.cap = std::max(own.cap, static_cast<int>(own.target));
    total += own.target;
  }
  if (strict) {
    for (const TunedFile::Group& group : file.groups) {
      for (const std::string& name : group.stages)
        for (std::size_t i = 0; i < context.stages.size(); ++i)
          if (context.stages[i].name == name) {
            result.stages[i].group = static_cast<int>(result.groups.size());
            total -= result.stages[i].target;
          }
      result.groups.push_back(group.workers);
      total += group.workers;
    }
  }
  const int needed = static_cast<int>(std::ceil(total - 1e-6));
  result.active = std::clamp(strict ? needed : file.budget.active.value_or(needed), 1,
                             std::max(1, context.budget));
  set_depths(file, context, result);
  return result;
}

TunedPlan refused(const TunedFile& file, const std::string& why) {
  return {TunedPlan::Action::refuse, std::nullopt,
          (file.path.empty() ? std::string("the tuned file") : file.path) + ": " + why};
}

}  // namespace

TunedPlan plan_tuned(const TunedFile& file, const TunedContext& context) {
  const std::string differs = difference(file, context);
  if (!differs.empty()) {
    if (context.ignore_mismatch)
      return {TunedPlan::Action::ignore, std::nullopt,
              fmt::format("{} is ignored, it is another pipeline's: {}", file.path, differs)};
    return refused(file, "it was tuned for another pipeline: " + differs +
                             "; tune anew, or ignore the file with --tuned-mismatch ignore");
  }
  for (const TunedFile::Group& group : file.groups)
    for (const std::string& name : group.stages)
      if (found(context.stages, name) == nullptr)
        return refused(file, "a group has the unknown stage '" + name + "'");
  for (const TunedFile::Queue& queue : file.queues)
    if (found(context.stages, queue.stage) == nullptr)
      return refused(file, "'queues' has the unknown stage '" + queue.stage + "'");

  const int own_budget = file.budget.threads.value_or(context.budget);
  const int sum = sum_of_workers(file);
  if (sum > own_budget)
    return refused(file, fmt::format("its workers add up to {}, its budget is {}: correct "
                                     "'workers' or 'budget: {{threads: …}}'",
                                     sum, own_budget));
  if (file.budget.active.value_or(1) > own_budget)
    return refused(
        file, fmt::format("'active' is {}, its budget is {}", *file.budget.active, own_budget));

  const bool strict = context.strict || file.budget.strict.value_or(false);
  const std::vector<std::string> missing = missing_evidence(file, context);
  const bool here = same_machine(file, context);
  const bool fits =
      own_budget == context.budget || (own_budget < context.budget && !missing.empty());
  if (here && fits) {
    // A shared file asked to run strict needs whole workers of its own.
    bool whole = true;
    for (const TunedFile::Stage& stage : file.stages) whole = whole && stage.workers;
    Allocation allocation = strict && !whole && missing.empty() ? solved(file, context, true)
                                                                : as_written(file, context, strict);
    return {context.autotune ? TunedPlan::Action::probation : TunedPlan::Action::use,
            std::move(allocation),
            context.autotune ? "begin with the tuned file, on probation" : "as in the tuned file"};
  }
  const std::string why =
      here ? fmt::format("it was tuned for {} threads, there are {}", own_budget, context.budget)
           : fmt::format("it was tuned on another machine ({}, {} threads)", file.machine->cpu,
                         file.machine->threads);
  if (!missing.empty())
    return refused(
        file, why + ", and cannot be solved again: it lacks " + joined(missing) + "; tune here");
  return {TunedPlan::Action::solved, solved(file, context, strict),
          why + ": solved again from its evidence"};
}

}  // namespace weir
