#pragma once

#include <cstddef>

#include <weir/export.hpp>
#include <weir/observation.hpp>

#include "policies/solver.hpp"

namespace weir::detail {

/// Whether a loader takes part: its consumer has called next() and is not in a pause.
[[nodiscard]] WEIR_EXPORT bool takes_part(const LoaderObservation& loader);

/// Which of a consumer's rates counts.
enum class Pace {
  peak,     ///< the highest over the shrink memory: what to be ready for
  present,  ///< the one now: what is needed
};

/// The consumer items a second that a loader's consumer could take; infinite while it is unknown,
/// 0 when it does not take part.
[[nodiscard]] WEIR_EXPORT double consumer_rate(const LoaderObservation& loader,
                                               Pace pace = Pace::peak);

/// Whether a stage has not completed anything, though it works: it may yet turn out to be the
/// slowest.
[[nodiscard]] WEIR_EXPORT bool still_unknown(const StageObservation& stage);

/// Whether a stage mostly had no room for its output: it has run ahead, and no more needs to be
/// known of it now.
[[nodiscard]] WEIR_EXPORT bool ran_ahead(const StageObservation& stage);

/// The problem of an observation. Loaders are limited to `margin` times what their consumers take;
/// with a margin of infinity only to taking part. `strict`: stages set by hand keep all their
/// workers.
[[nodiscard]] WEIR_EXPORT Problem make_problem(const Observation& seen, double margin, bool strict,
                                               Pace pace = Pace::peak);

/// Whether a stage's demand is large enough to matter for decisions.
[[nodiscard]] WEIR_EXPORT bool matters(const Observation& seen, std::size_t stage, double share);

/// The stage with the largest demand per worker that it may use.
[[nodiscard]] WEIR_EXPORT std::size_t binding_stage(const Observation& seen);

}  // namespace weir::detail
