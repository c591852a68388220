#include "pipeline/edge.hpp"

#include <algorithm>

namespace weir::detail {

Edge::Edge(const SlotType& type, ByteLedger& ledger, const Shape& shape)
    : window_(type),
      type_(&type),
      ledger_(ledger),
      held_(std::min(shape.held, kMostHeld)),
      kept_in_order_(shape.in_order),
      depth_(shape.depth),
      limit_(static_cast<std::uint64_t>(depth_ + held_)),
      depth_published_(shape.depth) {
  frontier_published_.store(0, std::memory_order_relaxed);
}

Edge::~Edge() {
  MutexLock lock(mutex_);
  ledger_.release(static_cast<std::uint64_t>(bytes_));
}

void Edge::open(Packet& packet, std::size_t count) {
  packet.out.clear();
  const std::uint64_t end = packet.out_first + count;
  MutexLock lock(mutex_);
  window_.extend(end);
  if (started_ < end) started_ = end;
  window_.append_to(packet.out, packet.out_first, end);
}

void Edge::commit(const Packet& packet, Nanoseconds now) {
  const std::uint64_t begin = packet.out_first;
  const std::uint64_t end = begin + packet.out.size();
  {
    MutexLock lock(mutex_);
    advance_meter(now);
    if (begin == frontier_) {
      frontier_ = end;
      if (!beyond_.empty() && beyond_.front().begin == frontier_) {
        frontier_ = beyond_.front().end;
        beyond_.take_front(frontier_ - beyond_.front().begin);
      }
    } else {
      beyond_.insert(begin, end);
    }
    waiting_count_ += static_cast<std::int64_t>(packet.depth_out);
    marks_.note(waiting_count_);
    bytes_ += static_cast<std::int64_t>(packet.out_bytes);
    arrived(packet);
    publish();
  }
  committed();
}

void Edge::finish(Packet& packet) {
  MutexLock lock(mutex_);
  for (const RangeSet::Range& range : packet.taken) window_.release(range.begin, range.end);
  bytes_ -= static_cast<std::int64_t>(packet.in_bytes);
}

void Edge::publish() {
  const std::int64_t room = depth_ + held_ - waiting_count_;
  std::uint64_t limit = frontier_ + beyond_.count();
  if (room > 0) limit += static_cast<std::uint64_t>(room);
  if (kept_in_order_) limit = std::min(limit, frontier_ + static_cast<std::uint64_t>(most_ahead()));
  limit_.store(limit, std::memory_order_seq_cst);
  frontier_published_.store(frontier_, std::memory_order_seq_cst);
  waiting_.store(waiting_count_, std::memory_order_relaxed);
}

void Edge::set_depth(std::int64_t items, Nanoseconds now) {
  MutexLock lock(mutex_);
  advance_meter(now);
  depth_ = std::max<std::int64_t>(items, 1);
  depth_published_.store(depth_, std::memory_order_relaxed);
  marks_.reset(waiting_count_);
  publish();
}

void Edge::advance_meter(Nanoseconds now) const {
  if (metered_ != 0 && now > metered_) {
    const auto elapsed = static_cast<double>(now - metered_);
    item_ns_ += elapsed * static_cast<double>(waiting_count_);
    if (waiting_count_ == 0) empty_ns_ += elapsed;
    if (started_ >= limit_.load(std::memory_order_relaxed)) full_ns_ += elapsed;
  }
  metered_ = std::max(metered_, now);
}

QueueSnapshot Edge::snapshot(Nanoseconds now) const {
  MutexLock lock(mutex_);
  advance_meter(now);
  QueueSnapshot snapshot;
  snapshot.capacity_items = depth_;
  snapshot.length_items = waiting_count_;
  snapshot.low_items = marks_.low;
  snapshot.high_items = marks_.high;
  snapshot.bytes = bytes_;
  snapshot.item_seconds = item_ns_ * 1e-9;
  snapshot.empty_seconds = empty_ns_ * 1e-9;
  snapshot.full_seconds = full_ns_ * 1e-9;
  return snapshot;
}

bool PlainEdge::claim(Packet& packet, const ClaimLimits& limits) {
  MutexLock lock(mutex_);
  if (ready_.empty()) return false;
  advance_meter(packet.started);
  const RangeSet::Range first = ready_.front();
  if (in_order_ && first.begin != next_in_order_) return false;
  std::uint64_t allowed = limits.limit;
  if (first.begin == limits.exempt) allowed = std::max(allowed, first.begin + 1);
  if (first.begin >= allowed) return false;
  const std::uint64_t most_end = std::min(first.end, allowed);

  std::uint64_t end = first.begin;
  std::size_t live = 0;
  std::int64_t depth = 0;
  if (valueless_ == 0) {
    end = std::min(most_end, first.begin + limits.most_live);
    live = static_cast<std::size_t>(end - first.begin);
    depth = static_cast<std::int64_t>(live);
    window_.append_to(packet.in, first.begin, end);
  } else {
    for (; end < most_end; ++end) {
      SlotHeader* slot = window_.at(end);
      if (slot->state == SlotState::live) {
        if (live == limits.most_live) break;
        ++live;
      } else {
        --valueless_;
      }
      if (takes_depth(slot->state)) ++depth;
      packet.in.push_back(slot);
    }
  }
  ready_.take_front(end - first.begin);
  next_in_order_ = end;
  packet.taken.push_back({first.begin, end});
  packet.out_first = first.begin;
  packet.live = live;
  claimed(depth);
  publish_ready();
  publish();
  return true;
}

void PlainEdge::arrived(const Packet& packet) {
  ready_.insert(packet.out_first, packet.out_first + packet.out.size());
  valueless_ += static_cast<std::int64_t>(packet.out.size() - packet.live_out);
  publish_ready();
}

void PlainEdge::publish_ready() {
  std::uint64_t first = kNoIndex;
  if (!ready_.empty() && (!in_order_ || ready_.front().begin == next_in_order_))
    first = ready_.front().begin;
  first_ready_.store(first, std::memory_order_seq_cst);
  next_available_.store(frontier_, std::memory_order_seq_cst);
}

}  // namespace weir::detail
