#pragma once

#include <weir/telemetry.hpp>

#include "tuner/scenario.hpp"

namespace weir::detail {

/// The user's thread of one loader: it calls next(), waits there for an item, and comes back when
/// its step is over.
///
/// Thread safety: none.
class SimulatedConsumer {
 public:
  SimulatedConsumer(const ScenarioFlow& flow, double now) : flow_(flow), next_call_(now) {}

  void set_flow(const ScenarioFlow& flow) { flow_ = flow; }
  /// It stays away for so long beyond its next step.
  void pause(double seconds) { pause_seconds_ = seconds; }

  [[nodiscard]] bool waits() const { return meters_.waiting; }
  /// When it calls next() again; infinite while it waits in there.
  [[nodiscard]] double next_call() const { return next_call_; }
  void call(double now);
  /// It gets what it waited for. Requires: waits().
  void take(double now);
  [[nodiscard]] ConsumerSnapshot snapshot(double now) const;

 private:
  ScenarioFlow flow_;
  double next_call_;
  double called_ = 0;
  double returned_ = 0;
  double pause_seconds_ = 0;
  ConsumerSnapshot meters_;
};

}  // namespace weir::detail
