#pragma once

#include <optional>
#include <string>
#include <vector>

#include <weir/allocation.hpp>
#include <weir/export.hpp>
#include <weir/observation.hpp>
#include <weir/policy.hpp>

#include "policies/step_bound.hpp"

namespace weir::detail {

/// Keeps the promises whatever a policy says: values are corrected where that keeps their sense,
/// and the decision is dropped where it does not.
///
/// Thread safety: none.
/// Invariants of what passes: 1. 1 <= active <= N, and active covers the workers of a strict
/// allocation; 2. targets are finite and not negative, caps at least 1; serial stages have cap 1,
/// stages set by hand what was set; 3. strict: whole targets and groups whose sum is at most N;
/// 4. a stage gets at most twice the highest level that it has been at; 5. two changes are a
/// cool-down apart. A roll-back and the start are free of 4 and 5.
class WEIR_EXPORT Guard {
 public:
  struct Verdict {
    std::optional<Allocation> allocation;  ///< none: nothing to apply
    std::vector<std::string> corrections;  ///< one sentence each, for the log
  };

  explicit Guard(double cool_down_seconds) : cool_down_seconds_(cool_down_seconds) {}

  /// A new set of stages: no level has been visited.
  void begin(const Observation& first);
  /// Notes the levels that were really reached.
  void note(const Observation& seen);
  [[nodiscard]] Verdict pass(const Decision& decision, const Observation& seen);

 private:
  [[nodiscard]] bool fits(const Allocation& wanted, const Observation& seen,
                          std::vector<std::string>& corrections) const;
  void bound_steps(const Observation& seen, Allocation& wanted,
                   std::vector<std::string>& corrections) const;

  const double cool_down_seconds_;
  StepBound steps_;
  std::optional<double> changed_seconds_;
};

}  // namespace weir::detail
