#include "policies/balance_policy.hpp"

#include "policies/allotment.hpp"
#include "policies/problem.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

namespace weir::detail {
namespace {

constexpr double kRelearnError = 0.15;

// How many workers run at a time at the rate of the plan.
double running_in(const Observation& seen, const Plan& plan) {
  double running = 0;
  for (const StageObservation& stage : seen.stages)
    running += plan.per_second * stage.estimate.demand_seconds;
  return running;
}

bool some_drifted(const Observation& seen, double share) {
  for (std::size_t i = 0; i < seen.stages.size(); ++i)
    if (seen.stages[i].drifted && matters(seen, i, share)) return true;
  return false;
}

}  // namespace

BalancePolicy::BalancePolicy(bool strict, const PolicySettings& settings)
    : strict_(strict),
      settings_(settings),
      ramp_(settings),
      meter_(0.5 * settings.verify_seconds),
      best_(settings),
      headroom_(settings),
      contention_(settings),
      depth_(settings),
      probe_(settings),
      failed_(settings) {}

std::string BalancePolicy::name_of_phase(Phase phase) {
  switch (phase) {
    case Phase::ramp:
      return "ramp";
    case Phase::spread:
      return "spread";
    case Phase::probation:
      return "probation";
    case Phase::verify:
      return "verify";
    case Phase::steady:
      return "steady";
    case Phase::probe:
      return "probe";
    case Phase::relearn:
      return "relearn";
  }
  return "steady";
}

Plan BalancePolicy::plan_for(const Observation& seen, Pace pace) const {
  Plan plan = make_plan(seen, settings_, strict_, headroom_.margin(), pace);
  plan.lowered = steps_.apply(seen, plan.allocation);
  if (!plan.lowered || !strict_) return plan;
  // Sharing makes up for a lower target; whole workers give what they give.
  double total = 0;
  for (const StageAllocation& stage : plan.allocation.stages)
    total += stage.group < 0 ? stage.target : 0;
  for (const int workers : plan.allocation.groups) total += workers;
  plan.allocation.active = static_cast<int>(std::lround(total));
  plan.per_second = modelled_rate(seen, plan.allocation, plan.binding);
  return plan;
}

Decision BalancePolicy::hold(std::string reason) const {
  Decision decision;
  decision.reason = std::move(reason);
  decision.phase = name_of_phase(phase_);
  decision.predicted_gain = last_gain_;
  return decision;
}

Decision BalancePolicy::change(MoveKind kind, Allocation to, const Observation& seen,
                               double predicted, std::string reason) {
  Decision decision;
  decision.kind = kind;
  decision.predicted_per_second = predicted;
  decision.predicted_gain = last_gain_;
  decision.reason = std::move(reason);
  decision.phase = name_of_phase(phase_);
  decision.allocation = std::move(to);
  if (kind == MoveKind::depth) return decision;
  meter_.clear();
  windows_ = confirmed_ = 0;
  depth_.clear();
  contention_.changed();
  if (kind == MoveKind::probe) return decision;
  if (kind != MoveKind::start && kind != MoveKind::ramp) ++standing_.moves;
  moved_ = kind != MoveKind::start && kind != MoveKind::rollback;
  standing_.settled = false;
  standing_.settled_at_seconds = seen.time_seconds;
  waited_seconds_ = 0;
  best_.changed();
  headroom_.changed();
  probe_.reset();
  return decision;
}

Decision BalancePolicy::start(const Observation& first, const std::optional<Allocation>& start) {
  steps_.begin(first);
  if (start) {
    phase_ = Phase::probation;
    probe_.allow_fewer();
    return change(MoveKind::start, *start, first, 0, "begin with the settings that were loaded");
  }
  if (static_cast<int>(first.stages.size()) > first.budget) {
    phase_ = Phase::spread;
    return change(MoveKind::start, even_allotment(first, strict_, settings_.stay_slack), first, 0,
                  "more stages than workers: share them evenly until the stages are known");
  }
  phase_ = Phase::ramp;
  ramp_.begin(first);
  Decision decision = change(MoveKind::start, ramp_allotment(first, ramp_.workers(), strict_),
                             first, 0, "begin the ramp with one worker in every stage");
  decision.look_again_seconds = settings_.window_least_seconds;
  return decision;
}

Decision BalancePolicy::decide(const Observation& seen) {
  last_gain_ = 0;
  steps_.note(seen);
  steps_.note(seen.current);
  budget_ = seen.budget;
  if (!contention_.holds_back()) return judge(seen);
  Observation narrowed = seen;  // to the workers that get a CPU
  narrowed.budget = contention_.workers(seen.budget);
  return judge(narrowed);
}

Decision BalancePolicy::judge(const Observation& seen) {
  const bool counted = seen.valid && !seen.first_after_change;
  const bool learning = phase_ == Phase::ramp || phase_ == Phase::spread;
  if (seen.by_hand) return on_hand(seen);
  if (!learning && phase_ != Phase::relearn && some_drifted(seen, settings_.matters))
    return on_drift(seen);
  if (!counted) {
    Decision decision = hold(seen.valid ? "the first window after a change is not judged"
                                        : "left out: " + seen.invalid_reason);
    if (phase_ == Phase::ramp) decision.look_again_seconds = settings_.window_least_seconds;
    return decision;
  }
  ++windows_;
  waited_seconds_ += seen.window_seconds;
  meter_.add(seen);
  if (!learning)
    if (std::optional<Decision> decision = contention(seen)) return *decision;
  switch (phase_) {
    case Phase::ramp:
      return in_ramp(seen);
    case Phase::spread:
      return in_spread(seen);
    case Phase::probation:
      return in_probation(seen);
    case Phase::verify:
      return in_verify(seen);
    case Phase::relearn:
      return in_relearn(seen);
    case Phase::probe:
      return in_probe(seen);
    case Phase::steady:
      break;
  }
  return in_steady(seen);
}

Decision BalancePolicy::in_ramp(const Observation& seen) {
  const Ramp::Advice advice = ramp_.advance(seen);
  if (advice == Ramp::Advice::done) {
    const Plan plan = plan_for(seen);
    return jump(seen, plan, &ramp_.meter(), ramp_.why_done());
  }
  Decision decision = advice == Ramp::Advice::measure
                          ? hold("too few items at this level yet")
                          : change(MoveKind::ramp, ramp_allotment(seen, ramp_.workers(), strict_),
                                   seen, 0, "double the throughput");
  decision.look_again_seconds = settings_.window_least_seconds;
  return decision;
}

Decision BalancePolicy::in_spread(const Observation& seen) {
  const Plan plan = plan_for(seen);
  const bool waited = waited_seconds_ >= settings_.relearn_seconds;
  if (!plan.trusted && !waited) return hold("stages are not known well enough yet");
  return jump(seen, plan, &meter_, "the stages are known");
}

Decision BalancePolicy::in_probation(const Observation& seen) {
  const Plan plan = plan_for(seen);
  // What is plainly wrong need not be watched any longer.
  const bool wrong = plan.trusted && windows_ >= settings_.confirm && !excused(seen) &&
                     predicted_gain(seen, plan) > settings_.confirm_once_gain;
  if (windows_ < settings_.probation_windows && !wrong) return hold("on probation");
  if (!plan.known && waited_seconds_ < settings_.relearn_seconds) return hold("on probation");
  phase_ = Phase::steady;
  accept(seen);
  return in_steady(seen);
}

Decision BalancePolicy::try_out(MoveKind kind, const Plan& to, const Observation& seen,
                                const Verification::Promise& promise, std::string reason) {
  verification_.emplace(promise, settings_);
  last_gain_ = promise.predicted_gain;
  before_ = seen.current;
  under_trial_ = to.allocation;
  step_pending_ = to.lowered;
  phase_ = Phase::verify;
  return change(kind, to.allocation, seen, to.per_second,
                fmt::format("{}: {}", reason, described(to.allocation, seen)));
}

Decision BalancePolicy::jump(const Observation& seen, const Plan& plan, const RateMeter* before,
                             const std::string& why) {
  Verification::Promise promise;
  promise.kind = MoveKind::jump;
  promise.binding = plan.binding;
  if (before != nullptr) {
    // The level before may have lived on queues that it filled.
    promise.before = before->lasting_rate(seen, plan.binding);
    const double now = before->per_second(seen, plan.binding);
    promise.predicted_gain = now > 0 ? plan.per_second / now - 1.0 : 0.0;
  }
  // It only must not lose.
  promise.gain_required = false;
  return try_out(MoveKind::jump, plan, seen, promise, why);
}

Decision BalancePolicy::in_verify(const Observation& seen) {
  std::optional<Outcome> outcome = verification_->judge(seen, excused(seen));
  if (!outcome) {
    Decision decision = hold("the last move is being judged");
    decision.predicted_gain = verification_->predicted_gain();
    return decision;
  }
  verification_.reset();
  phase_ = Phase::steady;
  if (outcome->verdict != Outcome::Verdict::rolled_back) {
    accept(seen);
    // What could not be told from nothing is not tried again soon.
    if (outcome->verdict == Outcome::Verdict::undecided && outcome->kind == MoveKind::move)
      failed_.mark(under_trial_, seen.time_seconds);
    Decision decision = in_steady(seen);
    decision.outcome = outcome;
    return decision;
  }
  failed_.mark(under_trial_, seen.time_seconds);
  Decision decision =
      roll_back(seen, fmt::format("the move brought {:+.1f}% instead of {:+.1f}%",
                                  100 * outcome->realised_gain, 100 * outcome->predicted_gain));
  decision.outcome = outcome;
  return decision;
}

Decision BalancePolicy::roll_back(const Observation& seen, std::string reason) {
  step_pending_ = false;
  failed_.mark(seen.current, seen.time_seconds);
  const bool known = best_.known();
  Allocation back = known ? *best_.allocation() : before_;
  back.structure = seen.current.structure;
  return change(MoveKind::rollback, std::move(back), seen, best_.per_second(),
                reason + (known ? ": back to the best verified settings"
                                : ": back to the settings before it"));
}

Decision BalancePolicy::on_drift(const Observation& seen) {
  failed_.clear();
  headroom_.reset();
  verification_.reset();
  best_.make_stale();
  depth_.clear();
  probe_.forget();
  relearnt_ = true;
  phase_ = Phase::relearn;
  std::string names;
  for (const StageObservation& stage : seen.stages)
    if (stage.drifted) names += (names.empty() ? "" : ", ") + stage.name;
  waited_seconds_ = 0;
  meter_.clear();
  standing_.settled = false;
  windows_ = 0;
  const std::string reason = fmt::format("costs of {} changed", names);
  if (strict_) return hold(reason + ": wait until they are known");
  Allocation freely = seen.current;
  freely.stay_slack = Allocation::kUnlimited;
  freely.helping = true;
  if (!consumer_full(seen)) freely.active = seen.budget;
  return change(MoveKind::relearn, std::move(freely), seen, 0,
                reason + ": share freely until they are known");
}

Decision BalancePolicy::in_relearn(const Observation& seen) {
  const Plan plan = plan_for(seen);
  if (!strict_ && seen.current.active < seen.budget && most_wait(seen) > settings_.consumer_rearm) {
    Allocation freely = seen.current;
    freely.active = seen.budget;
    return change(MoveKind::rearm, std::move(freely), seen, 0,
                  "the consumer waits while costs are learnt: use all workers");
  }
  const bool waited = waited_seconds_ >= settings_.relearn_seconds;
  // Whole workers have no helpers that make up for a wrong split, so less must do.
  const bool enough = strict_ && plan.known && windows_ >= settings_.confirm &&
                      plan.relative_error <= kRelearnError;
  if (!plan.trusted && !waited && !enough)
    return hold("changed stages are not known well enough yet");
  if (!plan.known) return hold("a stage has not completed anything yet");
  if (!differs(seen.current, plan.allocation) &&
      seen.current.stay_slack == plan.allocation.stay_slack) {
    phase_ = Phase::steady;
    return in_steady(seen);
  }
  // What was measured while costs changed is no measure for what follows.
  return jump(seen, plan, nullptr, "the new costs are known");
}

// Respected: it is in force until the next decision, which begins from it.
Decision BalancePolicy::on_hand(const Observation& seen) {
  phase_ = Phase::probation;
  moved_ = false;
  verification_.reset();
  best_.make_stale();
  failed_.clear();
  before_ = seen.current;
  meter_.clear();
  probe_.reset();
  probe_.allow_fewer();
  depth_.clear();
  contention_.changed();
  headroom_.changed();
  windows_ = 0;
  waited_seconds_ = 0;
  standing_.settled = false;
  standing_.settled_at_seconds = seen.time_seconds;
  return hold("somebody else changed the allocation: go on from it");
}

// Workers without a CPU only push out others; this may interrupt whatever is going on.
std::optional<Decision> BalancePolicy::contention(const Observation& seen) {
  Observation narrowed = seen;
  narrowed.budget = budget_;
  const std::optional<ContentionControl::Advice> advice = contention_.advise(narrowed);
  if (!advice) return std::nullopt;
  narrowed.budget = advice->workers;
  if (!advice->fewer && seen.current.active < seen.budget) return std::nullopt;  // enough already
  Plan plan = plan_for(narrowed);
  int workers = advice->workers;
  // Whole workers are idle for a part of the time: as many as are busy with the CPUs there are.
  while (strict_ && advice->fewer && plan.known && workers < seen.current.active) {
    narrowed.budget = workers + 1;
    const Plan more = plan_for(narrowed);
    if (running_in(seen, more) > advice->running) break;
    plan = more;
    contention_.allow(++workers);
  }
  if (advice->fewer && workers >= seen.current.active) return std::nullopt;
  Allocation to = plan.known ? plan.allocation : seen.current;
  to.active = std::min(to.active, workers);
  if (strict_ && !plan.known) return std::nullopt;
  verification_.reset();
  if (phase_ == Phase::verify || phase_ == Phase::probe) phase_ = Phase::steady;
  before_ = seen.current;
  return change(advice->fewer ? MoveKind::yield : MoveKind::recover, std::move(to), seen,
                plan.per_second, advice->reason);
}

bool BalancePolicy::consumer_full(const Observation& seen) const {
  return most_wait(seen) <= settings_.consumer_hold;
}

bool BalancePolicy::excused(const Observation& seen) const {
  return consumer_full(seen) || seen.contended || contention_.holds_back() ||
         seen.label == "source" || seen.label == "memory";
}

void BalancePolicy::accept(const Observation& seen) {
  if (contention_.holds_back()) return;
  best_.offer(seen, meter_.per_second(seen, binding_stage(seen)), excused(seen));
  standing_.best_verified = best_.allocation();
  standing_.best_per_second = best_.per_second();
}

double BalancePolicy::predicted_gain(const Observation& seen, const Plan& plan) const {
  // Whole workers have no help from others, so that the model says what they hold; sharing is
  // compared with what is measured.
  double now = meter_.per_second(seen, plan.binding);
  if (strict_ && seen.current.strict) now = modelled_rate(seen, seen.current, plan.binding);
  return now > 0 ? plan.per_second / now - 1.0 : 0.0;
}

}  // namespace weir::detail
