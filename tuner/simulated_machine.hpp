#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include <weir/export.hpp>

#include "tuner/scenario.hpp"

namespace weir::detail {

class SimulatedPlant;

/// A machine in virtual time: cores that processes and busy neighbours share, a container quota,
/// one clock. Its processes are plants (tuner/simulated_plant.hpp).
///
/// Algorithm: event by event. Busy threads share the cores evenly, as the kernel's fair scheduler
/// does over a while: with r threads that want a core and c cores each runs min(1, c / r) of the
/// time, the rest is run-queue delay. A quota of q CPUs lets the container use q * 100 ms of CPU in
/// each period of 100 ms and stops its threads until the period's end when that is used up.
///
/// Thread safety: none; one thread drives it.
/// Invariants: 1. deterministic: the same seed and the same calls give the same events.
class WEIR_EXPORT SimulatedMachine {
 public:
  SimulatedMachine(int cores, double quota_cpus);
  ~SimulatedMachine();
  SimulatedMachine(const SimulatedMachine&) = delete;
  SimulatedMachine& operator=(const SimulatedMachine&) = delete;

  /// A process with `workers` workers. Lives as long as the machine.
  SimulatedPlant& add(const ScenarioProcess& process, int workers, std::uint64_t seed);
  /// The same with several loaders that share the workers; its memory is the largest of theirs.
  SimulatedPlant& add(std::span<const ScenarioProcess> loaders, int workers, std::uint64_t seed);

  /// Runs until `seconds` of virtual time. Requires: not in the past.
  void advance_to(double seconds);
  [[nodiscard]] double now() const;

  void set_cores_taken(int cores);
  [[nodiscard]] std::uint64_t quota_periods() const;            ///< with a busy thread in them
  [[nodiscard]] std::uint64_t throttled_quota_periods() const;  ///< in which threads were stopped

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

}  // namespace weir::detail
