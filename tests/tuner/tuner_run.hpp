#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/simulated_plant.hpp"
#include "tuner/tuner.hpp"

namespace weir::test {

/// A line with one stage a time, called a, b, c, ...
inline SimulatedLoader line(const std::vector<double>& services, double cv = 0,
                            double consumer_seconds = 0) {
  SimulatedLoader loader;
  for (std::size_t i = 0; i < services.size(); ++i)
    loader.stages.push_back(
        {.name = std::string(1, static_cast<char>('a' + i)), .seconds = services[i], .cv = cv});
  loader.consumer_seconds = consumer_seconds;
  return loader;
}

/// Drives a tuner over a plant in virtual time.
class TunerRun {
 public:
  TunerRun(int workers, std::vector<SimulatedLoader> loaders, TuningOptions options = {})
      : plant(workers, std::move(loaders), options.seed + 1), tuner(plant, options) {}

  /// What was measured between two times.
  struct Stretch {
    double per_second = 0;
    double wait_share = 0;
    double unparked_mean = 0;
  };

  void run_until(double end) {
    while (plant.now() < end - 1e-9) {
      if (plant.now() >= next_look_ - 1e-9) {
        next_look_ = plant.now() + tuner.step();
        const TuningStatus status = tuner.status();
        most_moves = std::max(most_moves, status.moves);
        if (status.settled && !first_settled) first_settled = plant.now();
      }
      plant.advance(std::min(next_look_, end) - plant.now());
    }
  }
  [[nodiscard]] Stretch stretch(double seconds, int loader = 0) {
    const Snapshot before = plant.snapshot();
    run_until(plant.now() + seconds);
    const Snapshot after = plant.snapshot();
    const auto l = static_cast<std::size_t>(loader);
    const ConsumerSnapshot& a = before.loaders[l].consumer;
    const ConsumerSnapshot& b = after.loaders[l].consumer;
    const double time = after.time_seconds - before.time_seconds;
    return {static_cast<double>(b.items - a.items) / time, (b.wait_seconds - a.wait_seconds) / time,
            (after.unparked_seconds - before.unparked_seconds) / time};
  }

  SimulatedPlant plant;
  detail::Tuner tuner;
  int most_moves = 0;
  std::optional<double> first_settled;

 private:
  double next_look_ = 0;
};

}  // namespace weir::test
