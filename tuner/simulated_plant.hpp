#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <weir/export.hpp>
#include <weir/plant.hpp>

#include "tuner/scenario.hpp"

namespace weir::detail {

/// A worker pool in virtual time, driven by the pool's own choose(). Made by
/// SimulatedMachine::add().
///
/// Thread safety: none, for all that Plant promises: one thread drives machine and plants.
class WEIR_EXPORT SimulatedPlant : public Plant {
 public:
  // Plant: snapshot(), allocation(), apply() as the live pool's.

  // Changes while it runs. Times, filters and bytes hold for packets that start from now on; how a
  // stage scales and what its device takes hold at once.
  virtual void set_stage(int stage, const ScenarioStage& to) = 0;
  [[nodiscard]] virtual const ScenarioStage& stage(int stage) const = 0;
  virtual void set_consumer(const ScenarioFlow& to, int loader = 0) = 0;
  virtual void set_source(const ScenarioFlow& to, int loader = 0) = 0;
  virtual void set_workers(int workers) = 0;  ///< the budget N
  /// The consumer stops calling next() for so long, from its next call on.
  virtual void pause_consumer(double seconds, int loader = 0) = 0;
  /// Loaders come or go: what was under way is dropped and all counters begin anew.
  virtual void set_loaders(std::span<const ScenarioProcess> loaders) = 0;

  // What was seen, beyond the snapshot.
  [[nodiscard]] virtual int most_running() const = 0;  ///< most workers in packets at once
  /// Packets that started while as many workers as the budget, or as A or a cap allows, ran.
  [[nodiscard]] virtual std::uint64_t budget_violations() const = 0;
  [[nodiscard]] virtual double peak_bytes() const = 0;
  [[nodiscard]] virtual double cpu_seconds() const = 0;
  [[nodiscard]] virtual int applied() const = 0;  ///< allocations so far
  /// Per worker, the time at which its last packet began; negative: never ran.
  [[nodiscard]] virtual std::vector<double> last_ran_seconds() const = 0;
};

}  // namespace weir::detail
