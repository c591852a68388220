#include "policies/tfdata_policy.hpp"

#include "policies/allotment.hpp"
#include "policies/plan.hpp"
#include "policies/worker_limits.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include <fmt/format.h>

namespace weir::detail {
namespace {

// model.h and dataset_utils.h.
constexpr double kFirstPeriodSeconds = 0.010;
constexpr double kLongestPeriodSeconds = 60.0;
constexpr int kDefaultParallelism = 16;
// model.cc; its unit is the nanosecond.
constexpr double kEssentialRate = 0.3;
constexpr double kLeastDeltaSeconds = -1e-9;

// The workers of the stages whose work is more than a share of the mean.
int essential_parallelism(const std::vector<LatencyNode>& line) {
  const double least = kEssentialRate * work_seconds(line) / static_cast<double>(line.size());
  int total = 0;
  double per_output = 1;  // items of the stage for one of the last
  for (std::size_t i = line.size(); i-- > 0;) {
    if (line[i].work_seconds * per_output > least) total += line[i].parallelism;
    per_output *= line[i].inputs;
  }
  return total;
}

// One worker after the other, each where the gradient is steepest.
void climb(std::vector<LatencyNode>& line, const std::vector<int>& most, int budget, bool strict) {
  const double work = work_seconds(line);
  while (true) {
    const double output = output_seconds(line);
    if (output < work / budget || (strict && essential_parallelism(line) > budget)) return;
    double best_delta = kLeastDeltaSeconds;
    std::size_t best = line.size();
    for (std::size_t i = 0; i < line.size(); ++i) {
      if (line[i].parallelism >= most[i]) continue;
      ++line[i].parallelism;
      const double delta = output - output_seconds(line);
      --line[i].parallelism;
      if (delta <= best_delta) continue;
      best_delta = delta;
      best = i;
    }
    if (best == line.size()) return;
    ++line[best].parallelism;
  }
}

}  // namespace

TfdataPolicy::TfdataPolicy(bool strict, const PolicySettings& settings)
    : strict_(strict),
      settings_(settings),
      period_seconds_(kFirstPeriodSeconds),
      verified_(settings, strict) {}

Decision TfdataPolicy::start(const Observation& first, const std::optional<Allocation>& start) {
  sums_.assign(first.stages.size(), {});
  parallelism_.clear();
  optimized_seconds_ = first.time_seconds;
  for (std::size_t i = 0; i < first.stages.size(); ++i) {
    const int workers = start && i < start->stages.size()
                            ? static_cast<int>(std::lround(start->stages[i].target))
                            : kDefaultParallelism;
    parallelism_.push_back(allowed_workers(first.stages[i], workers, first.budget));
  }
  Decision decision;
  decision.kind = MoveKind::start;
  decision.phase = "optimize";
  decision.allocation =
      start ? *start : dedicated_allotment(first, parallelism_, strict_, settings_.stay_slack);
  decision.reason = start ? "the settings that were loaded, until they are optimized"
                          : "16 workers a stage, until they are optimized";
  return decision;
}

void TfdataPolicy::optimize(const Observation& seen, int loader) {
  std::vector<std::size_t> stages;
  std::vector<LatencyNode> line;
  std::vector<int> most;
  for (std::size_t i = 0; i < seen.stages.size(); ++i) {
    if (seen.stages[i].loader != loader) continue;
    LatencyNode& node = line.emplace_back();
    const StageSums& sums = sums_[i];
    stages.push_back(i);
    // A stage that gave nothing out yet is not tuned and costs nothing.
    if (sums.items_out > 0) {
      node.work_seconds = sums.work_seconds / sums.items_out;
      node.inputs = sums.items_in / sums.items_out;
    }
    node.parallelism = allowed_workers(seen.stages[i], 1, seen.budget);
    most.push_back(sums.items_out > 0 ? allowed_workers(seen.stages[i], seen.budget, seen.budget)
                                      : node.parallelism);
  }
  if (line.empty() || sums_[stages.back()].items_out <= 0) return;
  climb(line, most, std::max(1, seen.budget), strict_);
  for (std::size_t i = 0; i < line.size(); ++i) parallelism_[stages[i]] = line[i].parallelism;
}

Decision TfdataPolicy::decide(const Observation& seen) {
  verified_.note(seen, standing_);
  for (std::size_t i = 0; i < seen.stages.size(); ++i) {
    const StageObservation& stage = seen.stages[i];
    const double items = stage.items_per_second * seen.window_seconds;
    sums_[i].items_in += items;
    sums_[i].items_out += stage.items_out_per_second * seen.window_seconds;
    sums_[i].work_seconds += items * stage.service_seconds;
  }
  Decision decision;
  decision.phase = "optimize";
  decision.reason = "the next optimization is not due";
  if (seen.time_seconds - optimized_seconds_ >= period_seconds_) {
    optimized_seconds_ = seen.time_seconds;
    period_seconds_ = std::min(2 * period_seconds_, kLongestPeriodSeconds);
    const std::vector<int> before = parallelism_;
    for (std::size_t loader = 0; loader < seen.loaders.size(); ++loader)
      optimize(seen, static_cast<int>(loader));
    decision.reason = "the optimization changes nothing";
    if (parallelism_ != before) {
      wanted_.set(dedicated_allotment(seen, parallelism_, strict_, settings_.stay_slack));
      ++standing_.moves;
      standing_.settled_at_seconds = seen.time_seconds;
    }
  }
  standing_.settled = seen.time_seconds - standing_.settled_at_seconds >=
                      settings_.settled_windows * settings_.window_seconds;
  decision.allocation = wanted_.next(seen);
  if (decision.allocation) {
    decision.kind = MoveKind::move;
    decision.reason = fmt::format("{}; again in {:.2g} s", described(*decision.allocation, seen),
                                  period_seconds_);
  }
  return decision;
}

}  // namespace weir::detail
