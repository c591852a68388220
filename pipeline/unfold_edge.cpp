#include "pipeline/unfold_edge.hpp"

#include <algorithm>
#include <utility>

#include <weir/operator.hpp>

namespace weir::detail {

UnfoldEdge::UnfoldEdge(const SlotType& type, std::int64_t depth, ByteLedger& ledger,
                       Settings settings)
    : OrderedEdge(type, ledger, depth, 0, settings.order), settings_(std::move(settings)) {}

void UnfoldEdge::look() {
  Entry entry;
  while (pull(entry)) {
    if (entry.slot->state == SlotState::tombstone && !entry.slot->notes)
      discard(entry);
    else
      heads_.push_back(entry);
  }
  publish_ready();
}

void UnfoldEdge::publish_ready() {
  const bool something = !heads_.empty();
  first_ready_.store(something && !busy_ ? next_out_ : kNoIndex, std::memory_order_seq_cst);
  next_available_.store(something || busy_ ? next_out_ + 1 : next_out_, std::memory_order_seq_cst);
}

std::int64_t UnfoldEdge::waiting() const { return first_ready() == kNoIndex ? 0 : kMostAtOnce; }

bool UnfoldEdge::claim(Packet& packet, const ClaimLimits& limits) {
  MutexLock lock(mutex_);
  if (busy_ || heads_.empty()) return false;
  std::uint64_t allowed = limits.limit;
  if (next_out_ == limits.exempt) allowed = std::max(allowed, next_out_ + 1);
  if (next_out_ >= allowed) return false;
  advance_meter(packet.started);
  packet.out_first = next_out_;
  packet.cursor = std::min<std::uint64_t>(allowed - next_out_, limits.most_live);
  busy_ = true;
  publish_ready();
  return true;
}

std::uint64_t UnfoldEdge::pass_of(const SampleInfo& info) const {
  return (std::uint64_t{info.epoch} << 32U) | (settings_.several_passes ? info.repeat : 0U);
}

void UnfoldEdge::end_pass(const SampleInfo& info) {
  over_.store(pass_of(info) + 1, std::memory_order_relaxed);
}

bool UnfoldEdge::is_over(const SampleInfo& info) const {
  return over_.load(std::memory_order_relaxed) == pass_of(info) + 1;
}

bool UnfoldEdge::front(Entry& head) {
  MutexLock lock(mutex_);
  if (heads_.empty()) return false;
  head = heads_.front();
  return true;
}

void UnfoldEdge::pop(const Entry& head) {
  place_ = 0;
  ended_ = false;
  MutexLock lock(mutex_);
  heads_.pop_front();
  discard(head);
  publish();
}

void UnfoldEdge::materialise(Packet& packet) {
  SlotArray& array = packet.scratch(*settings_.split->item);
  array.reserve(packet.cursor);
  Entry head;
  while (packet.in.size() < packet.cursor && front(head)) {
    SlotHeader* to = array[packet.in.size()];
    if (head.slot->state != SlotState::live) {
      to->take_header(*head.slot);
      packet.in.push_back(to);
      pop(head);
    } else if (!is_over(head.slot->info) && fill(*head.slot, to)) {
      packet.in.push_back(to);
    } else {
      pop(head);
    }
  }
  packet.live = static_cast<std::size_t>(
      std::count_if(packet.in.begin(), packet.in.end(),
                    [](const SlotHeader* slot) { return slot->state == SlotState::live; }));
  MutexLock lock(mutex_);
  next_out_ += packet.in.size();
  busy_ = false;
  publish_ready();
  publish();
}

bool UnfoldEdge::next_item(SlotHeader& container, SlotHeader* to, bool& failed) const {
  try {
    return settings_.split->pull(&container, to);
  } catch (...) {
    OperatorRun run;
    run.stage = &settings_.stage;
    run.policy = settings_.policy;
    run.stage_has_policy = settings_.has_policy;
    (void)record_failure(container, to, run);
    failed = true;
    return true;
  }
}

bool UnfoldEdge::fill(SlotHeader& container, SlotHeader* to) {
  const bool resumed = container.info.source_index == settings_.resume_source_index &&
                       container.info.epoch == settings_.resume_epoch;
  while (resumed && place_ < settings_.resume_split && !ended_) {
    if (!next_item(container, to, ended_)) return false;
    settings_.split->item->reset(to);  // Delivered before the position was saved.
    ++place_;
  }
  if (ended_) return false;
  to->info = container.info;
  to->info.split = place_;
  to->replaced = container.replaced;
  if (!next_item(container, to, ended_)) {
    // A generator that gave nothing still hands on what was noted of its item.
    if (place_ > 0 || !container.notes) return false;
    to->state = SlotState::tombstone;
    ended_ = true;
  }
  if (place_ == 0 && container.notes) {
    if (to->notes)
      container.notes->insert(container.notes->end(), std::make_move_iterator(to->notes->begin()),
                              std::make_move_iterator(to->notes->end()));
    to->notes = std::move(container.notes);
  }
  ++place_;
  return true;
}

}  // namespace weir::detail
