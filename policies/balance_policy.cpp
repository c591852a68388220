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

constexpr double kMarginStep = 0.1;
constexpr int kWindowsToFill = 5;  // before a consumer that still waits is taken as waiting
constexpr int kRegretWindows = 3;
constexpr double kRelearnSeconds = 5.0;  // then act on what is known, trusted or not
constexpr double kStrictGain = 0.02;     // whole workers: a gain that small is worth it when sure
constexpr double kStrictError = 0.01;

double most_wait(const Observation& seen) {
  double wait = 0;
  for (const LoaderObservation& loader : seen.loaders)
    if (takes_part(loader)) wait = std::max(wait, loader.wait_share);
  return wait;
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
      needs_(settings.shrink_memory_seconds),
      failed_(settings),
      margin_(settings.release_margin) {}

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
    case Phase::relearn:
      return "relearn";
  }
  return "steady";
}

Plan BalancePolicy::plan_for(const Observation& seen, Pace pace) const {
  Plan plan = make_plan(seen, settings_, strict_, margin_, pace);
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
  if (kind != MoveKind::start && kind != MoveKind::ramp) ++standing_.moves;
  standing_.settled = false;
  standing_.settled_at_seconds = seen.time_seconds;
  meter_.clear();
  waited_seconds_ = 0;
  windows_ = confirmed_ = waiting_ = below_best_ = 0;
  held_ = false;
  return decision;
}

Decision BalancePolicy::start(const Observation& first, const std::optional<Allocation>& start) {
  steps_.begin(first);
  if (start) {
    phase_ = Phase::probation;
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
  steps_.note(seen);
  steps_.note(seen.current);
  const bool counted = seen.valid && !seen.first_after_change;
  const bool learning = phase_ == Phase::ramp || phase_ == Phase::spread;
  last_gain_ = 0;
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
  const bool waited = waited_seconds_ >= kRelearnSeconds;
  if (!plan.trusted && !waited) return hold("stages are not known well enough yet");
  return jump(seen, plan, &meter_, "the stages are known");
}

Decision BalancePolicy::in_probation(const Observation& seen) {
  if (windows_ < settings_.probation_windows) return hold("on probation");
  const Plan plan = plan_for(seen);
  if (!plan.known && waited_seconds_ < kRelearnSeconds) return hold("on probation");
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
    promise.before = before->rate(seen, plan.binding);
    const double now = before->per_second(seen, plan.binding);
    promise.predicted_gain = now > 0 ? plan.per_second / now - 1.0 : 0.0;
  }
  // The level before may have lived on full queues; the jump only must not lose.
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
    Decision decision = in_steady(seen);
    decision.outcome = outcome;
    return decision;
  }
  const Allocation failed = seen.current;
  failed_.mark(failed, seen.time_seconds);
  failed_.mark(under_trial_, seen.time_seconds);
  const bool known_best = standing_.best_verified && !best_is_stale_;
  Allocation back = known_best ? *standing_.best_verified : before_;
  back.structure = seen.current.structure;
  Decision decision =
      change(MoveKind::rollback, std::move(back), seen, standing_.best_per_second,
             fmt::format("the move brought {:+.1f}% instead of {:+.1f}%: back to {}",
                         100 * outcome->realised_gain, 100 * outcome->predicted_gain,
                         known_best ? "the best verified settings" : "the settings before it"));
  decision.outcome = outcome;
  return decision;
}

Decision BalancePolicy::on_drift(const Observation& seen) {
  failed_.clear();
  needs_.clear();
  verification_.reset();
  best_is_stale_ = true;
  margin_ = settings_.release_margin;
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
  const bool waited = waited_seconds_ >= kRelearnSeconds;
  if (!plan.trusted && !waited) return hold("changed stages are not known well enough yet");
  if (!plan.known) return hold("a stage has not completed anything yet");
  if (!differs(seen.current, plan.allocation) &&
      seen.current.stay_slack == plan.allocation.stay_slack) {
    phase_ = Phase::steady;
    return in_steady(seen);
  }
  // What was measured while costs changed is no measure for what follows.
  return jump(seen, plan, nullptr, "the new costs are known");
}

bool BalancePolicy::consumer_full(const Observation& seen) const {
  return most_wait(seen) <= settings_.consumer_hold;
}

bool BalancePolicy::excused(const Observation& seen) const {
  return consumer_full(seen) || seen.contended || seen.label == "source" || seen.label == "memory";
}

