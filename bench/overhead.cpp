// What watching costs: items of three stages of 50 us each, in turns without a controller and with
// one. CPU time of the process is what counts: wall time on a shared machine cannot resolve one per
// cent.
//
// The engine has no switch for telemetry. Its cost is that of what is done for a packet in order to
// be watched, times the packets that were counted. The bare functions in a loop, which have neither
// queues nor threads, tell what the engine costs in all; most of that is waking the consumer's
// thread.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <weir/weir.hpp>

#include "bench/support/packet_telemetry.hpp"
#include "bench/support/rounds.hpp"
#include "machine/thread_usage.hpp"

namespace {

using weir::bench::Meter;

/// A dependent chain of multiplications: the same time everywhere and nothing in the caches.
std::uint64_t chain(std::uint64_t value, std::uint64_t steps) {
  for (std::uint64_t i = 0; i < steps; ++i) value = value * 6364136223846793005ULL + i;
  return value;
}

std::uint64_t steps_of(double seconds) {
  constexpr std::uint64_t kTrial = 200'000;
  double best = 1;
  for (int i = 0; i < 20; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    volatile std::uint64_t kept = chain(1, kTrial);
    (void)kept;
    best = std::min(
        best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  return static_cast<std::uint64_t>(seconds / best * kTrial);
}

/// Packets an item of the last run, over all stages.
double packets_an_item = 0;

std::uint64_t run_weir(Meter& meter, std::int64_t items, std::uint64_t steps, bool autotune) {
  weir::Options options;
  options.workers = 2;
  options.oversubscribe = true;
  options.epochs = 1;
  options.autotune = autotune;
  options.fuse = weir::Fuse::off;
  const auto work = [steps](std::uint64_t v) { return chain(v, steps); };
  auto loader =
      weir::range(items)
          .map("first",
               [steps](std::int64_t v) { return chain(static_cast<std::uint64_t>(v), steps); })
          .map("second", work)
          .map("third", work)
          .start(options);
  meter.start();
  std::uint64_t sum = 0;
  while (const std::optional<std::uint64_t> value = loader.next()) sum += *value;
  meter.stop();
  double packets = 0;
  for (const weir::StageSnapshot& stage : loader.telemetry().stages)
    packets += static_cast<double>(stage.packets);
  packets_an_item = packets / static_cast<double>(items);
  volatile std::uint64_t kept = sum;
  (void)kept;
  return static_cast<std::uint64_t>(items);
}

double packet_seconds() {
  constexpr int kTimes = 1'000'000;
  weir::bench::PacketTelemetry telemetry;
  Meter meter;
  meter.start();
  for (int i = 0; i < kTimes; ++i) telemetry.count(2);
  meter.stop();
  return meter.cpu_seconds() / kTimes;
}

/// Each worker reads its thread's clocks every 5 ms, as a share of its time.
double clocks_share() {
  constexpr int kTimes = 10'000;
  Meter meter;
  meter.start();
  for (int i = 0; i < kTimes; ++i) (void)weir::read_thread_usage();
  meter.stop();
  return meter.cpu_seconds() / kTimes / 5e-3;
}

std::uint64_t run_loop(Meter& meter, std::int64_t items, std::uint64_t steps) {
  meter.start();
  std::uint64_t sum = 0;
  for (std::int64_t i = 0; i < items; ++i)
    sum += chain(chain(chain(static_cast<std::uint64_t>(i), steps), steps), steps);
  meter.stop();
  volatile std::uint64_t kept = sum;
  (void)kept;
  return static_cast<std::uint64_t>(items);
}

}  // namespace

int main(int count, char** values) {
  const weir::bench::Arguments arguments = weir::bench::read_arguments(count, values);
  const std::uint64_t steps = steps_of(50e-6);
  const std::int64_t items = arguments.quick ? 100 : 4000;
  weir::bench::Rounds rounds(
      {.rounds = arguments.quick ? 1 : 2 * arguments.rounds, .unit = "us/item", .scale = 1e6});
  rounds.add("weir, no controller",
             [&](Meter& meter) { return run_weir(meter, items, steps, false); });
  rounds.add("weir, policy balance",
             [&](Meter& meter) { return run_weir(meter, items, steps, true); });
  rounds.add("the functions in a loop",
             [&](Meter& meter) { return run_loop(meter, items, steps); });
  std::printf("three stages of 50 us, 2 workers\n");
  rounds.run_and_print();
  weir::bench::print_goal("CPU with the controller to without", rounds.result(1).cpu_ratio,
                          "at most", 1.01);
  const double telemetry = packet_seconds() * packets_an_item;
  weir::bench::print_goal("telemetry as a share of CPU",
                          telemetry / (rounds.result(1).cpu * 1e-6) + clocks_share(), "at most",
                          0.01);
  return 0;
}
