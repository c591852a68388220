#include "tuner/guard.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include <fmt/format.h>

namespace weir::detail {
namespace {

constexpr double kMostTarget = 1e6;

// Sets `value` to `right` and says so; silent where nothing changes.
template <class T>
void correct(T& value, T right, const std::string& what, std::vector<std::string>& corrections) {
  if (value == right) return;
  corrections.push_back(fmt::format("{} {} became {}", what, value, right));
  value = right;
}

void correct_stage(const StageObservation& stage, bool strict, int budget, StageAllocation& own,
                   std::vector<std::string>& corrections) {
  if (!std::isfinite(own.target) || own.target < 0 || own.target > kMostTarget)
    correct(own.target, std::isfinite(own.target) && own.target < 0 ? 0.0 : double(budget),
            "target of " + stage.name, corrections);
  if (own.cap < 1) correct(own.cap, 1, "cap of " + stage.name, corrections);
  if (own.depth_items < 0)
    correct<std::int64_t>(own.depth_items, 0, "depth of " + stage.name, corrections);
  if (own.packet_items < 0)
    correct<std::int64_t>(own.packet_items, 0, "packet of " + stage.name, corrections);
  int most = own.cap;
  if (stage.hand_cap > 0) most = std::min(most, stage.hand_cap);
  if (stage.fixed_workers > 0) most = stage.fixed_workers;
  if (stage.serial) most = 1;
  correct(own.cap, most, "cap of " + stage.name, corrections);
  if (own.group >= 0) return;
  const double fixed = std::min(stage.fixed_workers, most);
  if (stage.fixed_workers > 0) correct(own.target, fixed, "target of " + stage.name, corrections);
  if (own.target > own.cap)
    correct(own.target, double(own.cap), "target of " + stage.name, corrections);
  if (strict)
    correct(own.target, std::max(1.0, std::ceil(own.target - 1e-9)), "target of " + stage.name,
            corrections);
}

int strict_total(const Allocation& wanted) {
  int total = 0;
  for (const int workers : wanted.groups) total += workers;
  for (const StageAllocation& stage : wanted.stages)
    if (stage.group < 0) total += static_cast<int>(std::lround(stage.target));
  return total;
}

}  // namespace

void Guard::begin(const Observation& first) {
  steps_.begin(first);
  changed_seconds_.reset();
}

void Guard::note(const Observation& seen) { steps_.note(seen); }

bool Guard::fits(const Allocation& wanted, const Observation& seen,
                 std::vector<std::string>& corrections) const {
  if (wanted.stages.size() != seen.stages.size()) {
    corrections.push_back(fmt::format("dropped: it is for {} stages, there are {}",
                                      wanted.stages.size(), seen.stages.size()));
    return false;
  }
  const auto groups = static_cast<int>(wanted.groups.size());
  for (const StageAllocation& stage : wanted.stages)
    if (stage.group >= groups || (stage.group >= 0 && !wanted.strict)) {
      corrections.push_back(fmt::format("dropped: a stage is in group {} of {}", stage.group,
                                        wanted.strict ? groups : 0));
      return false;
    }
  if (std::any_of(wanted.groups.begin(), wanted.groups.end(), [](int n) { return n < 1; })) {
    corrections.emplace_back("dropped: a group has no worker");
    return false;
  }
  return true;
}

void Guard::bound_steps(const Observation& seen, Allocation& wanted,
                        std::vector<std::string>& corrections) const {
  const Allocation asked = wanted;
  if (!steps_.apply(seen, wanted)) return;
  for (std::size_t i = 0; i < wanted.stages.size(); ++i)
    if (wanted.stages[i].target != asked.stages[i].target)
      corrections.push_back(fmt::format("step of {} from at most {} to {} became {}",
                                        seen.stages[i].name, 0.5 * steps_.most(i),
                                        asked.stages[i].target, wanted.stages[i].target));
}

Guard::Verdict Guard::pass(const Decision& decision, const Observation& seen) {
  Verdict verdict;
  if (!decision.allocation) return verdict;
  const bool free = decision.kind == MoveKind::start || decision.kind == MoveKind::rollback;
  if (!free && changed_seconds_ && seen.time_seconds - *changed_seconds_ < cool_down_seconds_) {
    verdict.corrections.push_back(
        fmt::format("dropped: {:.3f} s after the last change, at least {:.3f} s must pass",
                    seen.time_seconds - *changed_seconds_, cool_down_seconds_));
    return verdict;
  }
  Allocation wanted = *decision.allocation;
  if (!fits(wanted, seen, verdict.corrections)) return verdict;
  wanted.structure = seen.current.structure;
  const int budget = std::max(1, seen.budget);
  if (!(wanted.stay_slack >= 0)) correct(wanted.stay_slack, 0.0, "stay", verdict.corrections);
  for (std::size_t i = 0; i < wanted.stages.size(); ++i)
    correct_stage(seen.stages[i], wanted.strict, budget, wanted.stages[i], verdict.corrections);
  if (!free) bound_steps(seen, wanted, verdict.corrections);
  correct(wanted.active, std::clamp(wanted.active, 1, budget), "active", verdict.corrections);
  if (wanted.strict) {
    int total = strict_total(wanted);
    // Take from the largest until the workers do; what was set by hand stays.
    while (total > budget) {
      std::size_t largest = wanted.stages.size();
      const auto group = std::max_element(wanted.groups.begin(), wanted.groups.end());
      for (std::size_t i = 0; i < wanted.stages.size(); ++i)
        if (wanted.stages[i].group < 0 && seen.stages[i].fixed_workers == 0 &&
            wanted.stages[i].target > 1 &&
            (largest == wanted.stages.size() ||
             wanted.stages[i].target > wanted.stages[largest].target))
          largest = i;
      if (group != wanted.groups.end() && *group > 1 &&
          (largest == wanted.stages.size() || *group > wanted.stages[largest].target)) {
        correct(*group, *group - 1, "workers of a group", verdict.corrections);
        --total;
        continue;
      }
      if (largest == wanted.stages.size()) {
        verdict.corrections.push_back(
            fmt::format("dropped: {} whole workers are wanted, there are {}", total, budget));
        return verdict;
      }
      correct(wanted.stages[largest].target, wanted.stages[largest].target - 1,
              "target of " + seen.stages[largest].name, verdict.corrections);
      --total;
    }
    correct(wanted.active, std::max(wanted.active, total), "active", verdict.corrections);
  }
  steps_.note(wanted);
  changed_seconds_ = seen.time_seconds;
  verdict.allocation = std::move(wanted);
  return verdict;
}

}  // namespace weir::detail
