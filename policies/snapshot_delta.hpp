#pragma once

#include <string>

#include <weir/export.hpp>
#include <weir/telemetry.hpp>

namespace weir::detail {

/// What a stage did between two readings of its counters.
struct StageDelta {
  double items_in = 0;
  double items_out = 0;
  double packets = 0;
  double slot_seconds = 0;
  double slot_seconds_squared = 0;
  double running_seconds = 0;
  double cpu_user_seconds = 0;
  double cpu_system_seconds = 0;
  double run_queue_seconds = 0;
  double voluntary_switches = 0;
  double involuntary_switches = 0;
  double minor_faults = 0;
  double wait_input_seconds = 0;
  double wait_output_seconds = 0;
  double queue_item_seconds = 0;
  double queue_empty_seconds = 0;
  double queue_full_seconds = 0;
};

/// Counters may wrap. Integrals that count what is under way may fall by a little between the end
/// of one packet and the next reading; that reads as nothing.
[[nodiscard]] WEIR_EXPORT StageDelta delta(const StageSnapshot& before, const StageSnapshot& after);

/// Why two snapshots cannot be compared: other stages, counters that went backwards or are no
/// numbers. Empty: they can.
[[nodiscard]] WEIR_EXPORT std::string why_not_comparable(const Snapshot& before,
                                                         const Snapshot& after);

}  // namespace weir::detail
