#include "pipeline/source_inlet.hpp"

#include <algorithm>
#include <bit>
#include <exception>
#include <utility>

#include <weir/error.hpp>
#include <weir/operator.hpp>

namespace weir::detail {
namespace {

constexpr std::uint64_t kHintsAtOnce = 8;  ///< a window is filled up in so many parts

std::size_t ring_size(const SourceInlet::Settings& settings) {
  if (!settings.ahead || !settings.map || settings.map->sequential()) return 0;
  return std::bit_ceil(std::size_t{settings.ahead->most()} * 4);
}

std::uint64_t hint_entry(std::uint64_t index, int ticket) {
  return (index << 32U) | (static_cast<std::uint32_t>(ticket) + 1U);
}

/// LookAhead::kNoTicket for an entry without one.
int ticket_of(std::uint64_t entry) {
  return static_cast<int>(static_cast<std::uint32_t>(entry) - 1U);
}

}  // namespace

SourceInlet::SourceInlet(Settings settings)
    : settings_(std::move(settings)),
      pass_size_(settings_.map ? settings_.map->size() : kNoIndex),
      epoch_(settings_.first_epoch),
      hints_(ring_size(settings_)) {
  MutexLock lock(mutex_);
  if (settings_.map) {
    std::uint64_t place = settings_.first_place;
    while (pass_size_ > 0 && place >= pass_size_ && pass_ + 1 < settings_.outer.times) {
      place -= pass_size_;
      ++pass_;
    }
    place_ = std::min(place, pass_size_);
    if (settings_.map->sequential()) {
      walk_ = settings_.map->walk(epoch_, pass_);
      for (std::uint64_t i = 0; i < place_; ++i) (void)walk_->next();
    }
  }
  publish();
}

SourceInlet::~SourceInlet() {
  for (std::atomic<std::uint64_t>& hint : hints_) {
    const std::uint64_t entry = hint.exchange(0, std::memory_order_relaxed);
    if (ticket_of(entry) != LookAhead::kNoTicket) settings_.ahead->forget(ticket_of(entry));
  }
}

void SourceInlet::publish() {
  const bool over = halted_ || (settings_.end_epoch && epoch_ >= *settings_.end_epoch);
  first_ready_.store(over ? kNoIndex : next_, std::memory_order_seq_cst);
  next_available_.store(next_, std::memory_order_seq_cst);
  const std::uint64_t left =
      pass_size_ == kNoIndex ? 1024 : pass_size_ - std::min(place_, pass_size_);
  waiting_.store(over ? 0 : static_cast<std::int64_t>(std::min<std::uint64_t>(left, 1U << 20U)),
                 std::memory_order_relaxed);
}

bool SourceInlet::claim(Packet& packet, const ClaimLimits& limits) {
  MutexLock lock(mutex_);
  if (halted_ || (settings_.end_epoch && epoch_ >= *settings_.end_epoch)) return false;
  std::uint64_t allowed = limits.limit;
  if (next_ == limits.exempt) allowed = std::max(allowed, next_ + 1);
  if (next_ >= allowed) return false;
  const std::uint64_t count = std::min<std::uint64_t>(allowed - next_, limits.most_live);
  packet.out_first = next_;
  packet.cursor = place_;
  packet.epoch = epoch_;
  packet.pass = pass_;
  if (settings_.map) {
    claim_indexed(packet, count);
  } else {
    // The worker finds out how many there are; nobody else may claim until it has.
    packet.live = count;
    first_ready_.store(kNoIndex, std::memory_order_seq_cst);
  }
  return true;
}

void SourceInlet::claim_indexed(Packet& packet, std::uint64_t count) {
  SlotArray& array = packet.scratch(settings_.source->type());
  const std::uint64_t items = std::min(count, pass_size_ - place_);
  const bool ends = items < count;  // Otherwise the marker finds no room here and comes next.
  array.reserve(items + 1);
  for (std::uint64_t i = 0; i < items; ++i) {
    SlotHeader* slot = array[i];
    packet.in.push_back(slot);
    if (settings_.map->sequential()) {
      const Located located = locate_next(place_ + i);
      slot->info.sample_id = located.sample_id;
      slot->info.repeat = located.repeat;
    }
  }
  packet.live = items;
  place_ += items;
  next_ += items;
  if (ends) {
    SlotHeader* marker = array[items];
    packet.in.push_back(marker);
    finish_pass(marker);
    ++next_;
  }
  publish();
}

Located SourceInlet::locate_next(std::uint64_t) { return walk_->next(); }

void SourceInlet::finish_pass(SlotHeader* marker) {
  const bool last = pass_ + 1 >= settings_.outer.times;
  marker->info = SampleInfo{};
  marker->info.epoch = epoch_;
  marker->info.repeat = pass_;
  marker->info.source_index =
      pass_size_ == kNoIndex ? place_ : (std::uint64_t{pass_} + 1) * pass_size_;
  marker->state = last ? SlotState::epoch_end : SlotState::pass_end;
  marker->marker_step = settings_.outer.step;
  marker->dropped_rows = 0;
  place_ = 0;
  if (last) {
    ++epoch_;
    pass_ = 0;
  } else {
    ++pass_;
  }
  if (settings_.map && settings_.map->sequential()) walk_ = settings_.map->walk(epoch_, pass_);
}

void SourceInlet::materialise(Packet& packet) {
  if (settings_.map)
    materialise_indexed(packet);
  else
    materialise_pass(packet);
}

void SourceInlet::materialise_indexed(Packet& packet) {
  if (!hints_.empty()) hint_ahead(packet);
  const Source& source = *settings_.source;
  const IndexMap& map = *settings_.map;
  const std::size_t count = packet.live;
  for (std::size_t i = 0; i < count; ++i) {
    SlotHeader& slot = *packet.in[i];
    const std::uint64_t place = packet.cursor + i;
    Located located{slot.info.sample_id, slot.info.repeat};
    if (!map.sequential()) located = map.locate(packet.epoch, packet.pass, place);
    slot.info = SampleInfo{};
    slot.info.source_index = std::uint64_t{packet.pass} * pass_size_ + place;
    slot.info.sample_id = located.sample_id;
    slot.info.epoch = packet.epoch;
    slot.info.repeat = located.repeat;
    slot.info.label = source.label(located.sample_id);
    try {
      if (settings_.ahead) {
        const int ticket = hints_.empty() ? LookAhead::kNoTicket
                                          : take_hint(asked(packet.epoch, packet.pass, place));
        settings_.ahead->make(located.sample_id, ticket, &slot);
      } else {
        source.make(located.sample_id, &slot);
      }
    } catch (...) {
      fail(slot, settings_.on_bad_sample);
      --packet.live;
      // The slot keeps its place; the stage passes on what has no value.
    }
  }
}

void SourceInlet::materialise_pass(Packet& packet) {
  const std::uint64_t most = packet.live;
  SlotArray& array = packet.scratch(settings_.source->type());
  array.reserve(most + 1);
  {
    MutexLock lock(mutex_);
    if (cut_short_) {
      pass_reader_.reset();
      cut_short_ = false;
      serial_sample_ = 0;
      packet.live = 0;
      packet.in.push_back(array[0]);
      finish_pass(array[0]);
      ++next_;
      publish();
      return;
    }
  }
  bool ended = false;
  std::size_t made = 0;
  std::size_t failed = 0;
  while (made < most && !ended) {
    SlotHeader& slot = *array[made];
    slot.info = SampleInfo{};
    slot.info.source_index = packet.cursor + made;
    slot.info.sample_id = serial_sample_;
    slot.info.epoch = packet.epoch;
    slot.info.repeat = packet.pass;
    try {
      if (!pass_reader_) pass_reader_ = settings_.source->begin_pass(packet.epoch, packet.pass);
      if (!pass_reader_->next(&slot)) {
        ended = true;
        break;
      }
    } catch (...) {
      // What threw cannot be asked for the next item, so that there is nothing to skip to.
      fail(slot, BadSamplePolicy{});
      ++failed;
      ended = true;
    }
    packet.in.push_back(&slot);
    ++made;
    ++serial_sample_;
  }
  packet.live = made - failed;
  MutexLock lock(mutex_);
  place_ += made;
  next_ += made;
  if (ended || cut_short_) {
    pass_reader_.reset();
    cut_short_ = false;
    serial_sample_ = 0;
    packet.in.push_back(array[made]);
    finish_pass(array[made]);
    ++next_;
  }
  publish();
}

void SourceInlet::fail(SlotHeader& slot, const BadSamplePolicy& policy) {
  OperatorRun run;
  run.stage = &settings_.name;
  run.policy = policy;
  (void)record_failure(slot, &slot, run);
  if (slot.notes->back().fatal) halt();
}

void SourceInlet::hint_ahead(const Packet& packet) {
  LookAhead& ahead = *settings_.ahead;
  const std::uint64_t window = ahead.window();
  const std::uint64_t wanted =
      asked(packet.epoch, packet.pass, packet.cursor) + packet.live + window;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint32_t epoch = 0;
  std::uint32_t pass = 0;
  std::uint64_t place = 0;
  {
    // Only within the pass that is being claimed: the next one is asked for when it begins.
    MutexLock lock(mutex_);
    if (settings_.end_epoch && epoch_ >= *settings_.end_epoch) return;
    const std::uint64_t now = asked(epoch_, pass_, place_);
    if (hinted_ < now) hinted_ = now;
    begin = hinted_;
    end = std::min({wanted, now + (pass_size_ - place_), begin + 2 * packet.live + 2});
    if (end <= begin || halted_) return;
    // A few at a time, which costs less to count, but for the last ones of a pass.
    if (end - begin < window / kHintsAtOnce && end < now + (pass_size_ - place_)) return;
    hinted_ = end;
    epoch = epoch_;
    pass = pass_;
    place = place_ + (begin - now);
  }
  ahead.begin_hints();
  for (std::uint64_t index = begin; index < end; ++index, ++place) {
    const int ticket = ahead.hint(settings_.map->locate(epoch, pass, place).sample_id);
    if (ticket != LookAhead::kNoTicket) keep_hint(index, ticket);
  }
}

void SourceInlet::keep_hint(std::uint64_t number, int ticket) {
  std::atomic<std::uint64_t>& hint = hints_[number & (hints_.size() - 1)];
  const std::uint64_t made = hint_entry(number, LookAhead::kNoTicket);
  std::uint64_t old = hint.load(std::memory_order_relaxed);
  do {
    if (old == made) {
      settings_.ahead->forget(ticket);
      return;
    }
    // Releases the ticket to who makes the item, and acquires the one that nobody came for.
  } while (!hint.compare_exchange_weak(old, hint_entry(number, ticket), std::memory_order_acq_rel,
                                       std::memory_order_relaxed));
  if (ticket_of(old) != LookAhead::kNoTicket) settings_.ahead->forget(ticket_of(old));
}

int SourceInlet::take_hint(std::uint64_t number) {
  std::atomic<std::uint64_t>& hint = hints_[number & (hints_.size() - 1)];
  const std::uint64_t made = hint_entry(number, LookAhead::kNoTicket);
  // Acquires what was released with the entry: what another worker did for the ticket.
  const std::uint64_t entry = hint.exchange(made, std::memory_order_acq_rel);
  const int ticket = ticket_of(entry);
  if (entry >> 32U == made >> 32U) return ticket;
  // Of an item that a pass that ended early did not come to.
  if (ticket != LookAhead::kNoTicket) settings_.ahead->forget(ticket);
  return LookAhead::kNoTicket;
}

void SourceInlet::end_pass(const SampleInfo& info) {
  MutexLock lock(mutex_);
  if (info.epoch != epoch_) return;
  const std::uint64_t pass = settings_.map ? info.source_index / pass_size_ : info.repeat;
  if (pass != pass_) return;
  if (settings_.map) {
    place_ = pass_size_;
    publish();
  } else {
    cut_short_ = true;
  }
}

void SourceInlet::halt() {
  MutexLock lock(mutex_);
  halted_ = true;
  publish();
}

}  // namespace weir::detail
