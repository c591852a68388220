#include "pipeline/sink_edge.hpp"

#include <algorithm>

namespace weir::detail {

bool SinkEdge::take_run(const Packet& packet) {
  std::uint64_t index = packet.out_first;
  std::size_t to = ready_.size();
  ready_.resize(to + packet.out.size());
  for (SlotHeader* slot : packet.out) ready_[to++] = {index++, slot};
  publish_missing();
  wake_consumer();
  return true;
}

void SinkEdge::look() {
  Entry entry;
  while (pull(entry)) {
    // A tombstone says nothing to the consumer, and a paused one must not let them pile up.
    if (entry.slot->state == SlotState::tombstone && !entry.slot->notes)
      discard(entry);
    else
      ready_.push_back(entry);
  }
  publish_missing();
  wake_consumer();
}

void SinkEdge::wake_consumer() {
  if (!consumer_waits_ || ready_count() == 0) return;
  consumer_waits_ = false;
  wake_due_.store(true, std::memory_order_relaxed);
}

void SinkEdge::committed() {
  if (wake_due_.load(std::memory_order_relaxed) &&
      wake_due_.exchange(false, std::memory_order_relaxed))
    arrival_.notify_one();
}

void SinkEdge::publish_missing() {
  missing_.store(ready_count() == 0 ? frontier_ : kNoIndex, std::memory_order_seq_cst);
}

SinkEdge::Take SinkEdge::take(SlotHeader*& slot, Nanoseconds now) {
  if (next_taken_ == taken_.size()) {
    taken_.clear();
    next_taken_ = 0;
    MutexLock lock(mutex_);
    if (closed_) return Take::closed;
    if (ready_count() == 0) return Take::empty;
    advance_meter(now);
    const std::size_t end = next_ready_ + std::min(ready_count(), next_count(now));
    std::int64_t depth_taken = 0;
    std::uint64_t bytes = 0;
    for (; next_ready_ < end; ++next_ready_) {
      const Entry& entry = ready_[next_ready_];
      taken_.push_back(entry);
      if (takes_depth(entry.slot->state)) ++depth_taken;
      if (entry.slot->state == SlotState::live) bytes += payload(entry.slot);
    }
    if (2 * next_ready_ >= ready_.size()) {
      ready_.erase(ready_.begin(), ready_.begin() + static_cast<std::ptrdiff_t>(next_ready_));
      next_ready_ = 0;
    }
    claimed(depth_taken);
    discharge(bytes);
    publish_missing();
    publish();
  }
  slot = take_local();
  return Take::slot;
}

std::size_t SinkEdge::next_count(Nanoseconds now) {
  // A consumer of tiny items takes several at once, as many as it uses up in a moment: its pace is
  // measured from one such call to the next, and a slow one must be seen at every item. A queue of
  // a few batches gives one at a time, so that its depth means what it says.
  const Nanoseconds elapsed = now - last_take_;
  if (elapsed < kMoment)
    count_ = std::min(count_ * 2, kMostTaken);
  else if (elapsed > 4 * kMoment)
    count_ = std::max<std::size_t>(count_ / 4, 1);
  last_take_ = now;
  const auto share = static_cast<std::size_t>(depth() / 4);
  return std::min(count_, std::max<std::size_t>(share, 1));
}

void SinkEdge::give_back() {
  if (!holds_) return;
  holds_ = false;
  type().empty(*held_.slot);
  // The indexes of one take are released together, so that tiny items cost no lock each.
  if (next_taken_ < taken_.size()) return;
  MutexLock lock(mutex_);
  for (std::size_t i = 0; i < taken_.size();) {
    const std::uint64_t begin = taken_[i].index;
    std::uint64_t end = begin;
    while (i < taken_.size() && taken_[i].index == end) ++i, ++end;
    window_.release(begin, end);
  }
}

void SinkEdge::wait() {
  MutexLock lock(mutex_);
  while (ready_count() == 0 && !closed_) {
    consumer_waits_ = true;
    lock.wait(arrival_);
  }
  consumer_waits_ = false;
}

void SinkEdge::close() {
  MutexLock lock(mutex_);
  closed_ = true;
  arrival_.notify_all();
}

}  // namespace weir::detail
