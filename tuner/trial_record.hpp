#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <weir/allocation.hpp>
#include <weir/export.hpp>
#include <weir/policy.hpp>
#include <weir/tuning.hpp>

#include "tuner/simulation.hpp"
#include "tuner/timetable.hpp"
#include "tuner/tuner.hpp"

namespace weir::detail {

/// Counters of one process at one time; all only grow.
struct TrialReading {
  double seconds = 0;
  double items = 0;  ///< handed to the consumer
  double wait_seconds = 0;
  double unparked_seconds = 0;
  double cpu_seconds = 0;
  double quota_periods = 0;  ///< of the whole machine
  double throttled_periods = 0;
};

/// One look of the controller.
struct TrialLook {
  double seconds = 0;
  double window_seconds = 0;
  MoveKind kind = MoveKind::hold;
  bool first = false;    ///< the start
  bool changed = false;  ///< another allocation than before is in force, depths and packets apart
  bool valid = true;
  std::string label;
  double wanted_excess = 0;     ///< workers that the policy asked for above N
  Allocation allocation;        ///< in force from now on
  std::vector<double> running;  ///< by stage, time mean of the window
};

/// What a run of one process left behind.
struct ProcessRecord {
  bool given_start = false;  ///< it began with an allocation that the scenario or a file gave
  std::vector<TrialReading> readings;  ///< ascending in time, from 0 to the end
  std::vector<TrialLook> looks;
  TuningStatus status;  ///< at the end
  std::uint64_t budget_violations = 0;
  double peak_bytes = 0;
  std::vector<double> last_ran_seconds;  ///< by worker; negative: never
};

/// What a run of a scenario left behind, on whichever plant.
struct TrialRecord {
  std::vector<ProcessRecord> processes;
};

/// Nothing but depths and packets differs.
[[nodiscard]] WEIR_EXPORT bool same_workers(const Allocation& a, const Allocation& b);

/// Appends what a look saw and did. `seconds` is the time in the scenario.
WEIR_EXPORT void note_look(const TunerLook& look, const Allocation& in_force, double seconds,
                           std::vector<TrialLook>& looks);

/// The measures of a run, but for start_per_second, which takes a run of its own.
[[nodiscard]] WEIR_EXPORT Measures measure(const TrialRecord& record, const Timetable& timetable);

/// Delivered in the steady time, a second.
[[nodiscard]] WEIR_EXPORT double steady_rate(const TrialRecord& record, const Timetable& timetable);

/// One point a look of the first process.
[[nodiscard]] WEIR_EXPORT std::vector<TimelinePoint> timeline(const TrialRecord& record,
                                                              const Timetable& timetable);

}  // namespace weir::detail
