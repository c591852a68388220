#include "policies/host_meter.hpp"

#include <algorithm>
#include <cmath>

namespace weir::detail {
namespace {

double rate(double before, double after, double seconds) {
  const double grown = after - before;
  return std::isfinite(grown) && grown > 0 ? grown / seconds : 0.0;
}

double grown(std::uint64_t before, std::uint64_t after) {
  return after > before ? static_cast<double>(after - before) : 0.0;
}

}  // namespace

const HostObservation& HostMeter::add(const HostSnapshot& host, std::uint64_t ledger_bytes,
                                      WorkTime& throttled) {
  if (!(host.read_seconds > 0) || (last_ && host.read_seconds == last_->read_seconds)) return seen_;
  const double seconds = last_ ? host.read_seconds - last_->read_seconds : 0.0;
  seen_.cores = std::isfinite(host.cores) ? std::max(0.0, host.cores) : 0.0;
  seen_.resident_bytes = host.resident_bytes;
  seen_.memory_bytes = host.memory_bytes;
  seen_.memory_limit_bytes = host.memory_limit_bytes;
  seen_.resident_over_ledger = ledger_bytes > 0 ? static_cast<double>(host.resident_bytes) /
                                                      static_cast<double>(ledger_bytes)
                                                : 0.0;
  if (seconds > 0 && std::isfinite(seconds)) {
    const double all = rate(last_->host_cpu_seconds, host.host_cpu_seconds, seconds);
    const double own = rate(last_->process_cpu_seconds, host.process_cpu_seconds, seconds);
    seen_.others_cores = std::max(0.0, all - own);
    seen_.idle_cores = 0;
    if (host.host_cores > 0 && host.host_cpu_seconds > 0) {
      seen_.idle_cores = std::max(0.0, host.host_cores - all);
      if (host.cores > 0)
        seen_.idle_cores = std::min(seen_.idle_cores, std::max(0.0, host.cores - own));
    }
    seen_.cpu_pressure =
        std::min(1.0, rate(last_->cpu_pressure_seconds, host.cpu_pressure_seconds, seconds));
    seen_.memory_pressure =
        std::min(1.0, rate(last_->memory_pressure_seconds, host.memory_pressure_seconds, seconds));
    const double periods = grown(last_->quota_periods, host.quota_periods);
    const double stopped = grown(last_->throttled_periods, host.throttled_periods);
    seen_.throttled_share = periods > 0 ? std::min(1.0, stopped / periods) : 0.0;
    throttled.throttled_periods += stopped;
    throttled.throttled_seconds +=
        rate(last_->throttled_seconds, host.throttled_seconds, seconds) * seconds;
    seen_.known = true;
  }
  last_ = host;
  return seen_;
}

}  // namespace weir::detail
