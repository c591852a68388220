#pragma once

#include <vector>

#include <weir/allocation.hpp>
#include <weir/export.hpp>

#include "tuner/scenario.hpp"

namespace weir::detail {

/// The best that a line of stages can give, from its true costs. Rates are in consumer items a
/// second.
struct Oracle {
  double shared_per_second = 0;           ///< workers shared, consumer and source limits included
  double whole_per_second = 0;            ///< whole workers a stage (or a group of adjacent stages)
  double shared_capacity_per_second = 0;  ///< the same without the consumer's and the source's rate
  int workers = 0;                        ///< fewest that hold the rate of the mode asked for
  std::vector<double> targets;            ///< of that mode, by stage
  std::vector<double> service_seconds;  ///< true mean of a stage's slot time for an item taken in,
                                        ///< at that allocation
  std::vector<double> visits;
  double cpu_seconds_per_item = 0;
};

/// Computed, not tuned. `workers` is the budget N, `cores` the real cores left to this process
/// (neighbours and quota taken off; may be a fraction).
[[nodiscard]] WEIR_EXPORT Oracle find_oracle(const ScenarioProcess& process, int workers,
                                             double cores, bool strict);

/// True mean of a stage's slot time for an item taken in, with `running` workers in it on average.
[[nodiscard]] WEIR_EXPORT double true_service_seconds(const ScenarioStage& stage, double running);

/// Allocations to begin with.
[[nodiscard]] WEIR_EXPORT Allocation starting_allocation(const ScenarioStart& start,
                                                         const ScenarioProcess& process,
                                                         int workers, double cores, bool strict);

}  // namespace weir::detail
