#pragma once

#include <vector>

#include <weir/allocation.hpp>
#include <weir/export.hpp>
#include <weir/observation.hpp>

#include "policies/solver.hpp"

namespace weir::detail {

// How a solution is written down as an Allocation. Depths and packets are carried over from the
// allocation in force; stages set by hand keep what was set.

/// Shared: targets are real, workers help each other, `active` of them are unparked. Stages that
/// get slower beyond their peak are capped there, `plateau` being what of it is given up.
[[nodiscard]] WEIR_EXPORT Allocation shared_allotment(const Observation& seen,
                                                      const std::vector<double>& targets,
                                                      int active, double stay_slack,
                                                      double plateau = 0);
/// Whole workers that stay in their stage or group; all that are not needed are parked.
[[nodiscard]] WEIR_EXPORT Allocation whole_allotment(const Observation& seen,
                                                     const Solution& solution);
/// The same in the shared mode without helping, for the cold start.
[[nodiscard]] WEIR_EXPORT Allocation ramp_allotment(const Observation& seen,
                                                    const std::vector<int>& workers, bool strict);
/// As many workers for each stage as it says, who help no other; A is their sum, which may be above
/// the budget. With more stages than workers a strict one has even groups instead.
[[nodiscard]] WEIR_EXPORT Allocation dedicated_allotment(const Observation& seen,
                                                         const std::vector<int>& workers,
                                                         bool strict, double stay_slack);
/// All workers, shared out alike; in strict mode whole, or in even groups.
[[nodiscard]] WEIR_EXPORT Allocation even_allotment(const Observation& seen, bool strict,
                                                    double stay_slack);

/// Whether going from `a` to `b` is a change worth making: more than rounding and noise of targets.
[[nodiscard]] WEIR_EXPORT bool differs(const Allocation& a, const Allocation& b);

}  // namespace weir::detail
