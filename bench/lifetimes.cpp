// 1,000 pipelines made and destroyed, run to the end, left half-way or never asked for anything:
// memory, descriptors and threads must not grow. Fails if they do.

#include <malloc.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <string>

#include <weir/weir.hpp>

#include "bench/support/rounds.hpp"

namespace {

namespace fs = std::filesystem;

struct Holdings {
  std::uint64_t heap_bytes = 0;
  std::int64_t descriptors = 0;
  std::int64_t threads = 0;
};

Holdings holdings() {
  const auto entries = [](const char* folder) {
    return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
  };
  const struct mallinfo2 info = ::mallinfo2();
  return {info.uordblks + info.hblkhd, entries("/proc/self/fd"), entries("/proc/self/task")};
}

void one_pipeline(int number) {
  weir::Options options;
  options.workers = 2;
  options.oversubscribe = true;
  options.epochs = 2;
  options.seed = static_cast<std::uint64_t>(number);
  options.autotune = number % 4 == 0;
  options.fuse = number % 2 == 0 ? weir::Fuse::off : weir::Fuse::all;
  auto loader = weir::range(1000)
                    .shuffle()
                    .map("text", [](std::int64_t v) { return std::to_string(v); })
                    .filter("short", [](const std::string& text) { return text.size() < 3; })
                    .batch(16)
                    .start(options);
  const int wanted = number % 3 == 0 ? 0 : number % 3 == 1 ? 2 : 1'000'000;
  int ended = 0;
  for (int i = 0; i < wanted && ended < 2; ++i)
    if (!loader.next()) ++ended;
}

}  // namespace

int main(int count, char** values) {
  const weir::bench::Arguments arguments = weir::bench::read_arguments(count, values);
  // Chunks that the allocator keeps for threads that may come count as used: without them, and with
  // one arena, the heap holds what the program holds. The allocator reads this at the start alone.
  if (std::getenv("GLIBC_TUNABLES") == nullptr) {
    ::setenv("GLIBC_TUNABLES", "glibc.malloc.tcache_count=0:glibc.malloc.arena_max=1", 1);
    ::execv("/proc/self/exe", values);
  }
  const int pipelines = arguments.quick ? 60 : 1000;
  const int warm = pipelines / 3;
  Holdings before;
  for (int i = 0; i < pipelines; ++i) {
    if (i == warm) before = holdings();
    one_pipeline(i);
  }
  const Holdings after = holdings();
  const double made = pipelines - warm;
  const double grown =
      static_cast<double>(after.heap_bytes) - static_cast<double>(before.heap_bytes);
  std::printf("%d pipelines made and destroyed, compared from the %dth on\n", pipelines, warm);
  weir::bench::print_goal("heap growth, bytes a pipeline", grown / made, "at most", 0);
  weir::bench::print_goal("descriptors more",
                          static_cast<double>(after.descriptors - before.descriptors), "at most",
                          0);
  weir::bench::print_goal("threads more", static_cast<double>(after.threads - before.threads),
                          "at most", 0);
  const bool kept =
      grown <= 0 && after.descriptors <= before.descriptors && after.threads <= before.threads;
  return kept || arguments.quick ? 0 : 1;
}
