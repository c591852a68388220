// What a worker needs for itself (a decoder handle, a model, scratch memory) it makes once, at its
// first item of the stage; the function gets it in front and needs no lock.
#include <atomic>
#include <cstdint>
#include <iostream>
#include <vector>

#include <weir/per_worker.hpp>
#include <weir/weir.hpp>

namespace {

std::atomic<int> models_made{0};

/// Not safe to share between threads: it scribbles in its own scratch.
class Model {
 public:
  Model() : scratch_(1024) { ++models_made; }
  double score(std::int64_t n) {
    scratch_[0] = static_cast<double>(n);
    return scratch_[0] * 0.5;
  }

 private:
  std::vector<double> scratch_;
};

}  // namespace

int main() {
  auto pipeline = weir::range(10'000)
                      .map("score", weir::per_worker([] { return Model{}; }),
                           [](Model& model, std::int64_t n) { return model.score(n); })
                      .batch(100);

  weir::Options options;
  options.workers = 4;
  options.oversubscribe = true;
  auto loader = pipeline.start(options);
  double sum = 0;
  for (auto& batch : loader.epoch(0))
    for (const double score : batch) sum += score;
  std::cout << "sum " << sum << ", models made: " << models_made << " for at most 4 workers\n";
  return sum == 0.5 * 9999 * 10'000 / 2 && models_made <= 4 ? 0 : 1;
}
