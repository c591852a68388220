// Training and validation at once: both loaders take their workers from the one pool of the
// process, so that together they never run on more threads than the budget.
#include <cstdint>
#include <iostream>

#include <weir/weir.hpp>

int main() {
  const auto prepare = [](std::int64_t n) { return static_cast<float>(n) / 1000; };
  auto training = weir::range(1000).shuffle().map("prepare", prepare).batch(10);
  auto validation = weir::range(200).map("prepare", prepare).batch(20);

  weir::Options options;
  options.workers = 2;
  options.oversubscribe = true;
  options.name = "training";
  auto training_loader = training.start(options);
  options.name = "validation";
  auto validation_loader = validation.start(options);

  double sum = 0;
  for (std::uint32_t epoch = 0; epoch < 3; ++epoch) {
    for (auto& batch : training_loader.epoch(epoch)) sum += batch[0];
    // The validation set is read anew each time, in the same order.
    double mean = 0;
    for (auto& batch : validation_loader.epoch(epoch))
      for (const float value : batch) mean += value / 200;
    std::cout << "epoch " << epoch << ": validation mean " << mean << '\n';
  }
  const weir::Summary summary = training_loader.summary();
  std::cout << training_loader.telemetry().loaders.size() << " loaders, " << summary.peak_workers
            << " workers at most\n";
  return sum > 0 && summary.peak_workers <= 2 ? 0 : 1;
}
