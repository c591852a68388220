#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tuner/simulated_machine.hpp"
#include "tuner/simulated_plant.hpp"

namespace weir::test {

/// A line with one stage a time, called a, b, c, ... The consumer takes so long for each item.
inline detail::ScenarioProcess line(const std::vector<double>& services, double cv = 0,
                                    double consumer_seconds = 0) {
  detail::ScenarioProcess process;
  process.name = "train";
  for (std::size_t i = 0; i < services.size(); ++i) {
    detail::ScenarioStage& stage = process.stages.emplace_back();
    stage.name = std::string(1, static_cast<char>('a' + i));
    stage.seconds = services[i];
    stage.cv = cv;
  }
  if (consumer_seconds > 0) process.consumer.per_second = 1 / consumer_seconds;
  return process;
}

/// One process, of one loader or several, on a machine of its own with a core for each worker
/// unless told otherwise.
class SimulatedLine {
 public:
  SimulatedLine(const std::vector<detail::ScenarioProcess>& loaders, int workers, int cores = 0,
                std::uint64_t seed = 1, double quota = 0)
      : machine(cores > 0 ? cores : workers, quota), plant(machine.add(loaders, workers, seed)) {}
  SimulatedLine(const detail::ScenarioProcess& process, int workers, int cores = 0,
                std::uint64_t seed = 1, double quota = 0)
      : SimulatedLine(std::vector{process}, workers, cores, seed, quota) {}

  void run(double seconds) { machine.advance_to(machine.now() + seconds); }
  /// Consumer items a second over the next `seconds`.
  double rate(double seconds) {
    const std::uint64_t before = items();
    run(seconds);
    return static_cast<double>(items() - before) / seconds;
  }
  [[nodiscard]] std::uint64_t items() const { return plant.snapshot().loaders[0].consumer.items; }

  void change(int stage, const std::function<void(detail::ScenarioStage&)>& how) {
    detail::ScenarioStage changed = plant.stage(stage);
    how(changed);
    plant.set_stage(stage, changed);
  }
  void set_loaders(const std::vector<detail::ScenarioProcess>& loaders) {
    plant.set_loaders(loaders);
  }
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
