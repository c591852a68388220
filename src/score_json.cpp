#include "src/score_json.hpp"

#include <cmath>
#include <cstddef>

#include <nlohmann/json.hpp>

namespace weir::program {
namespace {

using Json = nlohmann::ordered_json;

/// JSON has no infinity.
Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json score_json(const detail::Score& score) {
  const detail::Measures& median = score.median;
  return {{"scenario", score.scenario},
          {"workers", score.workers},
          {"policy", score.policy},
          {"strict", score.strict},
          {"plant", score.plant},
          {"oracle_per_second", number(median.oracle_per_second)},
          {"strict_oracle_per_second", number(median.strict_oracle_per_second)},
          {"start_per_second", number(median.start_per_second)},
          {"steady_per_second", number(median.steady_per_second)},
          {"efficiency", number(median.efficiency)},
          {"efficiency_worst", number(score.efficiency_worst)},
          {"efficiency_whole_run", number(median.efficiency_whole_run)},
          {"settle_seconds", number(median.settle_seconds)},
          {"moves", median.moves},
          {"moves_after_settling", median.moves_after_settling},
          {"reversals_per_minute", number(median.reversals_per_minute)},
          {"reaction_seconds", number(median.reaction_seconds)},
          {"recovery_seconds", number(median.recovery_seconds)},
          {"unparked_mean", number(median.unparked_mean)},
          {"workers_used", number(median.workers_used)},
          {"oracle_workers", number(median.oracle_workers)},
          {"budget_violations", median.budget_violations},
          {"wanted_excess", number(median.wanted_excess)},
          {"consumer_wait_share", number(median.consumer_wait_share)},
          {"throttled_share", number(median.throttled_share)},
          {"cost_error", number(median.cost_error)},
          {"visit_error", number(median.visit_error)},
          {"cpu_share", number(median.cpu_share)},
          {"peak_bytes_share", number(median.peak_bytes_share)},
          {"jain", number(median.jain)},
          {"label", median.label},
          {"passed", score.passed()},
          {"missed", score.missed}};
}

}  // namespace

Json scores_json(std::span<const detail::Score> scores, std::span<const TrialCase> cases) {
  Json document = Json::array();
  for (std::size_t i = 0; i < scores.size(); ++i) {
    document.push_back(score_json(scores[i]));
    if (scores[i].plant != "live") continue;
    document.back()["simulated_per_second"] = number(simulated_per_second(cases[i]));
    document.back()["time_scale"] = cases[i].trials.front().time_scale;
  }
  return document;
}

Json replay_json(const detail::Replay& replay) {
  Json document = {{"policy", replay.policy},   {"strict", replay.strict},
                   {"windows", replay.windows}, {"parts", replay.parts},
                   {"same", replay.same()},     {"difference", nullptr},
                   {"notes", replay.notes}};
  if (replay.difference)
    document["difference"] = {{"line", replay.difference->line},
                              {"seconds", number(replay.difference->seconds)},
                              {"recorded", replay.difference->recorded},
                              {"replayed", replay.difference->replayed}};
  return document;
}

}  // namespace weir::program
