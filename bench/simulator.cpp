// How much CPU time the simulated machine takes for half a minute of virtual time.

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <string>

#include "tuner/simulated_machine.hpp"
#include "tuner/simulated_plant.hpp"

namespace weir::detail {
namespace {

/// Stages of a millisecond each.
ScenarioProcess line_of(int stages) {
  ScenarioProcess process;
  process.name = "train";
  for (int i = 0; i < stages; ++i) {
    ScenarioStage& stage = process.stages.emplace_back();
    stage.name = "stage" + std::to_string(i);
    stage.cv = 0.2;
  }
  return process;
}

void simulate(const char* what, const ScenarioProcess& process, int workers, int cores,
              double seconds) {
  const std::clock_t before = std::clock();
  SimulatedMachine machine(cores, 0);
  SimulatedPlant& plant = machine.add(process, workers, 1);
  machine.advance_to(seconds);
  const double cpu = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
  double packets = 0;
  for (const StageSnapshot& stage : plant.snapshot().stages)
    packets += static_cast<double>(stage.packets);
  std::printf("%-52s %8.3f s %10.0f packets %6.0f ns each\n", what, cpu, packets,
              cpu / packets * 1e9);
}

}  // namespace
}  // namespace weir::detail

int main(int count, char** values) {
  using namespace weir::detail;
  const bool quick = count > 1 && std::strcmp(values[1], "--quick") == 0;
  const double seconds = quick ? 0.5 : 30;
  std::printf("%g s of virtual time, stages of 1 ms; CPU time\n", seconds);
  simulate("8 workers, 3 stages", line_of(3), 8, 8, seconds);
  simulate("8 workers on 4 cores, 3 stages", line_of(3), 8, 4, seconds);
  simulate("64 workers, 12 stages", line_of(12), 64, 64, seconds);
  simulate("256 workers, 50 stages", line_of(50), 256, 256, seconds);
  ScenarioProcess bounded = line_of(4);
  bounded.stages[0].keep = 0.5;
  bounded.stages[3].batch = 32;
  for (ScenarioStage& stage : bounded.stages) stage.bytes_out = 1e5;
  bounded.memory_bytes = 1e7;
  simulate("8 workers, a filter, batches, a bound on bytes", bounded, 8, 8, seconds);
  return 0;
}
