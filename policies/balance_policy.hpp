#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include <weir/export.hpp>
#include <weir/policy.hpp>

#include "policies/best_settings.hpp"
#include "policies/contention_control.hpp"
#include "policies/depth_control.hpp"
#include "policies/failed_moves.hpp"
#include "policies/headroom.hpp"
#include "policies/plan.hpp"
#include "policies/probe.hpp"
#include "policies/ramp.hpp"
#include "policies/rate_meter.hpp"
#include "policies/step_bound.hpp"
#include "policies/verification.hpp"

namespace weir::detail {

/// The default policy: hold the consumer's rate if the consumer is the limit, otherwise the highest
/// rate, with the fewest workers.
///
/// Algorithm: one ramp from one worker a stage, one jump to the exact solution for the service
/// times and visits seen, then moves only for a predicted gain above the dead band, confirmed,
/// verified by what it brought, and taken back to the best verified allocation where it brought too
/// little. Workers that are not needed are parked after a while, at once in the jump; they come
/// back as soon as the consumer waits. Changed costs void what was known: share freely until it is
/// known again. While others take the CPUs only those workers are used that get one. What nobody
/// has seen is probed for a moment. Queues are made deeper on evidence alone. An allocation that
/// somebody else sets is taken as a new start, on probation.
///
/// Sampling: windows come from outside; those that mix two allocations or were left out by the
/// observer are not judged.
///
/// Thread safety: none.
class WEIR_EXPORT BalancePolicy final : public Policy {
 public:
  BalancePolicy(bool strict, const PolicySettings& settings);

  [[nodiscard]] Decision start(const Observation& first,
                               const std::optional<Allocation>& start) override;
  [[nodiscard]] Decision decide(const Observation& seen) override;
  [[nodiscard]] const Standing& standing() const override { return standing_; }

 private:
  enum class Phase {
    ramp,       ///< doubling
    spread,     ///< more stages than workers: no ramp, wait until stages are known
    probation,  ///< a loaded allocation proves itself
    verify,     ///< a move is being judged
    steady,
    probe,    ///< a worker more or less is tried for a moment
    relearn,  ///< costs changed: wait until they are known again
  };

  [[nodiscard]] static std::string name_of_phase(Phase phase);
  /// The solution of what is known now, no further away than a step may go.
  [[nodiscard]] Plan plan_for(const Observation& seen, Pace pace = Pace::peak) const;
  [[nodiscard]] Decision judge(const Observation& seen);
  [[nodiscard]] Decision hold(std::string reason) const;
  [[nodiscard]] Decision change(MoveKind kind, Allocation to, const Observation& seen,
                                double predicted, std::string reason);

  [[nodiscard]] Decision in_ramp(const Observation& seen);
  [[nodiscard]] Decision in_spread(const Observation& seen);
  [[nodiscard]] Decision in_probation(const Observation& seen);
  [[nodiscard]] Decision in_verify(const Observation& seen);
  [[nodiscard]] Decision in_relearn(const Observation& seen);
  [[nodiscard]] Decision in_steady(const Observation& seen);
  [[nodiscard]] Decision in_probe(const Observation& seen);
  [[nodiscard]] Decision after_survey(const Observation& seen);

  /// Applies `to` and begins to judge it by `promise`.
  [[nodiscard]] Decision try_out(MoveKind kind, const Plan& to, const Observation& seen,
                                 const Verification::Promise& promise, std::string reason);
  [[nodiscard]] Decision jump(const Observation& seen, const Plan& plan, const RateMeter* before,
                              const std::string& why);
  [[nodiscard]] Decision on_drift(const Observation& seen);
  [[nodiscard]] Decision on_hand(const Observation& seen);
  [[nodiscard]] std::optional<Decision> contention(const Observation& seen);
  [[nodiscard]] Decision roll_back(const Observation& seen, std::string reason);
  [[nodiscard]] std::optional<Decision> rearm(const Observation& seen, const Plan& plan);
  [[nodiscard]] std::optional<Decision> release(const Observation& seen, const Plan& plan);
  [[nodiscard]] std::optional<Decision> next_step(const Observation& seen, const Plan& plan);
  [[nodiscard]] std::optional<Decision> gain(const Observation& seen, const Plan& plan);
  [[nodiscard]] std::optional<Decision> regret(const Observation& seen, const Plan& plan);
  [[nodiscard]] std::optional<Decision> probe(const Observation& seen, const Plan& plan);
  [[nodiscard]] std::optional<Decision> depth(const Observation& seen);

  void accept(const Observation& seen);
  [[nodiscard]] double predicted_gain(const Observation& seen, const Plan& plan) const;
  [[nodiscard]] bool consumer_full(const Observation& seen) const;
  /// Something else than the workers limits the rate now.
  [[nodiscard]] bool excused(const Observation& seen) const;

  const bool strict_;
  const PolicySettings settings_;
  Phase phase_ = Phase::ramp;
  Standing standing_;
  Ramp ramp_;
  RateMeter meter_;            // of the allocation in force, fading
  double waited_seconds_ = 0;  // in a phase that waits for stages to be known
  BestSettings best_;
  Headroom headroom_;
  ContentionControl contention_;
  DepthControl depth_;
  Probe probe_;
  FailedMoves failed_;
  StepBound steps_;
  std::optional<Verification> verification_;
  Allocation under_trial_;     // what is being verified
  Allocation before_;          // what to go back to when nothing is verified yet
  bool relearnt_ = false;      // levels were dropped: the model knows the present one alone
  bool moved_ = false;         // the start was not what the model chose
  bool step_pending_ = false;  // the last change was as far as a step may go, not to the solution
  int budget_ = 1;             // N, whatever contention leaves of it
  int windows_ = 0;            // counted ones since the last change
  int confirmed_ = 0;          // consecutive windows that predicted a gain
  double last_gain_ = 0;       // predicted in the last window, for the log
};

}  // namespace weir::detail
