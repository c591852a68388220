#include "tests/support/random_scenarios.hpp"

#include <weir/random.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>

#include <fmt/format.h>

namespace weir::test {
namespace {

using detail::Scenario;
using detail::ScenarioStage;

constexpr double kLeastSeconds = 1e-3;  // of a stage
constexpr double kDecades = 2;
constexpr double kSpecialShare = 0.3;
constexpr double kItems = 3000;
constexpr double kFillings = 10;
constexpr double kLeastDuration = 20;

double log_uniform(Random& random, double low, double high) {
  return std::exp(random.uniform(std::log(low), std::log(high)));
}

void make_special(Random& random, int workers, ScenarioStage& stage) {
  switch (random.below(3)) {
    case 0:
      stage.serial = true;
      break;
    case 1:
      stage.kind = ScenarioStage::Kind::wait;
      stage.limit = 1 + static_cast<int>(random.below(static_cast<std::uint64_t>(workers)));
      break;
    default: {
      // Most throughput with `peak` at once.
      const double peak = random.uniform(2, std::max(3.0, 0.75 * workers));
      stage.contention = 0.05;
      stage.coherence = (1 - stage.contention) / (peak * peak);
    }
  }
}

}  // namespace

Scenario random_scenario(std::uint64_t seed, int index) {
  Random random(seed, static_cast<std::uint64_t>(index));
  Scenario scenario;
  scenario.name = fmt::format("random_{}", index);
  scenario.seed = seed + static_cast<std::uint64_t>(index);
  scenario.repeats = 1;
  const int workers = static_cast<int>(std::lround(log_uniform(random, 2, 256)));
  scenario.workers = {workers};
  detail::ScenarioProcess& process = scenario.processes.emplace_back();
  process.name = scenario.name;
  process.stages.resize(2 + static_cast<std::size_t>(random.below(19)));
  double demand = 0;
  double slowest = 0;
  for (std::size_t i = 0; i < process.stages.size(); ++i) {
    ScenarioStage& stage = process.stages[i];
    stage.name = fmt::format("s{}", i);
    stage.seconds = log_uniform(random, kLeastSeconds, kLeastSeconds * std::pow(10.0, kDecades));
    stage.cv = random.uniform(0, 0.3);
    demand += stage.seconds;
  }
  if (random.chance(kSpecialShare)) {
    ScenarioStage& stage =
        process.stages[static_cast<std::size_t>(random.below(process.stages.size()))];
    make_special(random, workers, stage);
    if (stage.serial) slowest = stage.seconds;
    if (stage.limit > 0) slowest = stage.seconds / stage.limit;
  }
  const double queued = 2.0 * workers * static_cast<double>(process.stages.size());
  const double items = std::max(kItems, kFillings * queued);
  scenario.duration_seconds =
      std::max(kLeastDuration, std::ceil(items * std::max(demand / workers, slowest)));
  return scenario;
}

}  // namespace weir::test
