// Numbers through a function, in batches of four. The order is that of the source, whatever the
// workers do.
#include <cstdint>
#include <iostream>

#include <weir/weir.hpp>

int main() {
  auto pipeline = weir::range(10)                                           // Stream<int64_t>
                      .map("square", [](std::int64_t n) { return n * n; })  // Stream<int64_t>
                      .batch(4);  // Stream<Batch<int64_t>>

  auto loader = pipeline.start();
  std::int64_t sum = 0;
  for (auto& batch : loader.epoch(0)) {
    for (const std::int64_t square : batch) {
      std::cout << square << ' ';
      sum += square;
    }
    std::cout << '\n';
  }
  std::cout << loader.summary();
  return sum == 285 ? 0 : 1;
}
