#pragma once

#include <optional>

#include <weir/export.hpp>
#include <weir/observation.hpp>
#include <weir/telemetry.hpp>

namespace weir::detail {

/// Turns two readings of the host into rates. Readings come once or twice a second; in between the
/// last rates stand.
///
/// Thread safety: none.
class WEIR_EXPORT HostMeter {
 public:
  /// `ledger_bytes` is what weir counts as its own. `throttled` gets what was added since the last
  /// call.
  [[nodiscard]] const HostObservation& add(const HostSnapshot& host, std::uint64_t ledger_bytes,
                                           WorkTime& throttled);

 private:
  std::optional<HostSnapshot> last_;
  HostObservation seen_;
};

}  // namespace weir::detail
