#pragma once

#include <optional>
#include <vector>

#include <weir/export.hpp>
#include <weir/policy.hpp>

#include "policies/latency_model.hpp"
#include "policies/verified_rate.hpp"
#include "policies/wanted_allocation.hpp"

namespace weir::detail {

/// The autotuning of tf.data, to compare with.
///
/// Source: tensorflow/core/framework/model.cc (Model::OptimizeLoop, OptimizeHillClimbHelper,
/// ShouldStop) and model.h, with their constants.
///
/// Algorithm: from one worker a stage, again and again one worker for the stage where that lowers
/// the modelled output time most: a step along the gradient in whole workers. It stops when the
/// output time is below the work of an item over the CPUs (OptimizeHillClimb, the default there) or
/// every stage has all of them: the budget is a stop rule, no bound of their sum. In strict mode,
/// where that sum is one, it stops as well when the stages that matter (over 0.3 of the mean work)
/// have more workers than there are CPUs, as OptimizeGradientDescent does. Work is averaged over
/// the whole run. The first optimization comes after 10 ms and each later one after twice the time,
/// up to a minute.
///
/// Mapping: a stage's workers are its own, without helping; A is their sum, at most N, as the ops
/// run in a pool of so many threads. It begins with 16 a stage, at most N.
///
/// Simplified: queues keep the depth that the runtime gives them, so that only parallelism is
/// tuned, and memory is no stop rule; each loader is a model of its own with all CPUs, as each
/// dataset is; shares of work are per item of the consumer instead of per item of each stage, which
/// is kinder to lines with batches.
///
/// Thread safety: none.
class WEIR_EXPORT TfdataPolicy final : public Policy {
 public:
  TfdataPolicy(bool strict, const PolicySettings& settings);

  [[nodiscard]] Decision start(const Observation& first,
                               const std::optional<Allocation>& start) override;
  [[nodiscard]] Decision decide(const Observation& seen) override;
  [[nodiscard]] const Standing& standing() const override { return standing_; }

 private:
  struct StageSums {
    double items_in = 0;
    double items_out = 0;
    double work_seconds = 0;
  };

  /// Parallelism for the stages of one loader, or nothing when nothing came out of it yet.
  void optimize(const Observation& seen, int loader);

  const bool strict_;
  const PolicySettings settings_;
  std::vector<StageSums> sums_;   // since the start
  std::vector<int> parallelism_;  // that is wanted
  double period_seconds_;
  double optimized_seconds_ = 0;
  WantedAllocation wanted_;
  VerifiedRate verified_;
  Standing standing_;
};

}  // namespace weir::detail
