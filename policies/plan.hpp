#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <weir/allocation.hpp>
#include <weir/export.hpp>
#include <weir/observation.hpp>
#include <weir/policy_settings.hpp>

#include "policies/problem.hpp"

namespace weir::detail {

/// The solution of what is known now, ready to be applied and to be judged.
struct Plan {
  Allocation allocation;
  std::size_t binding = 0;  ///< the stage by which rates are compared
  double per_second = 0;    ///< X of its loader that is expected: no more than its consumer takes
  bool consumer_limited = false;  ///< the consumers are the limit, not the workers
  double relative_error = 1;      ///< eps of the stages that bind
  bool trusted = false;           ///< every stage that matters is
  bool known = false;             ///< every stage that matters has a service time
  bool lowered = false;           ///< the solution lies further away than one step may go
};

/// Solves `seen`. Where the workers are not the limit, `margin` is how far above the limit they are
/// to hold the rate.
[[nodiscard]] WEIR_EXPORT Plan make_plan(const Observation& seen, const PolicySettings& settings,
                                         bool strict, double margin, Pace pace = Pace::peak);

/// The stage that holds up the allocation in force: with whole workers that of the least capacity,
/// with shared ones that of the largest demand, since helpers go where they are needed.
[[nodiscard]] WEIR_EXPORT std::size_t limiting_stage(const Observation& seen);

/// X that a strict `allocation` gives by the model, for the loader of `binding`, at most what its
/// consumer takes.
[[nodiscard]] WEIR_EXPORT double modelled_rate(const Observation& seen,
                                               const Allocation& allocation, std::size_t binding);

/// "read 0.7, decode 5.8 of 8 workers", for reasons.
[[nodiscard]] WEIR_EXPORT std::string described(const Allocation& allocation,
                                                const Observation& seen);

}  // namespace weir::detail
