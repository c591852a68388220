// What BalancePolicy does while the allocation in force is neither learnt nor judged: the moves
// that it may wish for, in the order of their urgency.

#include "policies/balance_policy.hpp"

#include "policies/allotment.hpp"
#include "policies/problem.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace weir::detail {
namespace {

// One worker alone is the limit: what looks like a gain is noise.
bool serial_bound(const Observation& seen) { return seen.label.rfind("serial:", 0) == 0; }

}  // namespace

Decision BalancePolicy::in_steady(const Observation& seen) {
  const Plan plan = plan_for(seen);
  if (!plan.known) return hold("a stage has not completed anything yet");
  // The shrink memory keeps the present needs; the peak rate would make it remember twice as long.
  headroom_.note(seen, plan_for(seen, Pace::present).allocation.active);
  last_gain_ = predicted_gain(seen, plan);

  const bool suspect = std::any_of(seen.stages.begin(), seen.stages.end(),
                                   [](const StageObservation& stage) { return stage.suspect; });
  std::optional<Decision> decision = rearm(seen, plan);
  if (!decision && suspect) return hold("costs may be changing: wait for the next window");
  if (!decision) decision = next_step(seen, plan);
  if (!decision) decision = release(seen, plan);
  if (!decision) decision = gain(seen, plan);
  if (!decision) decision = regret(seen, plan);
  if (decision) return *decision;
  if (best_.known() && !differs(*best_.allocation(), seen.current)) accept(seen);
  if (windows_ >= settings_.settled_windows) standing_.settled = true;
  decision = probe(seen, plan);
  if (!decision) decision = depth(seen);
  if (decision) return *decision;
  return hold(seen.label == "source" ? "the source is the limit" : "nothing is to be gained");
}

std::optional<Decision> BalancePolicy::probe(const Observation& seen, const Plan& plan) {
  if (windows_ < settings_.settled_windows) return std::nullopt;
  const std::optional<Allocation> tried =
      probe_.begin(seen, relearnt_ || moved_ || differs(seen.current, plan.allocation));
  if (!tried) return std::nullopt;
  phase_ = Phase::probe;
  return change(MoveKind::probe, *tried, seen, 0, probe_.reason());
}

Decision BalancePolicy::in_probe(const Observation& seen) {
  switch (probe_.advance(seen)) {
    case Probe::Step::wait:
      return hold("a probe is under way");
    case Probe::Step::next:
      return change(MoveKind::probe, probe_.probed(), seen, 0, probe_.reason());
    case Probe::Step::back:
      return change(MoveKind::probe, probe_.original(), seen, 0, "the same without the probe");
    case Probe::Step::over:
      phase_ = Phase::steady;
      relearnt_ = false;
      return after_survey(seen);
    case Probe::Step::adopt:
      break;
  }
  phase_ = Phase::steady;
  Plan to;
  to.allocation = probe_.probed();
  to.binding = binding_stage(seen);
  Verification::Promise promise;
  promise.kind = MoveKind::move;
  promise.binding = to.binding;
  promise.before = meter_.rate(seen, to.binding);
  promise.gain_required = false;
  return try_out(MoveKind::move, to, seen, promise, probe_.reason());
}

// As after a ramp: to the solution in one jump, fewer workers included, where it is one.
Decision BalancePolicy::after_survey(const Observation& seen) {
  const Plan plan = plan_for(seen);
  last_gain_ = predicted_gain(seen, plan);
  // The plan itself gives up the plateau, and what is measured has its own error.
  const bool fewer =
      plan.allocation.active < seen.current.active && last_gain_ > -2 * settings_.plateau;
  if (!plan.known || !(fewer || last_gain_ >= settings_.dead_band) ||
      failed_.marked(plan.allocation, seen.time_seconds))
    return hold("no more: " + probe_.reason());
  return jump(seen, plan, &meter_, probe_.reason());
}

std::optional<Decision> BalancePolicy::depth(const Observation& seen) {
  const std::optional<DepthControl::Advice> advice = depth_.advise(seen);
  if (!advice) return std::nullopt;
  return change(MoveKind::depth, advice->allocation, seen, 0, advice->reason);
}

