// Two runs of one pipeline: the first finds the split of the workers and writes it to a file, the
// second starts from the file with the controller off. The work is a sleep, as of a slow disk or a
// remote service, so that eight workers are of use on any machine.
#include <chrono>
#include <cstdint>
#include <iostream>
#include <string>
#include <thread>

#include <weir/weir.hpp>

int main() {
  using namespace std::chrono_literals;
  const auto sleeper = [](std::chrono::microseconds time) {
    return [time](std::int64_t n) {
      std::this_thread::sleep_for(time);
      return n;
    };
  };
  auto pipeline =
      weir::range(1'000'000).map("fetch", sleeper(2ms)).map("parse", sleeper(500us)).batch(4);

  weir::Options options;
  options.name = "autotune_and_reuse";
  options.workers = 8;
  options.oversubscribe = true;  // more workers than this machine may have threads: they only sleep
  options.autotune = true;
  options.emit = "autotune_and_reuse.tuned.yaml";
  {
    auto loader = pipeline.start(options);
    const auto end = std::chrono::steady_clock::now() + 8s;
    while (!loader.summary().tuning.settled && std::chrono::steady_clock::now() < end)
      for (int i = 0; i < 50 && loader.next(); ++i) continue;
    loader.close();  // the file is whole from here on
    std::cout << loader.summary();
  }

  options.autotune = false;
  options.tuned = options.emit;
  options.emit.clear();
  auto loader = pipeline.start(options);
  for (int i = 0; i < 200; ++i) (void)loader.next();
  for (const std::string& remark : loader.remarks()) std::cout << remark << '\n';
  const weir::Allocation allocation = loader.allocation();
  std::cout << "fetch: " << allocation.stages[0].target << " of " << allocation.active
            << " workers\n";
  return allocation.stages[0].target > allocation.stages[1].target ? 0 : 1;
}
