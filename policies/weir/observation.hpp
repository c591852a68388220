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
  double cpus_mean = 0;  ///< CPUs that its workers kept busy
  double wait_input_share = 0;
  double wait_output_share = 0;
  double queue_mean = 0;            ///< of the output edge, in items
  std::int64_t queue_capacity = 0;  ///< of the same, at the end of the window
  std::int64_t hand_depth = 0;      ///< set by hand, never tuned; 0: not set
  double queue_empty_share = 0;
  double queue_full_share = 0;
  std::uint64_t bytes_out = 0;  ///< mean bytes of an item given out, since the start
  double blocked_share = 0;     ///< of its slot time, neither on a CPU nor waiting for one
  double system_share = 0;      ///< of its CPU time, in the kernel
  std::string hint;      ///< allocator or locks: what its system time goes to; empty: nothing odd
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
  double service_cv = 0;          ///< of that time
  std::uint64_t services = 0;     ///< completed since the start
  double burst_gap_seconds = 0;   ///< the longest of the pauses that recur; 0: none do
  double present_per_second = 0;  ///< what it could take now; infinite: all
  double peak_per_second = 0;     ///< the most of that over the shrink memory
  double held_seconds = 0;        ///< how long its wait has been at or under the hold mark
  bool asked = false;             ///< next() was called or waiting in this window
  bool paused = false;            ///< not called for ten typical steps: evaluation, checkpoint
};

/// CPU time and what took it away, summed over workers, of a stretch of time.
struct WorkTime {
  double seconds = 0;  ///< of wall time
  double running_seconds = 0;
  double slot_seconds = 0;
  double cpu_seconds = 0;
  double run_queue_seconds = 0;  ///< runnable and not running
  double throttled_seconds = 0;  ///< stopped by the container's quota
  double throttled_periods = 0;
  double involuntary_switches = 0;
};

/// What the host says, as rates of about the last second; 0 where it does not say.
struct HostObservation {
  bool known = false;
  double cores = 0;            ///< that the process may use at once, by mask and quota
  double idle_cores = 0;       ///< of them, that nobody used
  double others_cores = 0;     ///< CPUs that other processes used
  double throttled_share = 0;  ///< of quota periods
  double cpu_pressure = 0;     ///< share of time in which some task waited for a CPU
  double memory_pressure = 0;  ///< or for memory
  std::uint64_t resident_bytes = 0;
  double resident_over_ledger = 0;  ///< what the process holds over what weir counts
  std::uint64_t memory_bytes = 0;   ///< of the control group
  std::uint64_t memory_limit_bytes = 0;
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
  double time_seconds = 0;  ///< end of the window, on a clock that neither jumps nor goes back
  double window_seconds = 0;
  int budget = 0;  ///< N
  int active = 0;  ///< A
  double unparked_mean = 0;
  std::uint64_t memory_bytes = 0;
  std::uint64_t memory_bound_bytes = 0;
  bool first_after_change = false;  ///< mixes two allocations
  bool valid = true;                ///< false: do not judge by this window
  std::string invalid_reason;
  bool by_hand = false;      ///< somebody else changed the allocation within it
  WorkTime work;             ///< of this window
  bool contended = false;    ///< workers waited for a CPU more than the mark in the last second
  std::string contended_by;  ///< others, own (more running workers than CPUs) or quota
  HostObservation host;
  std::string label;  ///< memory, contended, consumer, source, serial:S, device:S, stage:S or none
  Bounds bounds;
  Allocation current;  ///< in force at the end of the window
  std::vector<LoaderObservation> loaders;
  std::vector<StageObservation> stages;
};

}  // namespace weir
