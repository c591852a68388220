#include "policies/depth_control.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include <fmt/format.h>

#include "policies/problem.hpp"

namespace weir::detail {
namespace {

constexpr double kGrowth = 2.0;
constexpr double kShrink = 0.75;
constexpr double kMostItems = 1e6;      // of a queue whose items have no known size
constexpr double kHalveSeconds = 1.0;   // between two halvings: what is queued drains first
constexpr double kFanOut = 1.5;         // items given out for one taken in
constexpr double kBusyShare = 0.9;      // of the unparked workers, from which none idles
constexpr double kMostPrefetch = 10.0;  // seconds of a pause that is worth covering

bool is_last(const Observation& seen, std::size_t stage) {
  return stage + 1 >= seen.stages.size() ||
         seen.stages[stage + 1].loader != seen.stages[stage].loader;
}

/// Share of the time in which whoever takes from the queue had too little to take. Where order is
/// kept a queue may hold items and give none, since a slow one is missing in front of them; then it
/// is full, and the workers of the stage behind it idle.
double starved_share(const Observation& seen, std::size_t stage) {
  const StageObservation& up = seen.stages[stage];
  const double consumer_waits = seen.loaders[static_cast<std::size_t>(up.loader)].wait_share;
  if (is_last(seen, stage)) return std::max(up.queue_empty_share, consumer_waits);
  const StageObservation& down = seen.stages[stage + 1];
  double starved = std::max(up.queue_empty_share, down.wait_input_share);
  double running = 0;
  for (const StageObservation& each : seen.stages) running += each.running_mean;
  const double target = seen.current.stages[stage + 1].target;
  if (running < kBusyShare * seen.active && target > 0)
    starved = std::max(starved, std::min(consumer_waits, 1.0 - down.running_mean / target));
  return starved;
}

double squared(double value) { return value * value; }

}  // namespace

double DepthControl::memory_share(const Observation& seen) const {
  if (seen.memory_bound_bytes == 0) return 0.0;
  return static_cast<double>(seen.memory_bytes) / static_cast<double>(seen.memory_bound_bytes);
}

bool DepthControl::free_to_set(const Observation& seen, std::size_t stage) const {
  return seen.stages[stage].hand_depth == 0 && seen.stages[stage].queue_capacity > 0;
}

double DepthControl::room_items(const Observation& seen, std::size_t stage) const {
  const auto bytes = static_cast<double>(seen.stages[stage].bytes_out);
  if (bytes <= 0 || seen.memory_bound_bytes == 0) return kMostItems;
  // What the other queues may still fill up to counts as taken.
  double reserved = 0;
  for (const StageObservation& other : seen.stages)
    reserved += static_cast<double>(other.bytes_out) *
                static_cast<double>(std::max<std::int64_t>(0, other.queue_capacity));
  const double bound = static_cast<double>(seen.memory_bound_bytes);
  const double taken = std::max(static_cast<double>(seen.memory_bytes), reserved);
  return std::max(0.0, (settings_.memory_stop * bound - taken) / bytes);
}

double DepthControl::loss(const Observation& seen, std::size_t stage, double depth) const {
  const StageObservation& up = seen.stages[stage];
  double cv2 = squared(up.estimate.cv);
  // Workers in flight act as slots.
  double slots = depth + up.running_mean;
  if (is_last(seen, stage)) {
    cv2 = 0.5 * (cv2 + squared(seen.loaders[static_cast<std::size_t>(up.loader)].service_cv));
    slots += 1;
  } else {
    const StageObservation& down = seen.stages[stage + 1];
    cv2 = 0.5 * (cv2 + squared(down.estimate.cv));
    slots += down.running_mean;
  }
  return cv2 / (slots + 2.0);
}

void DepthControl::watch(const Observation& seen) {
  edges_.resize(seen.stages.size());
  // Pauses that recur belong to the same stretch of time.
  double memory = settings_.depth_seconds;
  for (const LoaderObservation& loader : seen.loaders)
    memory = std::max(memory, 2 * std::min(loader.burst_gap_seconds, kMostPrefetch));
  const double keep = std::exp(-seen.window_seconds / memory);
  for (std::size_t i = 0; i < edges_.size(); ++i) {
    const StageObservation& stage = seen.stages[i];
    Edge& edge = edges_[i];
    edge.seconds = edge.seconds * keep + seen.window_seconds;
    edge.empty_seconds = edge.empty_seconds * keep + starved_share(seen, i) * seen.window_seconds;
    edge.full_seconds = edge.full_seconds * keep + stage.queue_full_share * seen.window_seconds;
    edge.not_empty_seconds =
        stage.queue_empty_share > 0 ? 0.0 : edge.not_empty_seconds + seen.window_seconds;
  }
}

DepthControl::Advice DepthControl::set(const Observation& seen, std::size_t stage, double depth,
                                       const std::string& why) {
  Advice advice;
  advice.allocation = seen.current;
  const auto items = static_cast<std::int64_t>(std::clamp(depth, 2.0, kMostItems));
  advice.allocation.stages[stage].depth_items = items;
  advice.reason = fmt::format("queue of {} from {} to {} items: {}", seen.stages[stage].name,
                              seen.stages[stage].queue_capacity, items, why);
  edges_[stage] = {};
  return advice;
}

std::optional<DepthControl::Advice> DepthControl::advise(const Observation& seen) {
  if (seen.current.stages.size() != seen.stages.size()) return std::nullopt;
  watch(seen);
  const double share = memory_share(seen);
  if (share >= settings_.memory_stop) stopped_ = true;
  if (share <= settings_.memory_resume) stopped_ = false;
  std::optional<Advice> advice = halve(seen);
  if (!advice && !stopped_) advice = prefetch(seen);
  if (!advice && !stopped_) advice = grow(seen);
  if (!advice && stopped_) advice = shrink(seen);
  return advice;
}

// The order of sacrifice: depth first, then workers of stages that make many of one.
std::optional<DepthControl::Advice> DepthControl::halve(const Observation& seen) {
  if (memory_share(seen) < settings_.memory_halve) return std::nullopt;
  if (halved_seconds_ >= 0 && seen.time_seconds - halved_seconds_ < kHalveSeconds)
    return std::nullopt;
  Advice advice;
  advice.allocation = seen.current;
  bool changed = false;
  for (std::size_t i = 0; i < seen.stages.size(); ++i) {
    const StageObservation& stage = seen.stages[i];
    if (!free_to_set(seen, i) || stage.bytes_out == 0) continue;
    const auto least = static_cast<std::int64_t>(std::ceil(stage.running_mean)) + 2;
    const std::int64_t half = std::max(least, stage.queue_capacity / 2);
    if (half >= stage.queue_capacity) continue;
    advice.allocation.stages[i].depth_items = half;
    changed = true;
  }
  advice.reason =
      fmt::format("{:.0f}% of the byte bound is used: halve the queues", 100 * memory_share(seen));
  for (std::size_t i = 0; !changed && i < seen.stages.size(); ++i) {
    const StageObservation& stage = seen.stages[i];
    StageAllocation& own = advice.allocation.stages[i];
    const int most = std::min(own.cap, seen.active);
    if (stage.items_out_per_second <= kFanOut * stage.items_per_second || most <= 1 ||
        stage.fixed_workers > 0 || seen.current.strict)
      continue;
    own.cap = std::max(1, most / 2);
    own.target = std::min<double>(own.target, own.cap);
    advice.reason = fmt::format(
        "{:.0f}% of the byte bound is used: {} makes many of one, at most "
        "{} workers for it",
        100 * memory_share(seen), stage.name, own.cap);
    changed = true;
  }
  if (!changed) return std::nullopt;
  halved_seconds_ = seen.time_seconds;
  edges_.clear();
  return advice;
}

std::optional<DepthControl::Advice> DepthControl::prefetch(const Observation& seen) {
  for (std::size_t i = 0; i < seen.stages.size(); ++i) {
    if (!is_last(seen, i) || !free_to_set(seen, i)) continue;
    const LoaderObservation& loader = seen.loaders[static_cast<std::size_t>(seen.stages[i].loader)];
    if (loader.burst_gap_seconds <= 0 || loader.burst_gap_seconds > kMostPrefetch) continue;
    const double rate = std::min(seen.bounds.shared_per_second, consumer_rate(loader));
    if (!std::isfinite(rate) || rate <= 0) continue;
    const auto now = static_cast<double>(seen.stages[i].queue_capacity);
    const double wanted = std::min(std::ceil(rate * loader.burst_gap_seconds) + seen.active,
                                   now + room_items(seen, i));
    if (wanted > 1.25 * now)
      return set(seen, i, wanted,
                 fmt::format("the consumer pauses for up to {:.2g} s again and again",
                             loader.burst_gap_seconds));
  }
  return std::nullopt;
}

std::optional<DepthControl::Advice> DepthControl::grow(const Observation& seen) {
  std::size_t best = edges_.size();
  double most_saved = 0;
  for (std::size_t i = 0; i < edges_.size(); ++i) {
    const Edge& edge = edges_[i];
    if (!free_to_set(seen, i) || edge.seconds < 0.6 * settings_.depth_seconds) continue;
    if (edge.empty_seconds < settings_.depth_evidence * edge.seconds ||
        edge.full_seconds < settings_.depth_evidence * edge.seconds)
      continue;
    const auto depth = static_cast<double>(seen.stages[i].queue_capacity);
    const double now = loss(seen, i, depth);
    if (now < settings_.depth_loss || room_items(seen, i) < (kGrowth - 1.0) * depth) continue;
    const double bytes = (kGrowth - 1.0) * depth *
                         std::max<double>(1.0, static_cast<double>(seen.stages[i].bytes_out));
    const double evidence = std::min(edge.empty_seconds, edge.full_seconds) / edge.seconds;
    const double saved = evidence * (now - loss(seen, i, kGrowth * depth)) / bytes;
    if (saved > most_saved) {
      most_saved = saved;
      best = i;
    }
  }
  if (best == edges_.size()) return std::nullopt;
  const Edge edge = edges_[best];
  return set(
      seen, best, kGrowth * static_cast<double>(seen.stages[best].queue_capacity),
      fmt::format("it was empty for {:.0f}% and full for {:.0f}% of the time",
                  100 * edge.empty_seconds / edge.seconds, 100 * edge.full_seconds / edge.seconds));
}

std::optional<DepthControl::Advice> DepthControl::shrink(const Observation& seen) {
  for (std::size_t i = 0; i < edges_.size(); ++i) {
    if (!free_to_set(seen, i) || seen.current.stages[i].depth_items <= 0) continue;
    if (edges_[i].not_empty_seconds < settings_.shrink_memory_seconds) continue;
    const double wanted = std::floor(kShrink * static_cast<double>(seen.stages[i].queue_capacity));
    if (wanted < seen.stages[i].running_mean + 2) continue;
    return set(seen, i, wanted, "it has not been empty for a while and memory is short");
  }
  return std::nullopt;
}

}  // namespace weir::detail
