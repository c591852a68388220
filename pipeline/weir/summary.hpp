#pragma once

#include <cstdint>
#include <iosfwd>
#include <map>
#include <string>
#include <vector>

#include <weir/export.hpp>
#include <weir/telemetry.hpp>

namespace weir {

/// Mean and quantiles of a set of times.
struct TimeSummary {
  double mean_seconds = 0;
  double p50_seconds = 0;
  double p95_seconds = 0;
  double p99_seconds = 0;
};

struct StageSummary {
  std::string name;
  std::vector<OperatorSnapshot> operators;
  bool serial = false;
  double running_mean = 0;  ///< workers busy here, over the run
  double target = 0;
  int cap = 0;
  std::uint64_t items_in = 0;
  std::uint64_t items_out = 0;
  std::uint64_t errors = 0;
  double items_per_second = 0;
  std::uint64_t bytes_out = 0;
  TimeSummary service_time;
  double wait_input_share = 0;
  double wait_output_share = 0;
  double cpu_user_seconds = 0;
  double cpu_system_seconds = 0;
  double cpu_wait_share = 0;  ///< of the time that its workers wanted a CPU, they waited for one
  double blocked_share = 0;   ///< of its slot time, neither on a CPU nor wanting one
  std::string hint;           ///< with autotune: locks or allocator; empty: nothing odd
  std::int64_t queue_capacity_items = 0;
  double queue_mean_items = 0;
  std::int64_t queue_low_items = 0;  ///< since the depth was last set
  std::int64_t queue_high_items = 0;
  double queue_empty_share = 0;
  double queue_full_share = 0;
};

struct TuningSummary {
  std::string policy;
  bool autotune = false;
  bool strict = false;
  int moves = 0;
  bool settled = false;
  double settle_seconds = 0;
  std::string label;
  std::map<std::string, double> label_shares;  ///< of the judged time; empty without autotune
  // What took CPUs away, as the controller saw it; 0 without autotune, or where the host does not
  // say.
  double cpu_wait_share = 0;  ///< of the time in which workers wanted a CPU
  double switches_per_cpu_second = 0;
  double throttled_share = 0;
  double others_cores = 0;
  double idle_cores = 0;
  double cpu_pressure = 0;
  std::map<std::string, double> contended_shares;  ///< of the time, by whom: others, own or quota
  double active_mean = 0;
  double last_half_active_mean = 0;
  int needed_workers = 0;
  std::string emitted;      ///< path of the tuned file written; empty: none
  std::string emit_remark;  ///< why none was written, or what was said of the loaded file
};

/// Where the workers run.
struct PlacementSummary {
  std::string mode = "none";
  std::vector<std::string> workers;  ///< the CPUs of each; empty where none is bound
  int pinned = 0;                    ///< workers that the kernel says to be bound as planned
  std::string note;                  ///< why it is not as asked for; empty: it is
};

/// What a loader did so far. `operator<<` prints it as a table.
struct Summary {
  std::string pipeline;
  std::uint64_t items = 0;    ///< samples delivered
  std::uint64_t batches = 0;  ///< what next() handed over
  std::uint32_t epochs = 0;   ///< epochs finished
  double seconds = 0;
  double first_batch_seconds = 0;
  double items_per_second = 0;
  std::string digest;  ///< empty unless asked for
  std::string set_digest;
  int budget_threads = 0;
  int budget_active = 0;
  std::string budget_source;
  int peak_workers = 0;
  PlacementSummary placement;
  ReadingSnapshot reading;  ///< of files; nothing of a source without files
  std::uint64_t peak_bytes = 0;
  std::uint64_t memory_bound_bytes = 0;
  double wait_seconds = 0;
  double wait_share = 0;
  TimeSummary gap;  ///< waits in next() without the first
  TimeSummary last_half_gap;
  double step_mean_seconds = 0;
  double compute_mean_seconds = 0;  ///< up to mark(compute_end); 0: not marked
  std::vector<StageSummary> stages;
  TuningSummary tuning;
  std::uint64_t bad_count = 0;
  std::string quarantine;         ///< path, empty when nothing was written
  std::uint64_t placed_rows = 0;  ///< rows written in place in their batch
  std::uint64_t copied_rows = 0;  ///< rows copied into it

  friend WEIR_EXPORT std::ostream& operator<<(std::ostream& out, const Summary& summary);
};

}  // namespace weir
