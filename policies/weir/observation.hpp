#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <weir/allocation.hpp>

namespace weir {

// Glossary, used alike in code, files and log:
//   N            budget, workers that exist; A: unparked workers
//   item         what a stage takes in; a consumer item is what next() hands over (often a batch)
//   s, service   worker-seconds that a stage holds for one item taken in, run-queue delay removed
//   visits       items that a stage takes in for one consumer item
//   demand       visits * s: worker-seconds of a stage for one consumer item
//   X            throughput, in consumer items a second
//   eps          relative error of s, two standard errors

/// The service time seen while about `running` workers were in the stage.
struct Level {
  double running = 1;
  double service_seconds = 0;
  double relative_error = 0;  ///< one standard error over the mean
  double completions = 0;     ///< behind the mean, old ones fading
};

/// What is known of a stage, smoothed over windows.
struct StageEstimate {
  double service_seconds = 0;     ///< 0: nothing completed yet
  double cv = 0;                  ///< coefficient of variation of the service time
  double relative_error = 1;      ///< eps
  std::uint64_t completions = 0;  ///< since the start or the last drift
  bool trusted = false;           ///< enough of them to act on
  double visits = 1;
  bool visits_known = false;  ///< false: no consumer item can have come through yet
  double demand_seconds = 0;
  std::vector<Level> levels;  ///< by running workers, ascending
};

/// One stage over one window, and what is known of it by now. Shares are of wall time.
struct StageObservation {
  std::string name;
  int loader = 0;
  bool serial = false;
  int fixed_workers = 0;          ///< set by hand, never tuned; 0: not set
  int hand_cap = 0;               ///< 0: none
  std::uint64_t completions = 0;  ///< independent ones: items, or packets where those are fewer
  double items_per_second = 0;    ///< taken in
  double items_out_per_second = 0;
  double service_seconds = 0;  ///< of this window alone; 0: nothing completed
  double running_mean = 0;
  double wait_input_share = 0;
  double wait_output_share = 0;
  double queue_mean = 0;  ///< of the output edge, in items
  double queue_empty_share = 0;
  double queue_full_share = 0;
  std::uint64_t bytes_out = 0;  ///< mean bytes of an item given out, since the start
  bool drifted = false;  ///< its costs changed: what was known of all stages has been dropped
  bool suspect = false;  ///< its costs may be changing
  StageEstimate estimate;
};

/// One consumer over one window.
struct LoaderObservation {
  std::string name;
  std::uint64_t items = 0;  ///< handed over in this window
  double items_per_second = 0;
  double throughput = 0;          ///< the same, smoothed
  double wait_share = 0;          ///< of wall time, inside next(); the first call left out
  double service_seconds = 0;     ///< smoothed, from one next() to the following
  std::uint64_t services = 0;     ///< completed since the start
  double present_per_second = 0;  ///< what it could take now; infinite: all
  double peak_per_second = 0;     ///< the most of that over the shrink memory
  double held_seconds = 0;        ///< how long its wait has been at or under the hold mark
  bool asked = false;             ///< next() was called or waiting in this window
  bool paused = false;            ///< not called for ten typical steps: evaluation, checkpoint
};

/// The most that the stages can give, by what is known; 0: unknown.
struct Bounds {
  double shared_per_second =
      0;  ///< workers shared: N / sum of demands, serial stages and caps apart
  double whole_per_second = 0;  ///< whole workers a stage
  int needed_workers = 0;       ///< fewest that hold the rate that the consumer asks for
};

/// What a policy sees: one window and the estimates so far.
struct Observation {
  double time_seconds = 0;  ///< end of the window
  double window_seconds = 0;
  int budget = 0;  ///< N
  int active = 0;  ///< A
  double unparked_mean = 0;
  std::uint64_t memory_bytes = 0;
  std::uint64_t memory_bound_bytes = 0;
  bool first_after_change = false;  ///< mixes two allocations
  bool valid = true;                ///< false: do not judge by this window
  std::string invalid_reason;
  bool contended = false;  ///< workers waited for a CPU more than the mark
  std::string label;       ///< memory, contended, consumer, source, serial:S, stage:S or none
  Bounds bounds;
  Allocation current;  ///< in force at the end of the window
  std::vector<LoaderObservation> loaders;
  std::vector<StageObservation> stages;
};

}  // namespace weir
