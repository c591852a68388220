#include "pipeline/renumber_edge.hpp"

#include <algorithm>
#include <utility>

#include <weir/random.hpp>

namespace weir::detail {

RenumberEdge::RenumberEdge(const SlotType& type, std::int64_t depth, ByteLedger& ledger,
                           Settings settings)
    : OrderedEdge(type, ledger, depth, held_by(settings), settings.order),
      settings_(std::move(settings)),
      counters_(settings_.steps.size()) {}

RenumberEdge::~RenumberEdge() = default;

std::int64_t RenumberEdge::held_by(const Settings& settings) {
  std::uint64_t held = 0;
  for (const std::shared_ptr<const Step>& step : settings.steps)
    if (step->kind == Step::Kind::shuffle_buffer)
      held += std::min<std::uint64_t>(step->count, 1ULL << 40U);
  return static_cast<std::int64_t>(held);
}

void RenumberEdge::look() {
  Item item;
  while (available_.size() < kMostAvailable && pull_item(settings_.steps.size(), item))
    available_.push_back(item);
  publish_ready();
}

void RenumberEdge::publish_ready() {
  first_ready_.store(available_.empty() ? kNoIndex : first_available_, std::memory_order_seq_cst);
  next_available_.store(first_available_ + available_.size(), std::memory_order_seq_cst);
}

bool RenumberEdge::pull_item(std::size_t steps, Item& item) {
  if (steps == 0) return pull_part(item);
  const std::size_t step = steps - 1;
  if (settings_.steps[step]->kind == Step::Kind::shuffle_buffer) return pull_shuffled(step, item);
  return pull_counted(step, item);
}

bool RenumberEdge::pull_part(Item& item) {
  while (true) {
    if (opened_ != nullptr) {
      item = Item{opened_->entry, opened_, next_part_, SlotState::live};
      ++next_part_;
      if (next_part_ == opened_count_) opened_ = nullptr;
      return true;
    }
    Entry entry;
    if (!pull(entry)) return false;
    SlotHeader& slot = *entry.slot;
    if (slot.state == SlotState::tombstone && !slot.notes) {
      discard(entry);
      continue;
    }
    if (settings_.split == nullptr || slot.state != SlotState::live) {
      item = Item{entry, nullptr, 0, slot.state};
      return true;
    }
    const std::size_t count = settings_.split->count(&slot);
    std::uint32_t first = 0;
    if (slot.info.source_index == settings_.resume_source_index &&
        slot.info.epoch == settings_.resume_epoch)
      first = settings_.resume_split;
    if (first >= count) {
      item = Item{entry, nullptr, 0, slot.state};
      // Of a container that was begun before the position, the notes were judged there.
      if (first == 0 && keep_for_notes(item)) return true;
      discard(entry);
      continue;
    }
    if (spare_containers_.empty()) {
      containers_.push_back(std::make_unique<Container>());
      spare_containers_.push_back(containers_.back().get());
    }
    opened_ = spare_containers_.back();
    spare_containers_.pop_back();
    *opened_ = Container{entry, count - first, payload(&slot)};
    opened_count_ = static_cast<std::uint32_t>(count);
    next_part_ = first;
  }
}

bool RenumberEdge::pull_shuffled(std::size_t step, Item& item) {
  Counter& counter = counters_[step];
  const std::uint64_t size = settings_.steps[step]->count;
  while (!counter.flushing && counter.buffer.size() < size) {
    Item next;
    if (!pull_item(step, next)) return false;
    if (next.counts()) {
      counter.buffer.push_back(next);
    } else if (next.ends_pass(settings_.step_numbers[step])) {
      counter.flushing = true;
      counter.marker = next;
    } else {
      item = next;
      return true;
    }
  }
  if (counter.buffer.empty()) {
    item = counter.marker;
    counter = Counter{};
    return true;
  }
  const SampleInfo& info = counter.buffer.front().entry.slot->info;
  const std::uint64_t key = mix_bits(mix_bits(settings_.seed ^ settings_.step_numbers[step]) ^
                                     (std::uint64_t{info.epoch} << 32U) ^ info.repeat);
  const std::uint64_t draw = Random(key, counter.drawn).below(counter.buffer.size());
  ++counter.drawn;
  item = counter.buffer[draw];
  counter.buffer[draw] = counter.buffer.back();
  counter.buffer.pop_back();
  return true;
}

bool RenumberEdge::pull_counted(std::size_t step, Item& item) {
  Counter& counter = counters_[step];
  const Step& written = *settings_.steps[step];
  while (true) {
    if (!counter.held.empty() && counter.flushing) {
      item = counter.held.front();
      counter.held.pop_front();
      if (counter.held.empty()) counter.flushing = false;
      return true;
    }
    if (!pull_item(step, item)) return false;
    if (item.ends_pass(settings_.step_numbers[step])) {
      for (Item& held : counter.held) drop(held);
      counter = Counter{};
      return true;
    }
    if (written.kind == Step::Kind::take && counter.seen >= written.count) {
      // How far the source ran ahead depends on the workers, so not even a failure may be heard of.
      if (settings_.pass_is_over) settings_.pass_is_over(item.entry.slot->info);
      drop(item);
      continue;
    }
    if (!item.counts()) return true;
    const std::uint64_t place = counter.seen++;
    if (written.kind == Step::Kind::take) {
      if (counter.seen == written.count && settings_.pass_is_over)
        settings_.pass_is_over(item.entry.slot->info);
      return true;
    }
    if (written.kind == Step::Kind::skip) {
      if (place >= written.count) return true;
    } else {
      const auto world = static_cast<std::uint64_t>(written.shard.world);
      const bool mine = place % world == static_cast<std::uint64_t>(written.shard.rank);
      if (mine && written.shard.remainder == ShardPlace::Remainder::uneven) return true;
      if (mine) counter.held.push_back(item);
      if (place % world == world - 1) counter.flushing = true;  // The group is whole: ranks agree.
      if (mine) continue;
    }
    if (keep_for_notes(item)) return true;
    drop(item);
  }
}

bool RenumberEdge::keep_for_notes(Item& item) {
  if (item.container != nullptr) return false;
  SlotHeader& slot = *item.entry.slot;
  if (!slot.notes) return false;
  std::unique_ptr<FailureNotes> notes = std::move(slot.notes);
  if (takes_depth(slot.state)) claimed(1);
  if (slot.state == SlotState::live) discharge(payload(&slot));
  type().reset(&slot);
  for (FailureNote& note : *notes) note.replaced = false;  // No row stands for it any more.
  slot.notes = std::move(notes);
  slot.state = item.state = SlotState::tombstone;
  return true;
}

void RenumberEdge::drop(Item& item) {
  if (item.container != nullptr)
    part_moved(item.container);
  else
    discard(item.entry);
}

void RenumberEdge::part_moved(Container* container) {
  if (--container->unmoved > 0) return;
  // Its items are moved from, so that their bytes can only be known from before.
  claimed(1);
  discharge(container->bytes);
  type().reset(container->entry.slot);
  window_.release(container->entry.index, container->entry.index + 1);
  spare_containers_.push_back(container);
}

bool RenumberEdge::claim(Packet& packet, const ClaimLimits& limits) {
  MutexLock lock(mutex_);
  if (available_.empty()) return false;
  std::uint64_t allowed = limits.limit;
  if (first_available_ == limits.exempt) allowed = std::max(allowed, first_available_ + 1);
  if (first_available_ >= allowed) return false;
  advance_meter(packet.started);
  packet.out_first = first_available_;
  while (!available_.empty() && first_available_ < allowed && packet.live < limits.most_live) {
    const Item& item = available_.front();
    packet.in.push_back(item.entry.slot);
    packet.parts.push_back({item.container, item.place});
    if (item.container == nullptr) {
      packet.taken.push_back({item.entry.index, item.entry.index + 1});
      if (takes_depth(item.state)) claimed(1);
    }
    if (item.state == SlotState::live) ++packet.live;
    available_.pop_front();
    ++first_available_;
  }
  look();
  publish();
  return true;
}

void RenumberEdge::materialise(Packet& packet) {
  if (settings_.split == nullptr) return;
  SlotArray& array = packet.scratch(*settings_.split->item);
  array.reserve(packet.in.size());
  for (std::size_t i = 0; i < packet.in.size(); ++i) {
    SlotHeader* from = packet.in[i];
    SlotHeader* to = array[i];
    const Packet::Part part = packet.parts[i];
    if (part.container == nullptr) {
      to->take_header(*from);
      from->state = SlotState::empty;
      from->replaced = false;
    } else {
      settings_.split->take(from, part.place, to);
      to->info = from->info;
      to->info.split = part.place;
      to->replaced = from->replaced;
      // One worker has part 0, so only it touches the container's notes.
      if (part.place == 0) to->notes = std::move(from->notes);
    }
    packet.in[i] = to;
  }
}

void RenumberEdge::finish(Packet& packet) {
  {
    MutexLock lock(mutex_);
    for (const Packet::Part& part : packet.parts)
      if (part.container != nullptr) part_moved(static_cast<Container*>(part.container));
    publish();
  }
  Edge::finish(packet);
}

}  // namespace weir::detail
