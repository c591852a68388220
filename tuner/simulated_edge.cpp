#include "tuner/simulated_edge.hpp"

#include <algorithm>
#include <bit>

namespace weir::detail {
namespace {

constexpr std::uint64_t kMostAhead = 4096;   // as Edge
constexpr std::uint64_t kMostOpened = 1024;  // as RenumberEdge
constexpr std::size_t kFirstSlots = 16;

}  // namespace

SimulatedEdge::SimulatedEdge(Kind kind, std::int64_t group, std::int64_t parts, ByteLedger& ledger,
                             double now)
    : kind_(kind),
      ledger_(ledger),
      group_(static_cast<std::uint64_t>(std::max<std::int64_t>(group, 1))),
      parts_each_(static_cast<std::uint64_t>(std::max<std::int64_t>(parts, 1))),
      slots_(kFirstSlots),
      containers_(kFirstSlots),
      metered_(now) {
  if (kind_ == Kind::gather) held_ = group_ - 1;
  publish();
}

void SimulatedEdge::open(std::uint64_t end, double now) {
  advance_meter(now);
  started_ = std::max(started_, end);
}

void SimulatedEdge::keep(std::uint64_t begin, std::uint64_t end) {
  if (end - begin <= slots_.size()) return;
  std::vector<Slot> larger(std::bit_ceil(end - begin));
  for (std::uint64_t i = begin; i < begin + slots_.size(); ++i)
    larger[i & (larger.size() - 1)] = slot(i);
  slots_ = std::move(larger);
}

void SimulatedEdge::commit(const SimulatedPacket& packet, double now) {
  advance_meter(now);
  const std::uint64_t begin = packet.first;
  const std::uint64_t end = begin + packet.count;
  const std::uint64_t oldest =
      kind_ != Kind::plain ? next_
                           : std::min(frontier_, ready_.empty() ? frontier_ : ready_.front().begin);
  keep(oldest, end);
  std::int64_t live = 0;
  for (std::uint64_t i = begin; i < end; ++i) {
    const bool has_value = packet.all_live || packet.lives[i - begin] != 0;
    slot(i) = {has_value ? packet.bytes_each : 0, has_value};
    if (has_value) ++live;
  }
  if (begin == frontier_) {
    frontier_ = end;
    if (!beyond_.empty() && beyond_.front().begin == frontier_) {
      frontier_ = beyond_.front().end;
      beyond_.take_front(frontier_ - beyond_.front().begin);
    }
  } else {
    beyond_.insert(begin, end);
  }
  // Parts are counted one by one where they are numbered here; a container that is held counts
  // once.
  waiting_ += kind_ == Kind::split ? live : live * static_cast<std::int64_t>(parts_each_);
  marks_.note(waiting_);
  bytes_ += live * static_cast<std::int64_t>(packet.bytes_each);
  if (kind_ == Kind::plain || kind_ == Kind::serial) {
    ready_.insert(begin, end);
    valueless_ += static_cast<std::int64_t>(packet.count) - live;
  } else {
    pull();
  }
  publish();
}

void SimulatedEdge::pull() {
  if (kind_ == Kind::split) {
    open_containers();
    return;
  }
  for (; next_ < frontier_; ++next_) {
    const Slot& slot = this->slot(next_);
    if (!slot.live) continue;  // A tombstone is dropped here: it took neither depth nor bytes.
    std::uint64_t bytes = slot.bytes;
    for (std::uint64_t left = parts_each_; left > 0; --left) {
      const std::uint64_t part = bytes / left;
      take_row(part);
      bytes -= part;
    }
  }
}

void SimulatedEdge::take_row(std::uint64_t bytes) {
  if (kind_ == Kind::sink) {
    deliverable_.push_back(bytes);
    return;
  }
  ++filling_.rows;
  filling_.bytes += bytes;
  if (filling_.rows >= group_) close_batch();
}

void SimulatedEdge::close_batch() {
  closed_.push_back(filling_);
  filling_ = Batch{};
}

void SimulatedEdge::open_containers() {
  for (; next_ < frontier_ && parts_ < kMostOpened; ++next_) {
    const Slot& slot = this->slot(next_);
    if (!slot.live) continue;
    if (end_container_ - first_container_ == containers_.size()) {
      std::vector<Container> larger(2 * containers_.size());
      for (std::uint64_t i = first_container_; i < end_container_; ++i)
        larger[i & (larger.size() - 1)] = container(i);
      containers_ = std::move(larger);
    }
    container(end_container_++) = {parts_each_, slot.bytes};
    parts_ += parts_each_;
  }
}

void SimulatedEdge::publish() {
  const std::int64_t room = depth_ + static_cast<std::int64_t>(held_) - waiting_;
  limit_ = frontier_ + beyond_.count();
  const std::uint64_t each = kind_ == Kind::split ? 1 : parts_each_;
  if (room > 0) limit_ += (static_cast<std::uint64_t>(room) + each - 1) / each;
  if (in_order()) {
    const std::uint64_t ahead = kMostAhead + 16 * static_cast<std::uint64_t>(depth_) + held_;
    limit_ = std::min(limit_, frontier_ + ahead);
  }
  first_ready_ = kNoIndex;
  switch (kind_) {
    case Kind::plain:
    case Kind::serial:
      if (!ready_.empty() && (kind_ == Kind::plain || ready_.front().begin == next_))
        first_ready_ = ready_.front().begin;
      next_available_ = frontier_;
      break;
    case Kind::gather:
      if (!closed_.empty()) first_ready_ = first_out_;
      next_available_ = first_out_ + closed_.size();
      break;
    case Kind::split:
      if (parts_ > 0) first_ready_ = first_out_;
      next_available_ = first_out_ + parts_;
      break;
    case Kind::sink:
      break;
  }
}

bool SimulatedEdge::claim(SimulatedPacket& packet, const ClaimLimits& limits, double now) {
  if (first_ready_ == kNoIndex) return false;
  std::uint64_t allowed = limits.limit;
  if (first_ready_ == limits.exempt) allowed = std::max(allowed, first_ready_ + 1);
  if (first_ready_ >= allowed) return false;
  advance_meter(now);
  packet.first = first_ready_;
  packet.count = packet.live = packet.in_bytes = 0;
  packet.all_live = true;
  switch (kind_) {
    case Kind::gather:
      claim_batches(packet, allowed, limits.most_live);
      break;
    case Kind::split:
      claim_parts(packet, allowed, limits.most_live);
      break;
    default:
      claim_run(packet, allowed, limits.most_live);
      break;
  }
  publish();
  return true;
}

void SimulatedEdge::claim_run(SimulatedPacket& packet, std::uint64_t allowed, std::size_t most) {
  const std::uint64_t most_end = std::min(ready_.front().end, allowed);
  if (valueless_ > 0) packet.lives.clear();
  std::uint64_t index = packet.first;
  for (; index < most_end; ++index) {
    const Slot& slot = this->slot(index);
    if (slot.live) {
      if (packet.live == most) break;
      ++packet.live;
      packet.in_bytes += slot.bytes;
    } else {
      packet.all_live = false;
    }
    if (valueless_ > 0) packet.lives.push_back(slot.live ? 1 : 0);
  }
  packet.count = index - packet.first;
  valueless_ -= static_cast<std::int64_t>(packet.count - packet.live);
  claimed(static_cast<std::int64_t>(packet.live));
  ready_.take_front(packet.count);
  next_ = index;
}

void SimulatedEdge::claim_batches(SimulatedPacket& packet, std::uint64_t allowed,
                                  std::size_t most) {
  while (!closed_.empty() && first_out_ < allowed &&
         (packet.count == 0 || packet.live + closed_.front().rows <= most)) {
    packet.live += closed_.front().rows;
    packet.in_bytes += closed_.front().bytes;
    closed_.pop_front();
    ++first_out_;
    ++packet.count;
  }
  claimed(static_cast<std::int64_t>(packet.live));
}

void SimulatedEdge::claim_parts(SimulatedPacket& packet, std::uint64_t allowed, std::size_t most) {
  packet.count = std::min<std::uint64_t>({parts_, allowed - first_out_, most});
  packet.live = packet.count;
  parts_ -= packet.count;
  first_out_ += packet.count;
  open_containers();
}

void SimulatedEdge::finish(const SimulatedPacket& packet, double now) {
  if (kind_ != Kind::split) {
    bytes_ -= static_cast<std::int64_t>(packet.in_bytes);
    return;
  }
  advance_meter(now);
  for (std::uint64_t part = packet.first; part < packet.first + packet.count; ++part) {
    Container& from = container(part / parts_each_);
    if (--from.unmoved > 0) continue;
    claimed(1);
    discharge(from.bytes);
  }
  while (first_container_ < end_container_ && container(first_container_).unmoved == 0)
    ++first_container_;
  publish();
}

void SimulatedEdge::take(double now) {
  advance_meter(now);
  discharge(deliverable_.front());
  deliverable_.pop_front();
  claimed(1);
  publish();
}

void SimulatedEdge::claimed(std::int64_t items) {
  waiting_ -= items;
  marks_.note(waiting_);
}

void SimulatedEdge::discharge(std::uint64_t bytes) {
  bytes_ -= static_cast<std::int64_t>(bytes);
  ledger_.release(bytes);
}

void SimulatedEdge::set_depth(std::int64_t items, double now) {
  advance_meter(now);
  depth_ = std::max<std::int64_t>(items, 1);
  marks_.reset(waiting_);
  publish();
}

void SimulatedEdge::set_group(std::int64_t group, double now) {
  if (kind_ != Kind::gather) return;
  advance_meter(now);
  group_ = static_cast<std::uint64_t>(std::max<std::int64_t>(group, 1));
  held_ = group_ - 1;
  if (filling_.rows >= group_) close_batch();
  publish();
}

void SimulatedEdge::advance_meter(double now) const {
  const double passed = now - metered_;
  metered_ = now;
  if (passed <= 0) return;
  item_seconds_ += passed * static_cast<double>(waiting_);
  if (waiting_ == 0) empty_seconds_ += passed;
  if (started_ >= limit_) full_seconds_ += passed;
}

QueueSnapshot SimulatedEdge::snapshot(double now) const {
  advance_meter(now);
  QueueSnapshot snapshot;
  snapshot.capacity_items = depth_;
  snapshot.length_items = waiting_;
  snapshot.low_items = marks_.low;
  snapshot.high_items = marks_.high;
  snapshot.bytes = bytes_;
  snapshot.item_seconds = item_seconds_;
  snapshot.empty_seconds = empty_seconds_;
  snapshot.full_seconds = full_seconds_;
  return snapshot;
}

}  // namespace weir::detail
