// The pieces on the way of every packet, draw and index, one at a time (Google Benchmark).

#include <cstdint>
#include <vector>

#include <benchmark/benchmark.h>

#include <weir/allocation.hpp>
#include <weir/random.hpp>

#include "bench/support/packet_telemetry.hpp"
#include "machine/thread_usage.hpp"
#include "pipeline/edge.hpp"
#include "pipeline/index_map.hpp"
#include "pipeline/philox.hpp"
#include "pipeline/stage.hpp"

namespace weir::detail {
namespace {

/// One packet through one edge: opened, committed, claimed, given back.
void edge_hop(benchmark::State& state) {
  const auto items = static_cast<std::size_t>(state.range(0));
  const SlotType& type = slot_type<std::int64_t>();
  ByteLedger ledger;
  PlainEdge edge(type, static_cast<std::int64_t>(4 * items), ledger, false);
  Packet in;
  Packet out;
  std::uint64_t next = 0;
  for (auto _ : state) {
    in.clear();
    in.out_first = next;
    edge.open(in, items);
    for (SlotHeader* slot : in.out) static_cast<Slot<std::int64_t>*>(slot)->emplace(1);
    in.live_out = in.depth_out = items;
    in.all_live_out = true;
    edge.commit(in, monotonic_now());
    next += items;
    out.clear();
    out.started = monotonic_now();
    if (!edge.claim(out, {next, kNoIndex, items})) state.SkipWithError("nothing to claim");
    for (SlotHeader* slot : out.in) static_cast<Slot<std::int64_t>*>(slot)->reset();
    edge.finish(out);
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * items));
}
BENCHMARK(edge_hop)->Arg(1)->Arg(16)->Arg(1024);

/// The scan of a worker that leaves its stage; the last one is runnable.
void choose_scan(benchmark::State& state) {
  const auto stages = static_cast<std::size_t>(state.range(0));
  Allocation allocation;
  allocation.active = 8;
  allocation.stages.resize(stages);
  std::vector<StageView> views(stages);
  for (std::size_t i = 0; i < stages; ++i) {
    allocation.stages[i].target = 8.0 / static_cast<double>(stages);
    views[i] = {static_cast<int>(i % 2), i % 3 != 1};
  }
  for (auto _ : state) benchmark::DoNotOptimize(choose(allocation, views, -1));
}
BENCHMARK(choose_scan)->Arg(5)->Arg(20);

void philox_block(benchmark::State& state) {
  std::uint32_t counter = 0;
  for (auto _ : state) benchmark::DoNotOptimize(philox4x32({counter++, 1, 2, 3}, {4, 5}));
}
BENCHMARK(philox_block);

/// What an item's first draw costs: a generator of its own and one block.
void first_draw(benchmark::State& state) {
  std::uint64_t position = 0;
  for (auto _ : state) {
    Random random(7, position++);
    benchmark::DoNotOptimize(random.uniform());
  }
}
BENCHMARK(first_draw);

void index_shuffle(benchmark::State& state) {
  const auto size = static_cast<std::uint64_t>(state.range(0));
  const IndexShuffle shuffle(size, 7);
  std::uint64_t place = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(shuffle(place));
    if (++place == size) place = 0;
  }
}
BENCHMARK(index_shuffle)->Arg(1000)->Arg(1'281'167);

void clock_reading(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(monotonic_now());
}
BENCHMARK(clock_reading);

void packet_telemetry(benchmark::State& state) {
  bench::PacketTelemetry telemetry;
  for (auto _ : state) telemetry.count(2);
}
BENCHMARK(packet_telemetry);

/// Read by each worker at most every 5 ms.
void thread_usage(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(read_thread_usage());
}
BENCHMARK(thread_usage);

}  // namespace
}  // namespace weir::detail

int main(int count, char** values) {
  // --quick and --rounds as the other programs take them; the rest is Google Benchmark's.
  std::vector<std::string> words(values, values + count);
  for (std::string& word : words)
    if (word == "--quick") word = "--benchmark_min_time=0.001";
  if (count == 1) words.emplace_back("--benchmark_min_time=0.1");
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  int passed = static_cast<int>(arguments.size());
  benchmark::Initialize(&passed, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(passed, arguments.data())) return 2;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
