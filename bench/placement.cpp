// Whether binding workers pays on this machine: the same work with each way to place them, in
// turns. A stage that fills its own cache and one that only calculates, since the first is what a
// move to another core costs. A ratio above one means that the mode is slower than leaving it to
// the system; differences within what two runs of the same mode show are none.

#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <weir/weir.hpp>

#include "bench/support/rounds.hpp"

namespace {

using weir::bench::Meter;

/// Reads and writes a table of 256 KiB, which stays in a core's own cache as long as the worker
/// stays there.
struct Table {
  std::vector<std::uint64_t> words = std::vector<std::uint64_t>(32 * 1024, 1);
  std::uint64_t stir(std::uint64_t value) {
    for (std::size_t i = 0; i < words.size(); i += 2) {
      value = value * 6364136223846793005ULL + words[i];
      words[i] = value;
    }
    return value;
  }
};

std::uint64_t chain(std::uint64_t value) {
  for (std::uint64_t i = 0; i < 20'000; ++i) value = value * 6364136223846793005ULL + i;
  return value;
}

std::uint64_t run(Meter& meter, std::int64_t items, weir::PlacementMode mode) {
  weir::Options options;
  options.epochs = 1;
  options.pin = mode;
  options.fuse = weir::Fuse::off;
  auto loader = weir::range(items)
                    .map("stir", weir::per_worker([] { return Table{}; }),
                         [](Table& table, std::int64_t value) {
                           return table.stir(static_cast<std::uint64_t>(value));
                         })
                    .map("chain", [](std::uint64_t value) { return chain(value); })
                    .start(options);
  meter.start();
  std::uint64_t sum = 0;
  while (const std::optional<std::uint64_t> value = loader.next()) sum += *value;
  meter.stop();
  volatile std::uint64_t kept = sum;
  (void)kept;
  return static_cast<std::uint64_t>(items);
}

}  // namespace

int main(int count, char** values) {
  const weir::bench::Arguments arguments = weir::bench::read_arguments(count, values);
  const std::int64_t items = arguments.quick ? 100 : 20'000;
  weir::bench::Rounds rounds(
      {.rounds = arguments.quick ? 1 : arguments.rounds, .unit = "us/item", .scale = 1e6});
  constexpr weir::PlacementMode kModes[] = {weir::PlacementMode::none, weir::PlacementMode::none,
                                            weir::PlacementMode::cache_domain,
                                            weir::PlacementMode::core, weir::PlacementMode::node};
  bool again = false;
  for (const weir::PlacementMode mode : kModes) {
    std::string name = "--pin " + std::string(to_string(mode));
    // Twice the same, so that the table shows what the machine's noise is.
    if (mode == weir::PlacementMode::none && again) name += ", once more";
    again = true;
    rounds.add(name, [items, mode](Meter& meter) { return run(meter, items, mode); });
  }
  std::printf("a stage of 256 KiB of its own and one that calculates, on all workers\n");
  rounds.run_and_print();
  return 0;
}
