#include "tuner/simulated_consumer.hpp"

#include <limits>
#include <utility>

#include "tuner/simulated_flow.hpp"

namespace weir::detail {

void SimulatedConsumer::call(double now) {
  if (meters_.items > 0) {
    const double service = now - returned_;
    meters_.service_seconds += service;
    meters_.service_seconds_squared += service * service;
  }
  meters_.waiting = true;
  called_ = now;
  next_call_ = std::numeric_limits<double>::infinity();
}

void SimulatedConsumer::take(double now) {
  const double wait = now - called_;
  meters_.waiting = false;
  meters_.wait_seconds += wait;
  if (meters_.items == 0) meters_.first_wait_seconds = wait;
  ++meters_.items;
  returned_ = now;
  const double step = seconds_between(flow_) + std::exchange(pause_seconds_, 0.0);
  next_call_ = next_flowing(flow_, now + step);
}

ConsumerSnapshot SimulatedConsumer::snapshot(double now) const {
  ConsumerSnapshot snapshot = meters_;
  if (!meters_.waiting) return snapshot;
  snapshot.wait_seconds += now - called_;
  if (meters_.items == 0) snapshot.first_wait_seconds += now - called_;
  return snapshot;
}

}  // namespace weir::detail
