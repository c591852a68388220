#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <weir/export.hpp>

#include "tuner/scenario.hpp"
#include "tuner/simulation.hpp"

namespace weir::detail {

/// The repeats of one (scenario, workers, policy) put together.
struct Score {
  std::string scenario;
  int workers = 0;
  std::string policy;
  bool strict = false;
  std::string plant = "simulated";  ///< or live
  Measures median;                  ///< each measure by itself
  double efficiency_worst = 0;
  std::vector<std::string> missed;  ///< one sentence for each `must` that was not reached
  [[nodiscard]] bool passed() const { return missed.empty(); }
};

/// One bound that a scenario may set under `must`. Judged by the medians, but for `worst`; `label`
/// is one beside them (Scenario::must_label), and a budget violation is always a miss.
struct MustInfo {
  enum class Unit { share, seconds, count };
  enum class Direction { at_least, at_most };
  std::string_view name;
  std::string_view meaning;
  Unit unit = Unit::share;
  Direction direction = Direction::at_least;
};
[[nodiscard]] WEIR_EXPORT std::span<const MustInfo> musts();

/// Requires: trials is not empty. Throws Error (usage) for a `must` of unknown name.
[[nodiscard]] WEIR_EXPORT Score score(const Scenario& scenario, const TrialOptions& options,
                                      std::span<const Trial> trials);

/// One policy over all scenarios that were run.
struct ScoreCard {
  std::string policy;
  double efficiency_geometric_mean = 0;
  double efficiency_lowest = 0;  ///< the worst of the repeats
  std::string lowest_scenario;
  double settle_seconds_median = 0;
  double moves_mean = 0;
  double reversals_per_minute_mean = 0;
  std::uint64_t budget_violations = 0;
  double cpu_share_mean = 0;
  double unparked_over_oracle_mean = 0;
  int missed = 0;  ///< scenarios with a `must` that was not reached
  /// Scenarios more than 3 points of efficiency behind the best policy, one sentence each.
  std::vector<std::string> losses;
};
/// One card a policy, in the order in which they first appear. Scores are compared with those of
/// the same scenario, workers, mode and plant.
[[nodiscard]] WEIR_EXPORT std::vector<ScoreCard> score_cards(std::span<const Score> scores);

}  // namespace weir::detail
