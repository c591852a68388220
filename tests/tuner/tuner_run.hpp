#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "tests/support/simulated_line.hpp"
#include "tuner/tuner.hpp"

namespace weir::test {

/// Drives a tuner over a plant in virtual time.
class TunerRun : public SimulatedLine {
 public:
  TunerRun(int workers, const std::vector<detail::ScenarioProcess>& loaders,
           const TuningOptions& options = {})
      : SimulatedLine(loaders, workers, 0, options.seed + 1), tuner(plant, options) {}

  /// What was measured between two times.
  struct Stretch {
    double per_second = 0;
    double wait_share = 0;
    double unparked_mean = 0;
  };

  void run_until(double end) {
    while (machine.now() < end - 1e-9) {
      if (machine.now() >= next_look_ - 1e-9) {
        next_look_ = machine.now() + tuner.step();
        const TuningStatus status = tuner.status();
        most_moves = std::max(most_moves, status.moves);
        if (status.settled && !first_settled) first_settled = machine.now();
      }
      machine.advance_to(std::min(next_look_, end));
    }
  }
  [[nodiscard]] Stretch stretch(double seconds, int loader = 0) {
    const Snapshot before = plant.snapshot();
    run_until(machine.now() + seconds);
    const Snapshot after = plant.snapshot();
    const auto l = static_cast<std::size_t>(loader);
    const ConsumerSnapshot& a = before.loaders[l].consumer;
    const ConsumerSnapshot& b = after.loaders[l].consumer;
    const double time = after.time_seconds - before.time_seconds;
    return {static_cast<double>(b.items - a.items) / time, (b.wait_seconds - a.wait_seconds) / time,
            (after.unparked_seconds - before.unparked_seconds) / time};
  }

  detail::Tuner tuner;
  int most_moves = 0;
  std::optional<double> first_settled;

 private:
  double next_look_ = 0;
};

}  // namespace weir::test
