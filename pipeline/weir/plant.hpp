#pragma once

#include <weir/allocation.hpp>
#include <weir/export.hpp>
#include <weir/telemetry.hpp>

namespace weir {

/// What a tuner steers: it reads a Snapshot and sets an Allocation. The worker pool is one; the
/// simulator in virtual time is another. A policy cannot tell which it is driving.
///
/// Thread safety: all functions may be called from any thread.
class WEIR_EXPORT Plant {
 public:
  virtual ~Plant();
  [[nodiscard]] virtual Snapshot snapshot() const = 0;
  [[nodiscard]] virtual Allocation allocation() const = 0;
  /// Publishes `allocation`; workers see it at their next packet. Values outside the budget are
  /// clamped. An allocation for another set of stages (see Snapshot::structure) is ignored and
  /// false is returned: look again.
  [[nodiscard]] virtual bool apply(const Allocation& allocation) = 0;
};

}  // namespace weir
