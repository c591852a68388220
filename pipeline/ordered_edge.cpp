#include "pipeline/ordered_edge.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace weir::detail {

void OrderedEdge::arrived(const Packet& packet) {
  if (any_order_) {
    for (std::size_t i = 0; i < packet.out.size(); ++i) {
      const Entry entry{packet.out_first + i, packet.out[i]};
      const std::uint32_t epoch = entry.slot->info.epoch;
      if (entry.slot->state == SlotState::epoch_end) {
        const auto at =
            std::lower_bound(markers_.begin(), markers_.end(), entry,
                             [](const Entry& a, const Entry& b) { return a.index < b.index; });
        markers_.insert(at, entry);
      } else if (epoch <= epoch_) {
        current_.push_back(entry);
      } else {
        later_.push_back(entry);
      }
    }
  } else if (packet.all_live_out && packet.out_first == next_ &&
             frontier_ == next_ + packet.out.size() && take_run(packet)) {
    next_ = frontier_;
    return;
  }
  look();
}

bool OrderedEdge::pull_any(Entry& entry) {
  if (current_.empty() && !markers_.empty() && markers_.front().index < frontier_) {
    entry = markers_.front();
    markers_.erase(markers_.begin());
    epoch_ = entry.slot->info.epoch + 1;
    const auto split = std::stable_partition(later_.begin(), later_.end(),
                                             [this](const Entry& e) WEIR_NO_THREAD_SAFETY_ANALYSIS {
                                               return e.slot->info.epoch > epoch_;
                                             });
    for (auto at = split; at != later_.end(); ++at) current_.push_back(*at);
    later_.erase(split, later_.end());
    return true;
  }
  if (current_.empty()) return false;
  entry = current_.front();
  current_.pop_front();
  return true;
}

void OrderedEdge::discard(const Entry& entry) {
  if (takes_depth(entry.slot->state)) claimed(1);
  if (entry.slot->state == SlotState::live) discharge(payload(entry.slot));
  type().reset(entry.slot);
  window_.release(entry.index, entry.index + 1);
}

void GatherEdge::take_notes(SlotHeader& slot) {
  if (!slot.notes) return;
  if (!open_.notes) open_.notes = std::make_unique<FailureNotes>();
  bool fatal = false;
  for (FailureNote& note : *slot.notes) {
    fatal = fatal || note.fatal;
    open_.notes->push_back(std::move(note));
  }
  slot.notes.reset();
  if (!fatal) return;
  // The batch may be long in filling, or never fill: the failure must not wait for it.
  Pending failure;
  failure.marker = SlotState::failed;
  failure.info = slot.info;
  failure.notes = std::move(open_.notes);
  closed_.push_back(std::move(failure));
}

void GatherEdge::look() {
  Entry entry;
  while (pull(entry)) {
    SlotHeader& slot = *entry.slot;
    take_notes(slot);
    switch (slot.state) {
      case SlotState::live:
      case SlotState::blank:
        if (slot.state == SlotState::live) ++open_.live;
        open_.rows.push_back(entry);
        open_.info = slot.info;
        if (open_.rows.size() == settings_.rows) close_batch(true);
        break;
      case SlotState::pass_end:
      case SlotState::epoch_end:
        if (slot.state == SlotState::epoch_end || slot.marker_step > settings_.step) {
          close_batch(false);
          open_.marker = slot.state;
          open_.marker_step = slot.marker_step;
          open_.info = slot.info;
          open_.dropped_rows = static_cast<std::uint16_t>(std::min<std::uint64_t>(
              slot.dropped_rows + dropped_rows_, std::numeric_limits<std::uint16_t>::max()));
          if (slot.state == SlotState::epoch_end) ordinal_ = 0;
          closed_.push_back(std::move(open_));
          open_ = Pending{};
          slot.state = SlotState::empty;  // It takes depth until it is claimed.
        }
        dropped_rows_ = 0;
        discard(entry);
        break;
      case SlotState::empty:
      case SlotState::tombstone:
      case SlotState::failed:
        discard(entry);
        break;
    }
  }
  publish_ready();
}

void GatherEdge::close_batch(bool whole) {
  if (open_.rows.empty()) return;
  if (!whole && settings_.drop_remainder) {
    for (const Entry& row : open_.rows) {
      if (row.slot->state == SlotState::live && !row.slot->replaced)
        dropped_rows_ += type().rows_of(row.slot);
      discard(row);
    }
    open_.rows.clear();
    open_.live = 0;
    return;
  }
  open_.ordinal = ordinal_;
  ordinal_ += open_.rows.size();
  closed_.push_back(std::move(open_));
  open_ = Pending{};
  if (!spare_rows_.empty()) {
    open_.rows = std::move(spare_rows_.back());
    spare_rows_.pop_back();
  }
}

void GatherEdge::publish_ready() {
  first_ready_.store(closed_.empty() ? kNoIndex : first_closed_, std::memory_order_seq_cst);
  next_available_.store(first_closed_ + closed_.size(), std::memory_order_seq_cst);
}

bool GatherEdge::claim(Packet& packet, const ClaimLimits& limits) {
  MutexLock lock(mutex_);
  if (closed_.empty()) return false;
  std::uint64_t allowed = limits.limit;
  if (first_closed_ == limits.exempt) allowed = std::max(allowed, first_closed_ + 1);
  if (first_closed_ >= allowed) return false;
  advance_meter(packet.started);
  packet.out_first = first_closed_;
  // No more rows than asked for, so that the bytes granted are enough; the first batch in any case.
  while (!closed_.empty() && first_closed_ < allowed &&
         (packet.groups.empty() ||
          packet.in.size() + closed_.front().rows.size() <= limits.most_live)) {
    Pending pending = std::move(closed_.front());
    closed_.pop_front();
    ++first_closed_;
    GatherGroup& group = packet.groups.emplace_back();
    group.first_row = packet.in.size();
    group.rows = pending.rows.size();
    group.marker = pending.marker;
    group.marker_step = pending.marker_step;
    group.dropped_rows = pending.dropped_rows;
    group.info = pending.info;
    group.ordinal = pending.ordinal;
    group.notes = std::move(pending.notes);
    for (const Entry& row : pending.rows) {
      packet.in.push_back(row.slot);
      if (!packet.taken.empty() && packet.taken.back().end == row.index)
        ++packet.taken.back().end;
      else
        packet.taken.push_back({row.index, row.index + 1});
    }
    packet.live += pending.live;
    const bool marks =
        pending.marker == SlotState::pass_end || pending.marker == SlotState::epoch_end;
    claimed(static_cast<std::int64_t>(pending.rows.size()) + (marks ? 1 : 0));
    pending.rows.clear();
    if (pending.rows.capacity() > 0) spare_rows_.push_back(std::move(pending.rows));
  }
  publish_ready();
  publish();
  return true;
}

}  // namespace weir::detail
