#pragma once

#include <string>
#include <vector>

#include <weir/observation.hpp>

namespace weir::test {

/// An observation of one loader whose stages are all known and busy; tests change what they need.
inline Observation known_line(int budget, const std::vector<double>& services) {
  Observation seen;
  seen.time_seconds = 10;
  seen.window_seconds = 0.1;
  seen.budget = seen.active = budget;
  seen.unparked_mean = budget;
  seen.label = "none";
  LoaderObservation loader;
  loader.name = "train";
  loader.asked = true;
  loader.services = 100;
  loader.wait_share = 0.9;
  seen.loaders.push_back(loader);
  double total = 0;
  for (const double service : services) total += service;
  for (std::size_t i = 0; i < services.size(); ++i) {
    StageObservation stage;
    stage.name = std::string(1, static_cast<char>('a' + i));
    stage.estimate.service_seconds = services[i];
    stage.estimate.demand_seconds = services[i];
    stage.estimate.relative_error = 0.001;
    stage.estimate.completions = 1000;
    stage.estimate.trusted = true;
    stage.estimate.visits_known = true;
    stage.items_per_second = budget / total;
    stage.completions = static_cast<std::uint64_t>(0.1 * budget / total);
    stage.service_seconds = services[i];
    stage.running_mean = budget * services[i] / total;
    seen.stages.push_back(stage);
  }
  seen.current.active = budget;
  seen.current.stages.resize(services.size());
  for (StageAllocation& own : seen.current.stages)
    own.target = static_cast<double>(budget) / static_cast<double>(services.size());
  return seen;
}

}  // namespace weir::test
