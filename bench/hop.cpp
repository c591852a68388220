// What a hop costs: four stages that do next to nothing, ordered output, full telemetry, against
// oneTBB's parallel_pipeline with the same functions in the same run.
//
// Equal: the functions, an ordered source and an ordered sink, the number of working threads.
// Not equal: oneTBB's calling thread is one of its N and consumes in the last filter; weir's
// consumer is a thread of its own beside N workers, which copies nothing but must be woken. So CPU
// time tells what an item costs in all, wall time what the consumer sees. Two more variants even it
// out: oneTBB with a consumer of its own behind a bounded queue, and weir on one thread.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include <oneapi/tbb/concurrent_queue.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_pipeline.h>

#include <weir/weir.hpp>

#include "bench/support/rounds.hpp"

namespace {

using weir::bench::Meter;
namespace tbb = oneapi::tbb;

constexpr auto first = [](std::int64_t v) -> std::int64_t { return v + 1; };
constexpr auto second = [](std::int64_t v) -> std::int64_t { return v * 3; };
constexpr auto third = [](std::int64_t v) -> std::int64_t { return v ^ 5; };
constexpr auto fourth = [](std::int64_t v) -> std::int64_t { return v - 1; };

std::int64_t expected_sum(std::int64_t items) {
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < items; ++i) sum += fourth(third(second(first(i))));
  return sum;
}

void check(std::int64_t sum, std::int64_t expected) {
  if (sum == expected) return;
  std::fprintf(stderr, "hop: a wrong sum came out\n");
  std::exit(1);
}

struct Work {
  std::int64_t items;
  std::int64_t sum;
};

std::uint64_t run_weir(Meter& meter, const Work& work, int workers, weir::Fuse fuse, bool inlined) {
  weir::Options options;
  options.workers = workers;
  options.oversubscribe = true;
  options.epochs = 1;
  options.fuse = fuse;
  options.run_inline = inlined;
  auto loader = weir::range(work.items)
                    .map("first", first)
                    .map("second", second)
                    .map("third", third)
                    .map("fourth", fourth)
                    .start(options);
  meter.start();
  std::int64_t sum = 0;
  while (const std::optional<std::int64_t> value = loader.next()) sum += *value;
  meter.stop();
  check(sum, work.sum);
  return static_cast<std::uint64_t>(work.items);
}

/// `sink` gets the results in order.
template <class Sink>
void run_pipeline(std::int64_t items, int threads, const Sink& sink) {
  std::int64_t next = 0;
  const auto source = [&](tbb::flow_control& control) -> std::int64_t {
    if (next < items) return next++;
    control.stop();
    return 0;
  };
  constexpr auto kOrdered = tbb::filter_mode::serial_in_order;
  constexpr auto kParallel = tbb::filter_mode::parallel;
  tbb::parallel_pipeline(static_cast<std::size_t>(16 * threads),
                         tbb::make_filter<void, std::int64_t>(kOrdered, source) &
                             tbb::make_filter<std::int64_t, std::int64_t>(kParallel, first) &
                             tbb::make_filter<std::int64_t, std::int64_t>(kParallel, second) &
                             tbb::make_filter<std::int64_t, std::int64_t>(kParallel, third) &
                             tbb::make_filter<std::int64_t, std::int64_t>(kParallel, fourth) &
                             tbb::make_filter<std::int64_t, void>(kOrdered, sink));
}

std::uint64_t run_tbb(Meter& meter, const Work& work, int threads) {
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                                  static_cast<std::size_t>(threads));
  std::int64_t sum = 0;
  meter.start();
  run_pipeline(work.items, threads, [&](std::int64_t value) { sum += value; });
  meter.stop();
  check(sum, work.sum);
  return static_cast<std::uint64_t>(work.items);
}

std::uint64_t run_tbb_apart(Meter& meter, const Work& work, int threads) {
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                                  static_cast<std::size_t>(threads));
  tbb::concurrent_bounded_queue<std::int64_t> queue;
  queue.set_capacity(4096);
  meter.start();
  std::thread pipeline(
      [&] { run_pipeline(work.items, threads, [&](std::int64_t value) { queue.push(value); }); });
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < work.items; ++i) {
    std::int64_t value = 0;
    queue.pop(value);
    sum += value;
  }
  pipeline.join();
  meter.stop();
  check(sum, work.sum);
  return static_cast<std::uint64_t>(work.items);
}

}  // namespace

int main(int count, char** values) {
  const weir::bench::Arguments arguments = weir::bench::read_arguments(count, values);
  Work work{arguments.quick ? 20'000 : 2'000'000, 0};
  work.sum = expected_sum(work.items);
  for (const int threads : {1, 2}) {
    const std::string with = threads == 1 ? ", 1 worker" : ", 2 workers";
    weir::bench::Rounds rounds({arguments.rounds});
    rounds.add("oneTBB" + with, [&](Meter& meter) { return run_tbb(meter, work, threads); });
    rounds.add("weir, fuse off" + with, [&](Meter& meter) {
      return run_weir(meter, work, threads, weir::Fuse::off, false);
    });
    rounds.add("weir, fuse all" + with, [&](Meter& meter) {
      return run_weir(meter, work, threads, weir::Fuse::all, false);
    });
    if (threads == 1)
      rounds.add("weir, fuse off, inline",
                 [&](Meter& meter) { return run_weir(meter, work, 1, weir::Fuse::off, true); });
    rounds.add("oneTBB, consumer apart" + with,
               [&](Meter& meter) { return run_tbb_apart(meter, work, threads); });
    std::printf("four trivial stages, ordered%s\n", with.c_str());
    rounds.run_and_print();
    weir::bench::print_goal("weir unfused to oneTBB, wall", rounds.result(1).wall_ratio, "at most",
                            1.0);
    weir::bench::print_goal("weir unfused to oneTBB, CPU", rounds.result(1).cpu_ratio, "at most",
                            1.0);
  }
  return 0;
}