void BalancePolicy::accept(const Observation& seen) {
  if (seen.contended) return;
  const double rate = meter_.per_second(seen, binding_stage(seen));
  const bool first = !standing_.best_verified || best_is_stale_;
  const bool worse = rate < (1.0 - 0.5 * settings_.dead_band) * standing_.best_per_second;
  if (!first && worse && !excused(seen)) return;
  standing_.best_verified = seen.current;
  standing_.best_per_second = rate;
  best_is_stale_ = false;
  best_label_ = seen.label;
}

double BalancePolicy::predicted_gain(const Observation& seen, const Plan& plan) const {
  // Whole workers have no help from others, so that the model says what they hold; sharing is
  // compared with what is measured.
  double now = meter_.per_second(seen, plan.binding);
  if (strict_ && seen.current.strict) now = modelled_rate(seen, seen.current, plan.binding);
  return now > 0 ? plan.per_second / now - 1.0 : 0.0;
}

Decision BalancePolicy::in_steady(const Observation& seen) {
  const Plan plan = plan_for(seen);
  if (!plan.known) return hold("a stage has not completed anything yet");
  // The shrink memory keeps the present needs; the peak rate would make it remember twice as long.
  needs_.add(plan_for(seen, Pace::present).allocation.active, seen.time_seconds);
  held_ = held_ || seen.label == "consumer";
  waiting_ = most_wait(seen) > settings_.consumer_rearm ? waiting_ + 1 : 0;
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
  if (standing_.best_verified && !differs(*standing_.best_verified, seen.current) &&
      !seen.contended)
    standing_.best_per_second = meter_.per_second(seen, plan.binding);
  if (windows_ >= settings_.settled_windows) standing_.settled = true;
  return hold(seen.label == "source" ? "the source is the limit" : "nothing is to be gained");
}

// The consumer is the limit by the model and waits all the same: more workers, at once.
std::optional<Decision> BalancePolicy::rearm(const Observation& seen, const Plan& plan) {
  const bool waits = waiting_ > 0 && (held_ || waiting_ >= kWindowsToFill);
  if (!waits || !plan.consumer_limited || seen.label == "source" ||
      seen.current.active >= seen.budget)
    return std::nullopt;
  Plan more = plan;
  while (more.allocation.active <= seen.current.active && more.consumer_limited) {
    margin_ += kMarginStep;
    more = plan_for(seen);
  }
  if (more.allocation.active <= seen.current.active) return std::nullopt;
  needs_.clear();
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
  const int most = needs_.largest(seen.time_seconds);
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
  const bool sure = strict_ && error <= kStrictError && last_gain_ >= kStrictGain;
  const bool wanted = plan.trusted && (last_gain_ >= dead_band || sure) &&
                      differs(seen.current, plan.allocation) &&
                      !failed_.marked(plan.allocation, seen.time_seconds) && !excused(seen);
  confirmed_ = wanted ? confirmed_ + 1 : 0;
  if (!wanted) return std::nullopt;
  const int needed = last_gain_ > settings_.confirm_once_gain ? 1 : settings_.confirm;
  if (confirmed_ < needed) return hold("a gain is predicted: confirm it");
  Verification::Promise promise;
  promise.kind = MoveKind::move;
  promise.binding = plan.binding;
  promise.before = meter_.rate(seen, plan.binding);
  promise.predicted_gain = last_gain_;
  return try_out(MoveKind::move, plan, seen, promise,
                 fmt::format("{:+.1f}% predicted", 100 * last_gain_));
}

// Bounded regret: clearly below the best verified settings for a while, and nothing else changed.
std::optional<Decision> BalancePolicy::regret(const Observation& seen, const Plan& plan) {
  const double error = meter_.rate(seen, plan.binding).relative_error;
  const double now = meter_.per_second(seen, plan.binding);
  const bool below =
      standing_.best_verified && !best_is_stale_ && !excused(seen) && seen.label == best_label_ &&
      differs(*standing_.best_verified, seen.current) &&
      now * (1.0 + 2 * error) < (1.0 - settings_.dead_band) * standing_.best_per_second;
  below_best_ = below ? below_best_ + 1 : 0;
  if (below_best_ < kRegretWindows) return std::nullopt;
  failed_.mark(seen.current, seen.time_seconds);
  Allocation back = *standing_.best_verified;
  back.structure = seen.current.structure;
  return change(MoveKind::rollback, std::move(back), seen, standing_.best_per_second,
                "below the best verified settings for a while: back to them");
}

}  // namespace weir::detail
