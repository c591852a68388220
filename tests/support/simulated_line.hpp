#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tuner/simulated_machine.hpp"
#include "tuner/simulated_plant.hpp"

namespace weir::test {

/// A line with one stage a time, called a, b, c, ...
inline detail::ScenarioProcess line(const std::vector<double>& services, double cv = 0) {
  detail::ScenarioProcess process;
  process.name = "train";
  for (std::size_t i = 0; i < services.size(); ++i) {
    detail::ScenarioStage& stage = process.stages.emplace_back();
    stage.name = std::string(1, static_cast<char>('a' + i));
    stage.seconds = services[i];
    stage.cv = cv;
  }
  return process;
}

/// One process on a machine of its own, and what it gives between two times.
class SimulatedLine {
 public:
  SimulatedLine(const detail::ScenarioProcess& process, int workers, int cores = 0,
                std::uint64_t seed = 1, double quota = 0)
      : machine(cores > 0 ? cores : workers, quota), plant(machine.add(process, workers, seed)) {}

  void run(double seconds) { machine.advance_to(machine.now() + seconds); }
  /// Consumer items a second over the next `seconds`.
  double rate(double seconds) {
    const std::uint64_t before = items();
    run(seconds);
    return static_cast<double>(items() - before) / seconds;
  }
  [[nodiscard]] std::uint64_t items() const { return plant.snapshot().loaders[0].consumer.items; }
  /// Sets whole targets without helping, all of them unparked.
  void allot(const std::vector<int>& workers) {
    Allocation allocation = plant.allocation();
    allocation.strict = true;
    allocation.active = 0;
    for (std::size_t i = 0; i < workers.size(); ++i) {
      allocation.stages[i].target = workers[i];
      allocation.active += workers[i];
    }
    ASSERT_TRUE(plant.apply(allocation));
  }

  detail::SimulatedMachine machine;
  detail::SimulatedPlant& plant;
};

}  // namespace weir::test
