#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tuner/scenario.hpp"
#include "tuner/simulation.hpp"

namespace weir::test {

constexpr int kRandomPipelines = 200;

/// One run of the suite of random pipelines.
struct SuiteRequest {
  std::uint64_t seed = 1;    ///< of the pipelines
  std::vector<int> indexes;  ///< numbers of the pipelines; empty: all 200
  double longer = 1;         ///< times as long as random_scenario() says, for less noise
  detail::ScenarioStart::Kind start = detail::ScenarioStart::Kind::policy;
  detail::TrialOptions options;  ///< policy, mode and settings; workers are the scenario's
};

struct SuiteCase {
  int index = 0;
  detail::Scenario scenario;
  detail::Measures measures;

  /// Steady rate over that of the start allocation, held.
  [[nodiscard]] double of_start() const;
  /// Workers, stages and what is special about one, for tables.
  [[nodiscard]] std::string text() const;
};

/// Simulates the pipelines on all cores; in the order asked for.
[[nodiscard]] std::vector<SuiteCase> run_suite(const SuiteRequest& request);

/// What `value` is below for the share `part` of the cases; 0.5 is the median.
template <class Value>
[[nodiscard]] double quantile(const std::vector<SuiteCase>& cases, double part, Value value) {
  std::vector<double> values;
  for (const SuiteCase& each : cases) values.push_back(value(each));
  std::sort(values.begin(), values.end());
  const auto at = static_cast<std::size_t>(part * static_cast<double>(values.size() - 1));
  return values[at];
}

}  // namespace weir::test
