#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <weir/export.hpp>

#include "tuner/scenario.hpp"

namespace weir::detail {

/// What one run of a scenario was like. Rates are in consumer items a second, summed over the
/// processes where there are several; shares are of wall time. A *stretch* lies between two events,
/// `until` and the end of `over` included; *steady* means the last half of each stretch, whole
/// periods of a bursty consumer or source where one fits, put together. What counts changes is said
/// in tuner/stability.hpp; of several processes the one with most.
struct Measures {
  double oracle_per_second = 0;         ///< of the steady time, of the mode that was run
  double strict_oracle_per_second = 0;  ///< the same with whole workers
  /// What the first allocation in force holds when nobody changes it: its steady rate in a run of
  /// its own with the same seed and events.
  double start_per_second = 0;
  double steady_per_second = 0;
  /// Steady items over the integral of the oracle. While neighbours have cores, what goes beyond
  /// the oracle, taken from them, does not count.
  double efficiency = 0;
  double efficiency_whole_run = 0;  ///< all items over the integral of the oracle
  double settle_seconds = 0;        ///< last change before the first quiet 3 s
  int moves = 0;                    ///< changes after the ramp, releases included
  int moves_after_settling = 0;     ///< without those that an event asked for
  int probes = 0;                   ///< tried and taken back at once; no moves
  double reversals_per_minute = 0;  ///< a stage's target turned round, after settling
  double reaction_seconds = 0;      ///< from an event to the next change or new label, the longest
  /// From the last event until a window reaches 95 % of the oracle, its begin; windows of 0.5 s and
  /// 100 items at least, half of the stretch at most. Never: the stretch. No event: 0.
  double recovery_seconds = 0;
  double unparked_mean = 0;        ///< in the steady time
  double workers_used = 0;         ///< distinct workers that ran a packet in the last steady part
  double oracle_workers = 0;       ///< time mean over the steady time
  double last_oracle_workers = 0;  ///< at the end, beside workers_used
  std::uint64_t budget_violations = 0;
  double wanted_excess = 0;        ///< most that the policy asked for above N, before the guard
  double consumer_wait_share = 0;  ///< in the steady time; the longest of the processes
  double throttled_share = 0;      ///< of quota periods, in the steady time
  /// At the end, the largest |estimate / truth - 1| over the stages with 1 % of the demand or more;
  /// truth is the mean service at the concurrency that the stage had.
  double cost_error = 0;
  double visit_error = 0;
  double cpu_share = 1;         ///< CPU seconds an item over the oracle's; 1 where that has none
  double peak_bytes_share = 0;  ///< of the bound, less one item a worker and one batch
  double jain = 1;    ///< Jain's index of the processes' steady rates, each over its fair share's
  std::string label;  ///< the commonest of the steady time, by wall time, of the first process
};

/// One look of the controller, for plots and stories.
struct TimelinePoint {
  double seconds = 0;
  double per_second = 0;  ///< delivered since the last point
  double oracle_per_second = 0;
  double active = 0;
  std::vector<double> targets;  ///< by stage, of the first process
  std::vector<double> running;  ///< time mean since the last point
  std::string label;
};

struct TrialOptions {
  std::string policy = "balance";
  bool strict = false;
  int workers = 1;
  std::uint64_t seed = 1;
  std::map<std::string, std::string> settings;  ///< of the policy, as a user writes them
  bool timeline = false;
  std::string log_path;  ///< decision log of the first process; empty: none
};

struct Trial {
  Measures measures;
  std::vector<TimelinePoint> timeline;
  double time_scale = 1;            ///< live: how many times slower the stages were than written
  double simulated_per_second = 0;  ///< live: the simulator's steady rate with the waits that were
};

/// Runs a scenario once on the simulated machine, each process with a tuner of its own. The same
/// arguments give the same result. Throws Error when the policy or a setting is not usable, or when
/// the scenario's tuned file is not.
[[nodiscard]] WEIR_EXPORT Trial simulate(const Scenario& scenario, const TrialOptions& options);

}  // namespace weir::detail
