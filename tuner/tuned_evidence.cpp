#include <weir/tuned_plan.hpp>

#include <weir/version.hpp>

#include "policies/problem.hpp"
#include "policies/solver.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace weir {
namespace {

constexpr const char* kContended = "contended";
constexpr double kWholeMargin = 1.1;  // over the consumer's rate, as the tuner keeps it

/// What was verified for one loader: its stages, and its part of the workers.
struct VerifiedPart {
  Observation seen;
  Allocation allocation;
};

VerifiedPart part_of(const TuningStatus& status, int loader) {
  VerifiedPart part;
  const Allocation& best = *status.best_verified;
  part.allocation = best;
  part.allocation.stages.clear();
  part.seen.budget = status.budget;
  part.seen.loaders.push_back(status.loaders[static_cast<std::size_t>(loader)]);
  double targets = 0;
  for (std::size_t i = 0; i < status.stages.size(); ++i) {
    if (status.stages[i].loader != loader) continue;
    part.seen.stages.push_back(status.evidence[i]);
    part.seen.stages.back().loader = 0;
    part.allocation.stages.push_back(best.stages[i]);
    targets += best.stages[i].target;
  }
  // Several loaders share the workers; each file holds its own loader's part, and they add up.
  if (status.loaders.size() > 1)
    part.allocation.active =
        std::clamp(static_cast<int>(std::ceil(targets - 1e-6)), 1, std::max(1, best.active));
  return part;
}

/// Whole workers for the file: as allotted, or for a shared allocation what the solver gives.
detail::Solution whole_workers(const VerifiedPart& part) {
  detail::Solution whole;
  const Allocation& own = part.allocation;
  if (!own.strict) {
    whole = detail::solve_whole(detail::make_problem(part.seen, kWholeMargin, true));
    if (whole.workers.size() != part.seen.stages.size()) whole = {};
    return whole;
  }
  whole.group_workers = own.groups;
  for (const StageAllocation& stage : own.stages) {
    whole.workers.push_back(stage.group >= 0 ? own.groups[static_cast<std::size_t>(stage.group)]
                                             : std::round(stage.target));
    whole.group.push_back(stage.group);
  }
  return whole;
}

TunedFile::StageEvidence evidence_of(const StageObservation& stage) {
  TunedFile::StageEvidence each;
  each.name = stage.name;
  each.service_time_us = 1e6 * stage.estimate.service_seconds;
  each.cv = stage.estimate.cv;
  each.samples = stage.estimate.completions;
  each.visits = stage.estimate.visits;
  for (const Level& level : stage.estimate.levels)
    each.levels.emplace_back(level.running, 1e6 * level.service_seconds);
  each.bytes_out = stage.bytes_out;
  return each;
}

/// What limited the run while nobody else did.
std::string uncontended_label(const TuningStatus& status) {
  if (status.label != kContended) return status.label;
  std::string label = "none";
  double most = 0;
  for (const auto& [name, share] : status.label_shares)
    if (name != kContended && share > most) {
      label = name;
      most = share;
    }
  return label;
}

}  // namespace

std::optional<TunedFile> make_tuned_file(const TuningStatus& status, const TunedOrigin& origin) {
  if (!status.best_verified || status.evidence.size() != status.stages.size() ||
      status.best_verified->stages.size() != status.stages.size() || origin.loader < 0 ||
      origin.loader >= static_cast<int>(status.loaders.size()))
    return std::nullopt;
  const VerifiedPart part = part_of(status, origin.loader);
  const detail::Solution whole = whole_workers(part);
  TunedFile file;
  file.pipeline = origin.pipeline;
  file.machine = origin.machine;
  file.budget = {status.budget, part.allocation.active, origin.memory, part.allocation.strict};
  for (std::size_t i = 0; i < part.seen.stages.size(); ++i) {
    const StageAllocation& own = part.allocation.stages[i];
    TunedFile::Stage stage;
    stage.name = part.seen.stages[i].name;
    if (!whole.workers.empty()) stage.workers = static_cast<int>(whole.workers[i]);
    stage.target = own.target;
    stage.cap = std::min(own.cap, status.budget);
    if (own.packet_items > 0) stage.packet_items = own.packet_items;
    file.stages.push_back(std::move(stage));
  }
  for (std::size_t g = 0; g < whole.group_workers.size(); ++g) {
    TunedFile::Group group;
    group.workers = whole.group_workers[g];
    for (std::size_t i = 0; i < whole.group.size(); ++i)
      if (whole.group[i] == static_cast<int>(g)) group.stages.push_back(part.seen.stages[i].name);
    if (!group.stages.empty()) file.groups.push_back(std::move(group));
  }
  file.queues = origin.queues;
  file.placement_mode = origin.placement_mode;
  file.placement_workers = origin.placement_workers;

  const LoaderObservation& consumer = part.seen.loaders[0];
  file.evidence.consumer_rate_per_second = consumer.throughput;
  file.evidence.consumer_wait_share = consumer.wait_share;
  file.evidence.items_per_second = status.best_per_second;
  file.evidence.bound_shared = status.bound_shared;
  file.evidence.bound_whole = status.bound_whole;
  file.evidence.label = uncontended_label(status);
  file.evidence.disk_share = origin.disk_share;
  file.evidence.host = status.host;
  for (const StageObservation& stage : part.seen.stages) {
    TunedFile::StageEvidence& each = file.evidence.stages.emplace_back(evidence_of(stage));
    if (const auto blocked = status.host.blocked_shares.find(stage.name);
        blocked != status.host.blocked_shares.end())
      each.blocked_share = blocked->second;
    if (const auto hint = status.host.hints.find(stage.name); hint != status.host.hints.end())
      each.hint = hint->second;
  }
  file.written = TunedFile::Written{std::string("weir ") + version(),
                                    status.policy,
                                    origin.at,
                                    status.settled,
                                    status.seconds,
                                    status.moves};
  return file;
}

}  // namespace weir
