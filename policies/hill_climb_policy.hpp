#pragma once

#include <optional>

#include <weir/export.hpp>
#include <weir/policy.hpp>

#include "policies/verified_rate.hpp"
#include "policies/wave_climber.hpp"

namespace weir::detail {

/// The controller of .NET's thread pool on a line of stages, to compare with.
///
/// That pool knows one number, its threads, and counts the work that is done. So the wave is in A,
/// the number of unparked workers, and what counts as done are the items of the stage that costs
/// most: those of all stages together would swing with the queues between them, and batches are too
/// few. Who serves which stage is left to sticky sharing, as to the pool's queues there: even
/// targets, and a worker stays as long as its stage has work. In strict mode the A workers are
/// shared out evenly, whole. It starts with all workers, as the pool starts with as many threads as
/// there are processors, and may go down to one.
///
/// Source and what is left out: policies/wave_climber.hpp.
///
/// Thread safety: none.
class WEIR_EXPORT HillClimbPolicy final : public Policy {
 public:
  HillClimbPolicy(bool strict, const PolicySettings& settings);

  [[nodiscard]] Decision start(const Observation& first,
                               const std::optional<Allocation>& start) override;
  [[nodiscard]] Decision decide(const Observation& seen) override;
  [[nodiscard]] const Standing& standing() const override { return standing_; }

 private:
  [[nodiscard]] Allocation with_workers(const Observation& seen, int workers) const;

  const bool strict_;
  const PolicySettings settings_;
  std::optional<WaveClimber> climber_;  // from start() on, when the budget is known
  VerifiedRate verified_;
  double settled_setting_ = 0;  // of the climber, when it last moved by a worker
  Standing standing_;
};

}  // namespace weir::detail
