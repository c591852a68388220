// A run that is stopped in the middle of an epoch and goes on later delivers what the whole run
// would have delivered, byte for byte: the digests are the same.
#include <cstdint>
#include <fstream>
#include <iostream>
#include <optional>
#include <string>

#include <weir/weir.hpp>

int main() {
  auto pipeline = weir::range(1000)
                      .shuffle()
                      .map("noise",
                           [](std::int64_t n, weir::Context& context) {
                             return static_cast<double>(n) + context.random().uniform();
                           })
                      .batch(16);
  weir::Options options;
  options.epochs = 2;
  options.digest = true;
  const auto run = [&](std::optional<weir::Position> from, int most_batches) {
    options.resume = from;
    auto loader = pipeline.start(options);
    // next() gives nullopt once at the end of each epoch, and for good after the last one.
    for (int epoch = from ? static_cast<int>(from->epoch) : 0; epoch < 2; ++epoch)
      while (most_batches-- > 0 && loader.next()) continue;
    std::ofstream("resume.position") << loader.position().text();
    return loader.summary().digest;
  };

  constexpr int kAll = 1'000'000;
  const std::string whole = run(std::nullopt, kAll);
  const std::string half = run(std::nullopt, 40);
  std::string saved;
  std::getline(std::ifstream("resume.position"), saved);
  const std::string resumed = run(weir::Position::parse(saved), kAll);
  std::cout << "whole run        " << whole << "\nafter 40 batches " << half
            << "\nresumed          " << resumed << '\n';
  return resumed == whole && half != whole ? 0 : 1;
}
