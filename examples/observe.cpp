// Looking into a running pipeline, and turning its knobs by hand. Counters only grow: what happened
// between two looks is their difference.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <thread>

#include <weir/weir.hpp>

int main() {
  using namespace std::chrono_literals;
  auto pipeline = weir::range(1'000'000)
                      .map("slow",
                           [](std::int64_t n) {
                             std::this_thread::sleep_for(1ms);
                             return n;
                           })
                      .map("quick",
                           [](std::int64_t n) {
                             std::this_thread::sleep_for(200us);
                             return n;
                           })
                      .batch(8);
  weir::Options options;
  options.workers = 6;
  options.oversubscribe = true;
  auto loader = pipeline.start(options);

  // Any thread may ask; here it is the consumer's, every 30 batches.
  weir::Snapshot before = loader.telemetry();
  const auto show = [&](const char* name) {
    for (int i = 0; i < 30; ++i) (void)loader.next();
    const weir::Snapshot now = loader.telemetry();
    const double seconds = now.time_seconds - before.time_seconds;
    std::cout << name << ": " << now.active << " of " << now.budget << " workers active\n";
    for (std::size_t i = 0; i < now.stages.size(); ++i) {
      const weir::StageSnapshot& stage = now.stages[i];
      const weir::StageSnapshot& past = before.stages[i];
      std::cout << "  " << stage.name << ": "
                << (stage.running_seconds - past.running_seconds) / seconds << " workers running, "
                << static_cast<double>(stage.items_out - past.items_out) / seconds << " items/s, "
                << stage.queue.length_items << " items queued\n";
    }
    before = now;
  };

  show("as it started");
  weir::Allocation allocation = loader.allocation();
  allocation.active = 2;              // the others sleep
  allocation.stages[0].target = 1.5;  // "slow"
  allocation.stages[0].cap = 2;
  loader.set_allocation(allocation);
  show("two workers");
  return loader.telemetry().active == 2 ? 0 : 1;
}
