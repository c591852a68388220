#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <weir/duration_histogram.hpp>
#include <weir/reading.hpp>

namespace weir {

/// The state and the cumulative meters of one edge, the queue behind a stage. `*_seconds` are
/// integrals over wall time since the loader started.
struct QueueSnapshot {
  std::int64_t capacity_items = 0;  ///< depth in items; markers and tombstones take none
  std::int64_t length_items = 0;    ///< items ready for the next stage
  std::int64_t low_items = 0;       ///< least length since the depth was last set
  std::int64_t high_items = 0;      ///< most since then: above it the depth was never of use
  std::int64_t bytes = 0;           ///< payload held, in bytes
  double item_seconds = 0;          ///< integral of length_items
  double empty_seconds = 0;         ///< time with nothing ready
  double full_seconds = 0;          ///< time in which the producing stage had no room
};

/// The cumulative counters of one operator inside a (possibly fused) stage.
struct OperatorSnapshot {
  std::string name;
  std::uint64_t items = 0;
  double seconds = 0;
};

/// The cumulative counters of one stage. All values only grow, so a window is a difference.
struct StageSnapshot {
  std::string name;                         ///< unique within its loader
  std::vector<OperatorSnapshot> operators;  ///< as the user wrote them, in order
  int loader = 0;                           ///< index into Snapshot::loaders
  bool serial = false;                      ///< at most one worker at a time
  int fixed_workers = 0;        ///< set by hand: target and cap, never tuned; 0: not set
  int hand_cap = 0;             ///< a cap set by hand; 0: none
  std::int64_t hand_depth = 0;  ///< a queue depth set by hand; 0: none

  std::uint64_t items_in = 0;   ///< live items taken in (tombstones are no visits)
  std::uint64_t items_out = 0;  ///< live items given out
  std::uint64_t errors = 0;     ///< items that failed here
  std::uint64_t packets = 0;
  std::uint64_t bytes_out = 0;
  double slot_seconds = 0;            ///< sum over packets of wall time held by a worker
  double slot_seconds_squared = 0;    ///< sum over items of (time of one item)^2, in s^2
  double running_seconds = 0;         ///< integral of running workers, packets under way included
  double oldest_running_seconds = 0;  ///< age of the oldest packet under way now; 0: none
  double cpu_user_seconds = 0;
  double cpu_system_seconds = 0;
  double run_queue_seconds = 0;  ///< runnable but not running (schedstat), shared out by slot time
  std::uint64_t voluntary_switches = 0;
  std::uint64_t involuntary_switches = 0;
  std::uint64_t minor_faults = 0;
  double wait_input_seconds = 0;    ///< no worker running and no input ready
  double wait_output_seconds = 0;   ///< input ready and no room behind
  DurationHistogram service_times;  ///< one entry an item (a packet's time over its items)
  int running = 0;                  ///< now
  QueueSnapshot queue;              ///< the stage's output edge
};

/// The consumer of one loader: the user's thread in `next()`.
struct ConsumerSnapshot {
  std::uint64_t items = 0;  ///< what next() handed over: batches, or items without a batch stage
  double wait_seconds = 0;  ///< time inside next(), the wait under way included
  double first_wait_seconds = 0;  ///< the first call's share of it
  double service_seconds = 0;  ///< from the return of one next() to the call of the following one
  double service_seconds_squared = 0;
  bool waiting = false;  ///< inside next() now
};

struct LoaderSnapshot {
  std::string name;
  ConsumerSnapshot consumer;
  ReadingSnapshot reading = {};
};

/// What the host and the control groups around the process say, read once or twice a second. All
/// counters are cumulative; 0 where there is no such thing here.
struct HostSnapshot {
  double read_seconds = 0;      ///< when, on the clock of Snapshot::time_seconds; 0: never
  double cores = 0;             ///< CPUs that the process may use at once, by mask and quota
  double host_cores = 0;        ///< CPUs of the host
  double host_cpu_seconds = 0;  ///< used by everybody
  double process_cpu_seconds = 0;
  std::uint64_t quota_periods = 0;
  std::uint64_t throttled_periods = 0;  ///< in which the quota stopped threads
  double throttled_seconds = 0;
  double cpu_pressure_seconds = 0;     ///< in which some task of the host waited for a CPU
  double memory_pressure_seconds = 0;  ///< or for memory
  std::uint64_t resident_bytes = 0;    ///< of the process
  std::uint64_t memory_bytes = 0;      ///< of the control group, page cache included
  std::uint64_t memory_limit_bytes = 0;
};

/// The sum of all counters at one instant, over all loaders of the process; the only thing about a
/// pipeline that a policy may see.
struct Snapshot {
  double time_seconds = 0;         ///< monotonic; the origin is arbitrary
  int budget = 0;                  ///< N, workers that exist
  int active = 0;                  ///< A, the number that may be unparked
  int unparked = 0;                ///< now
  double unparked_seconds = 0;     ///< integral of unparked workers
  std::uint64_t memory_bytes = 0;  ///< payload owned by weir now
  std::uint64_t memory_peak_bytes = 0;
  std::uint64_t memory_bound_bytes = 0;
  bool memory_stopped = false;  ///< sources start nothing new, from 85 % of the bound to 65 %
  std::uint64_t structure = 0;  ///< changes whenever loaders came or went
  HostSnapshot host;
  std::vector<LoaderSnapshot> loaders;
  std::vector<StageSnapshot> stages;  ///< in the order of Allocation::stages: loader by loader,
                                      ///< upstream first
};

}  // namespace weir
