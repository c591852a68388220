#include "pipeline/sink_edge.hpp"

#include <algorithm>

namespace weir::detail {

void SinkEdge::look() {
  Entry entry;
  while (pull(entry)) ready_.push_back(entry);
  publish_missing();
  if (consumer_waits_ && !ready_.empty()) {
    consumer_waits_ = false;
    arrival_.notify_one();
  }
}

void SinkEdge::publish_missing() {
  missing_.store(ready_.empty() ? frontier_ : kNoIndex, std::memory_order_seq_cst);
}

SinkEdge::Take SinkEdge::take(SlotHeader*& slot, Nanoseconds now) {
  if (next_taken_ == taken_.size()) {
    taken_.clear();
    next_taken_ = 0;
    MutexLock lock(mutex_);
    if (closed_) return Take::closed;
    if (ready_.empty()) return Take::empty;
    advance_meter(now);
    // A consumer of tiny items takes several at once; a queue of a few batches gives one at a time,
    // so that its depth means what it says.
    const auto share = static_cast<std::size_t>(depth() / 4);
    const std::size_t count = std::min({ready_.size(), kMostTaken, std::max<std::size_t>(share, 1)});
    std::int64_t live = 0;
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < count; ++i) {
      taken_.push_back(ready_[i]);
      if (ready_[i].slot->state != SlotState::live) continue;
      ++live;
      bytes += payload(ready_[i].slot);
    }
    ready_.erase(ready_.begin(), ready_.begin() + static_cast<std::ptrdiff_t>(count));
    claimed(live);
    discharge(bytes);
    publish_missing();
    publish();
  }
  slot = take_local();
  return Take::slot;
}

void SinkEdge::give_back() {
  if (!holds_) return;
  holds_ = false;
  type().reset(held_.slot);
  // The indexes of one take are released together, so that tiny items cost no lock each.
  if (next_taken_ < taken_.size()) return;
  MutexLock lock(mutex_);
  for (const Entry& entry : taken_) window_.release(entry.index, entry.index + 1);
}

void SinkEdge::wait() {
  MutexLock lock(mutex_);
  while (ready_.empty() && !closed_) {
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
