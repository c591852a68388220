#pragma once

#include <weir/duration_histogram.hpp>

#include "pipeline/counters.hpp"
#include "pipeline/stage.hpp"

namespace weir::bench {

/// What a worker does for a packet only so that it can be watched: two clock readings and the
/// counters of its stage. The runtime does the same in Stage::run() and Stage::commit().
class PacketTelemetry {
 public:
  void count(std::uint64_t items) {
    const detail::Nanoseconds begun = detail::monotonic_now();
    counters_.started_ns.set(begun);
    const detail::Nanoseconds now = detail::monotonic_now();
    const detail::Nanoseconds elapsed = now - begun;
    counters_.started_ns.set(0);
    counters_.slot_ns.add(elapsed);
    counters_.unattributed_ns.add(elapsed);
    counters_.packets.add(1);
    counters_.items_in.add(items);
    counters_.items_out.add(items);
    counters_.bytes_out.add(8 * items);
    const double each = static_cast<double>(elapsed) / static_cast<double>(items);
    counters_.slot_seconds_squared.add(each * each * 1e-18 * static_cast<double>(items));
    counters_.service_times[DurationHistogram::bucket(static_cast<std::uint64_t>(each))].add(items);
  }

 private:
  detail::StageCounters counters_;
};

}  // namespace weir::bench
