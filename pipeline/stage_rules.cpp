#include "pipeline/stage_rules.hpp"

#include <algorithm>
#include <cmath>

namespace weir::detail {
namespace {

constexpr double kPacketNanoseconds = 100'000;
constexpr std::int64_t kMostPacketItems = 1024;
constexpr std::int64_t kCachedBytes = 1 << 20;
constexpr double kSmoothing = 0.2;

std::int64_t workers_of(const EdgeSide& side, int active) {
  return std::max<std::int64_t>(1, std::min(active, side.cap));
}

std::int64_t share_of(const EdgeSide& side) {
  return static_cast<std::int64_t>(std::min(std::ceil(side.target), 1e6));
}

double smoothed(double old, double value) {
  return old <= 0 ? value : old + kSmoothing * (value - old);
}

}  // namespace

void clamp_allotted(StageAllocation& allotted, const StageLimits& limits, int workers,
                    std::size_t groups) {
  if (limits.fixed_workers > 0) {
    allotted.cap = limits.fixed_workers;
    allotted.target = limits.fixed_workers;
  }
  if (limits.hand_cap > 0) allotted.cap = std::min(allotted.cap, limits.hand_cap);
  if (limits.serial) allotted.cap = 1;
  allotted.cap = std::clamp(allotted.cap, 1, workers);
  if (!(allotted.target >= 0)) allotted.target = 0;
  if (allotted.group >= static_cast<int>(groups)) allotted.group = -1;
}

std::int64_t packet_items_for(double item_ns) {
  if (item_ns <= 0) return 1;
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(kPacketNanoseconds / item_ns), 1,
                                  kMostPacketItems);
}

std::int64_t packet_limit(const StageAllocation& allotted, double item_ns, std::int64_t waiting,
                          int active) {
  const int workers = std::max(1, std::min(active, allotted.cap));
  const bool by_hand = allotted.packet_items > 0 && item_ns > 0;
  const std::int64_t items = by_hand ? allotted.packet_items : packet_items_for(item_ns);
  return std::min(items, std::max<std::int64_t>(1, (waiting + workers - 1) / workers));
}

std::int64_t depth_by_rule(const EdgeSide& producer, const EdgeSide* consumer, int active) {
  std::int64_t depth = 1;
  if (producer.rows > 0) {
    // Batches are large: as many ahead as the stage's share of workers asks for.
    depth =
        std::max<std::int64_t>(4, 2 * std::min(workers_of(producer, active), share_of(producer)));
    // Small ones by the packet, within what a cache holds.
    const auto bytes =
        static_cast<std::int64_t>(std::max<std::uint64_t>(producer.bytes_per_output, 1));
    depth =
        std::max(depth, std::min(2 * producer.packet_items / producer.rows, kCachedBytes / bytes));
  } else {
    // By the smaller packet of the two sides: workers stay where they are until the window is full,
    // and one that a slow stage needs a second to fill would hold back what waits in it for as
    // long.
    std::int64_t taken = producer.packet_items;
    if (consumer != nullptr) taken = std::max(consumer->packet_items, consumer->rows);
    depth = 2 * workers_of(producer, active) * std::min(producer.packet_items, taken);
  }
  if (consumer == nullptr) return depth;
  std::int64_t taken =
      std::min(consumer->packet_items, producer.rows > 0 ? 1 : producer.packet_items);
  std::int64_t takers = workers_of(*consumer, active);
  if (consumer->rows > 0) {
    taken = consumer->rows;
    takers = std::min(takers, share_of(*consumer) + 1);
  }
  std::int64_t wanted = std::max<std::int64_t>(2, takers) * taken;
  // The batch that is filling takes no depth.
  if (consumer->rows > 0) wanted -= consumer->rows - 1;
  return std::max(depth, wanted);
}

bool depth_differs(std::int64_t by_rule, std::int64_t now) {
  if (by_rule < now) return by_rule * 4 <= now;
  return by_rule > now && by_rule * 4 >= now * 5;
}

void StageLearning::add(double elapsed_ns, std::uint64_t live, std::uint64_t live_out,
                        std::uint64_t out_bytes) {
  if (live == 0) return;
  item_ns = smoothed(item_ns, elapsed_ns / static_cast<double>(live));
  if (live_out == 0) return;
  const double bytes = static_cast<double>(out_bytes) / static_cast<double>(live_out);
  const bool first = output_mean <= 0;
  output_mean = smoothed(output_mean, bytes);
  output_square = first ? bytes * bytes : smoothed(output_square, bytes * bytes);
  output_most = std::max(output_most, bytes);
  // Mean and 1.65 standard deviations: the p95 of a normal distribution. Of others it may lie
  // beyond all that was ever seen, and granting that would keep items out for nothing.
  const double deviation = std::sqrt(std::max(0.0, output_square - output_mean * output_mean));
  output_bytes = static_cast<std::uint64_t>(std::min(output_most, output_mean + 1.65 * deviation));
}

}  // namespace weir::detail