// The consumer is the limit by the model and waits all the same: more workers, at once.
std::optional<Decision> BalancePolicy::rearm(const Observation& seen, const Plan& plan) {
  if (!headroom_.lacking() || !plan.consumer_limited || seen.label == "source" ||
      seen.current.active >= seen.budget)
    return std::nullopt;
  Plan more = plan;
  while (more.allocation.active <= seen.current.active && more.consumer_limited) {
    headroom_.widen();
    more = plan_for(seen);
  }
  if (more.allocation.active <= seen.current.active) return std::nullopt;
  headroom_.forget_needs();
  Verification::Promise promise;
  promise.kind = MoveKind::rearm;
  promise.binding = more.binding;
  promise.before = meter_.rate(seen, more.binding);
  promise.gain_required = false;
  return try_out(MoveKind::rearm, more, seen, promise,
                 fmt::format("the consumer waits {:.1f}% of the time", 100 * most_wait(seen)));
}

// Workers that were not needed for a while are parked, if the rate is held without them.
std::optional<Decision> BalancePolicy::release(const Observation& seen, const Plan& plan) {
  const int most = headroom_.needed(seen);
  if (most == 0 || most >= seen.current.active || seen.contended || seen.label == "source")
    return std::nullopt;
  if (strict_ && plan.allocation.active != most) return std::nullopt;
  if (plan.per_second < (1.0 - settings_.dead_band) * meter_.per_second(seen, plan.binding))
    return std::nullopt;
  Plan to = plan;
  to.allocation.active = most;
  if (failed_.marked(to.allocation, seen.time_seconds)) return std::nullopt;
  Verification::Promise promise;
  promise.kind = MoveKind::release;
  promise.binding = plan.binding;
  promise.before = meter_.rate(seen, plan.binding);
  promise.gain_required = false;
  return try_out(MoveKind::release, to, seen, promise,
                 fmt::format("no more than {} workers were needed for {:g} s", most,
                             settings_.shrink_memory_seconds));
}

// Helpers hide what a lowered target costs, so the way to the solution is not left to a gain.
std::optional<Decision> BalancePolicy::next_step(const Observation& seen, const Plan& plan) {
  if (!step_pending_ || !plan.trusted || !differs(seen.current, plan.allocation) ||
      plan.allocation.active < seen.current.active ||
      failed_.marked(plan.allocation, seen.time_seconds))
    return std::nullopt;
  Verification::Promise promise;
  promise.kind = MoveKind::move;
  promise.binding = plan.binding;
  promise.before = meter_.rate(seen, plan.binding);
  promise.predicted_gain = std::max(0.0, last_gain_);
  promise.gain_required = false;
  return try_out(MoveKind::move, plan, seen, promise, "the next step towards the solution");
}

std::optional<Decision> BalancePolicy::gain(const Observation& seen, const Plan& plan) {
  const double error = std::min(plan.relative_error, 0.9);
  const double dead_band = std::max(settings_.dead_band, 2 * error / (1 - error));
  const bool sure =
      strict_ && error <= settings_.strict_error && last_gain_ >= settings_.strict_gain;
  const bool wanted =
      plan.trusted && (last_gain_ >= dead_band || sure) && differs(seen.current, plan.allocation) &&
      !failed_.marked(plan.allocation, seen.time_seconds) && !excused(seen) && !serial_bound(seen);
  confirmed_ = wanted ? confirmed_ + 1 : 0;
  if (!wanted) return std::nullopt;
  const int needed = last_gain_ > settings_.confirm_once_gain ? 1 : settings_.confirm;
  if (confirmed_ < needed) return hold("a gain is predicted: confirm it");
  Verification::Promise promise;
  promise.kind = MoveKind::move;
  promise.binding = plan.binding;
  promise.before = meter_.rate(seen, plan.binding);
  promise.predicted_gain = last_gain_;
  promise.fewer_workers = plan.allocation.active < seen.current.active;
  return try_out(MoveKind::move, plan, seen, promise,
                 fmt::format("{:+.1f}% predicted", 100 * last_gain_));
}

// Bounded regret: clearly below the best verified settings for a while, and nothing else changed.
std::optional<Decision> BalancePolicy::regret(const Observation& seen, const Plan& plan) {
  if (!best_.regret(seen, meter_.per_second(seen, plan.binding),
                    meter_.rate(seen, plan.binding).relative_error, excused(seen)))
    return std::nullopt;
  return roll_back(seen, "below them for a while");
}

}  // namespace weir::detail
