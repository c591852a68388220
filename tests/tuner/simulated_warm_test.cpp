// A simulation that runs allocates next to nothing: a program of its own, because it replaces
// operator new.

#include <gtest/gtest.h>

#include "tests/pipeline_stress/counted_new.hpp"
#include "tests/support/simulated_line.hpp"

namespace weir::test {
namespace {

constexpr std::uint64_t kFew = 5;  // of some 50,000 events: a queue that grows once more

std::uint64_t allocations_in(const detail::ScenarioProcess& process, int workers, int cores) {
  SimulatedLine run(process, workers, cores);
  run.run(20);
  const std::uint64_t before = allocations();
  run.run(10);
  return allocations() - before;
}

TEST(SimulatedWarm, EventsHardlyAllocate) {
  EXPECT_LE(allocations_in(line({1e-3, 2e-3, 4e-3}, 0.5), 8, 8), kFew);
  EXPECT_LE(allocations_in(line({1e-3, 2e-3, 4e-3}, 0.5), 8, 3), kFew);

  detail::ScenarioProcess numbered = line({1e-4, 1e-4, 1e-3, 1e-4}, 0.2);
  numbered.stages[0].keep = 0.25;
  numbered.stages[1].split = 8;
  numbered.stages[3].batch = 32;
  for (detail::ScenarioStage& stage : numbered.stages) stage.bytes_out = 1000;
  numbered.memory_bytes = 1e6;
  EXPECT_LE(allocations_in(numbered, 8, 8), kFew);

  detail::ScenarioProcess device = line({1e-3, 4e-3}, 1.0, 3e-3);
  device.stages[1].limit = 2;
  device.stages[1].kind = detail::ScenarioStage::Kind::wait;
  device.source.per_second = 250;
  EXPECT_LE(allocations_in(device, 8, 8), kFew);
}

}  // namespace
}  // namespace weir::test
