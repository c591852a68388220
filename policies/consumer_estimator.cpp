#include "policies/consumer_estimator.hpp"

#include <algorithm>
#include <limits>

namespace weir::detail {
namespace {

constexpr double kPausedSteps = 10.0;
constexpr double kLeastTypicalItems = 3.0;
constexpr double kNoServiceSeconds = 1e-6;
constexpr double kGapMemorySeconds = 20.0;

// The service of an item ends with the call that follows it.
double services_ended(const ConsumerSnapshot& consumer) {
  const auto items = static_cast<double>(consumer.items);
  return consumer.waiting || items == 0 ? items : items - 1;
}

}  // namespace

LoaderObservation ConsumerEstimator::add(const ConsumerSnapshot& before,
                                         const ConsumerSnapshot& after, double window_seconds,
                                         double now_seconds) {
  LoaderObservation seen;
  seen.items = after.items - before.items;
  seen.asked = seen.items > 0 || after.waiting || before.waiting;
  seen.items_per_second = static_cast<double>(seen.items) / window_seconds;
  const double wait = (after.wait_seconds - after.first_wait_seconds) -
                      (before.wait_seconds - before.first_wait_seconds);
  seen.wait_share = std::clamp(wait / window_seconds, 0.0, 1.0);

  const double typical = step_.items() >= kLeastTypicalItems ? step_.mean() : 0.0;
  const double ended = services_ended(after) - services_ended(before);
  const double service = after.service_seconds - before.service_seconds;
  // The service that spans a pause (an evaluation, a checkpoint) says nothing about steps.
  const bool spans_pause = typical > 0 && ended > 0 && service / ended > kPausedSteps * typical;
  if (spans_pause) gaps_.push_back({now_seconds, service});
  // Ten seconds of one pause are an evaluation; a pause that recurs soon is the consumer's rhythm.
  while (!gaps_.empty() && now_seconds - gaps_.front().time_seconds > kGapMemorySeconds)
    gaps_.pop_front();
  if (gaps_.size() >= 2)
    for (const Gap& gap : gaps_)
      seen.burst_gap_seconds = std::max(seen.burst_gap_seconds, gap.seconds);
  if (ended > 0 && !spans_pause) {
    const double squares = after.service_seconds_squared - before.service_seconds_squared;
    service_.add(ended, service, squares, ended, settings_.alpha_fast);
    step_.add(ended, service + std::max(wait, 0.0), 0.0, ended, settings_.alpha_fast);
    services_ += static_cast<std::uint64_t>(ended);
  }
  if (seen.items > 0 || last_item_seconds_ == 0) last_item_seconds_ = now_seconds;
  seen.paused = !after.waiting && typical > 0 && seen.items == 0 &&
                now_seconds - last_item_seconds_ > kPausedSteps * typical;
  if (!seen.paused && !spans_pause)
    delivered_.add(window_seconds, static_cast<double>(seen.items), 0.0, 1.0, settings_.alpha_slow);

  seen.service_seconds = service_.mean();
  seen.service_cv = service_.cv();
  seen.services = services_;
  seen.throughput = delivered_.mean();
  if (seen.services > 0)
    seen.present_per_second = seen.service_seconds > kNoServiceSeconds
                                  ? 1.0 / seen.service_seconds
                                  : std::numeric_limits<double>::infinity();
  if (seen.services > 0 && ended > 0 && !spans_pause) {
    const double potential = seen.present_per_second;
    while (!peaks_.empty() && peaks_.back().per_second <= potential) peaks_.pop_back();
    peaks_.push_back({now_seconds, potential});
  }
  while (peaks_.size() > 1 &&
         peaks_.front().time_seconds < now_seconds - settings_.shrink_memory_seconds)
    peaks_.pop_front();
  seen.peak_per_second = peaks_.empty() ? 0.0 : peaks_.front().per_second;

  const bool held = seen.wait_share <= settings_.consumer_hold && services_ > 0 && !seen.paused;
  held_seconds_ = held ? held_seconds_ + window_seconds : 0.0;
  seen.held_seconds = held_seconds_;
  return seen;
}

}  // namespace weir::detail
