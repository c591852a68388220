#include "policies/snapshot_delta.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace weir::detail {
namespace {

// More than half way round is no progress but a step back.
constexpr std::uint64_t kHalfWay = std::uint64_t{1} << 63;

bool went_back(std::uint64_t before, std::uint64_t after) { return after - before >= kHalfWay; }

double grown(std::uint64_t before, std::uint64_t after) {
  return went_back(before, after) ? 0.0 : static_cast<double>(after - before);
}

double grown(double before, double after) { return std::max(0.0, after - before); }

bool all_finite(const StageSnapshot& stage) {
  for (const double value :
       {stage.slot_seconds, stage.slot_seconds_squared, stage.running_seconds,
        stage.oldest_running_seconds, stage.cpu_user_seconds, stage.cpu_system_seconds,
        stage.run_queue_seconds, stage.wait_input_seconds, stage.wait_output_seconds,
        stage.queue.item_seconds, stage.queue.empty_seconds, stage.queue.full_seconds})
    if (!std::isfinite(value)) return false;
  return true;
}

bool all_finite(const ConsumerSnapshot& consumer) {
  return std::isfinite(consumer.wait_seconds) && std::isfinite(consumer.first_wait_seconds) &&
         std::isfinite(consumer.service_seconds) && std::isfinite(consumer.service_seconds_squared);
}

}  // namespace

StageDelta delta(const StageSnapshot& before, const StageSnapshot& after) {
  StageDelta result;
  result.items_in = grown(before.items_in, after.items_in);
  result.items_out = grown(before.items_out, after.items_out);
  result.packets = grown(before.packets, after.packets);
  result.slot_seconds = grown(before.slot_seconds, after.slot_seconds);
  result.slot_seconds_squared = grown(before.slot_seconds_squared, after.slot_seconds_squared);
  result.running_seconds = grown(before.running_seconds, after.running_seconds);
  result.cpu_user_seconds = grown(before.cpu_user_seconds, after.cpu_user_seconds);
  result.cpu_system_seconds = grown(before.cpu_system_seconds, after.cpu_system_seconds);
  result.run_queue_seconds = grown(before.run_queue_seconds, after.run_queue_seconds);
  result.voluntary_switches = grown(before.voluntary_switches, after.voluntary_switches);
  result.involuntary_switches = grown(before.involuntary_switches, after.involuntary_switches);
  result.minor_faults = grown(before.minor_faults, after.minor_faults);
  result.wait_input_seconds = grown(before.wait_input_seconds, after.wait_input_seconds);
  result.wait_output_seconds = grown(before.wait_output_seconds, after.wait_output_seconds);
  result.queue_item_seconds = grown(before.queue.item_seconds, after.queue.item_seconds);
  result.queue_empty_seconds = grown(before.queue.empty_seconds, after.queue.empty_seconds);
  result.queue_full_seconds = grown(before.queue.full_seconds, after.queue.full_seconds);
  return result;
}

std::string why_not_comparable(const Snapshot& before, const Snapshot& after) {
  if (before.stages.size() != after.stages.size() || before.loaders.size() != after.loaders.size())
    return "stages came or went";
  if (!std::isfinite(after.unparked_seconds)) return "a counter of the pool is no number";
  for (std::size_t i = 0; i < after.stages.size(); ++i) {
    const StageSnapshot& was = before.stages[i];
    const StageSnapshot& is = after.stages[i];
    if (!all_finite(is)) return "a counter of " + is.name + " is no number";
    if (went_back(was.items_in, is.items_in) || went_back(was.items_out, is.items_out) ||
        went_back(was.packets, is.packets) || is.slot_seconds < was.slot_seconds)
      return "counters of " + is.name + " went backwards";
  }
  for (std::size_t l = 0; l < after.loaders.size(); ++l) {
    const ConsumerSnapshot& is = after.loaders[l].consumer;
    if (!all_finite(is)) return "a counter of a consumer is no number";
    if (went_back(before.loaders[l].consumer.items, is.items))
      return "counters of a consumer went backwards";
  }
  return {};
}

}  // namespace weir::detail
