#include "pipeline/stage.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <weir/error.hpp>
#include <weir/operator.hpp>

namespace weir::detail {
namespace {

constexpr std::size_t kChainItems = 128;

}  // namespace

Nanoseconds monotonic_now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

Stage::Stage(Settings settings)
    : settings_(std::move(settings)),
      samples_under_way_(static_cast<std::size_t>(settings_.most_workers)),
      scratch_(static_cast<std::size_t>(settings_.most_workers)),
      hand_depth_(settings_.hand_depth) {
  std::size_t operators = 0;
  for (const Part& part : settings_.parts) operators += 1 + part.others.size();
  for (int worker = 0; worker < settings_.most_workers; ++worker) {
    counters_.push_back(std::make_unique<StageCounters>());
    counters_.back()->operator_ns = std::vector<Counter<std::int64_t>>(operators);
  }
}

Stage::~Stage() = default;

bool Stage::runnable() const {
  const std::uint64_t first = settings_.in->first_ready();
  if (first == kNoIndex) return false;
  if (first < settings_.out->limit() &&
      settings_.ledger->has_room(bytes_per_output(), settings_.is_source))
    return true;
  return first == settings_.zone->exempt();
}

bool Stage::enter(int most) {
  int running = running_.load(std::memory_order_relaxed);
  do {
    if (running >= most) return false;
  } while (!running_.compare_exchange_weak(running, running + 1, std::memory_order_seq_cst));
  return true;
}

std::int64_t Stage::packet_items() const {
  return packet_items_for(item_ns_.load(std::memory_order_relaxed));
}

bool Stage::claim(Packet& packet, const StageAllocation& allotted, int active) {
  packet.clear();
  packet.started = monotonic_now();
  ClaimLimits limits;
  limits.limit = settings_.out->limit();
  limits.exempt = settings_.zone->exempt();
  const std::int64_t items = packet_limit(allotted, item_ns_.load(std::memory_order_relaxed),
                                          settings_.in->waiting(), active);
  limits.most_live = static_cast<std::size_t>(items);

  const std::uint64_t each = bytes_per_output();
  std::uint64_t outputs = gathers() ? 1 : static_cast<std::uint64_t>(items);
  if (gathers()) outputs = std::max<std::uint64_t>(1, limits.most_live / settings_.rows);
  if (!settings_.ledger->reserve(each * outputs, settings_.is_source, false)) {
    outputs = 1;
    limits.most_live = 1;
    const bool exempt = limits.exempt != kNoIndex && settings_.in->first_ready() == limits.exempt;
    if (!settings_.ledger->reserve(each, settings_.is_source, exempt)) return false;
    // The grant beyond the bound is for that one index, whatever else has room.
    if (exempt) limits.limit = std::min(limits.limit, limits.exempt + 1);
  }
  packet.reserved_bytes = each * outputs;
  if (!settings_.in->claim(packet, limits)) {
    settings_.ledger->release(packet.reserved_bytes);
    packet.reserved_bytes = 0;
    return false;
  }
  // Fewer may have been there than were asked for; what they need is kept, the rest is for others.
  const std::uint64_t taken = gathers() ? packet.groups.size() : packet.live;
  if (taken < outputs) {
    settings_.ledger->release(each * (outputs - taken));
    packet.reserved_bytes = each * taken;
  }
  return true;
}

SlotArray& Stage::scratch(int worker, std::size_t part) {
  std::vector<std::unique_ptr<SlotArray>>& own = scratch_[static_cast<std::size_t>(worker)];
  if (own.empty()) own.resize(settings_.parts.size());
  if (!own[part]) own[part] = std::make_unique<SlotArray>(*settings_.parts[part].output);
  return *own[part];
}

OperatorRun Stage::operator_run(const Part& part, int worker) const {
  OperatorRun run;
  run.seed = settings_.seed;
  run.operator_index = part.number;
  run.worker = worker;
  run.stop = settings_.stop;
  run.stage = &settings_.name;
  run.policy = part.policy;
  run.stage_has_policy = part.has_policy;
  return run;
}

void Stage::run(Packet& packet, int worker) {
  StageCounters& counters = this->counters(worker);
  counters.started_ns.set(packet.started);
  settings_.in->materialise(packet);
  if (settings_.in->charges_slots()) {
    if (settings_.input->fixed_bytes) {
      packet.in_bytes = packet.live * settings_.input->value_size;
    } else {
      for (const SlotHeader* slot : packet.in)
        if (slot->state == SlotState::live) packet.in_bytes += settings_.input->bytes(slot);
    }
  }
  if (!packet.in.empty())
    samples_under_way_[static_cast<std::size_t>(worker)].set(packet.in.front()->info.sample_id);
  if (gathers())
    run_gatherer(packet, worker);
  else
    run_operators(packet, worker);
  measure_output(packet);
}

void Stage::run_operators(Packet& packet, int worker) {
  settings_.out->open(packet, packet.in.size());
  packet.all_live_out = packet.live == packet.in.size();
  SlotHeader* const* in = packet.in.data();
  SlotHeader* const* out = packet.out.data();
  if (!packet.all_live_out) {
    pass_on_valueless(packet);
    in = packet.live_in.data();
    out = packet.final_out.data();
  }
  if (settings_.parts.size() == 1)
    run_part(0, in, out, packet.live, packet, worker);
  else
    run_chain(in, out, packet, worker);
}

void Stage::pass_on_valueless(Packet& packet) const {
  packet.live_in.clear();
  packet.final_out.clear();
  for (std::size_t i = 0; i < packet.in.size(); ++i) {
    SlotHeader* in = packet.in[i];
    if (in->state == SlotState::live) {
      packet.live_in.push_back(in);
      packet.final_out.push_back(packet.out[i]);
    } else {
      packet.out[i]->take_header(*in);
      in->state = SlotState::empty;
      in->replaced = false;
    }
  }
  packet.live = packet.live_in.size();
}

void Stage::run_part(std::size_t p, SlotHeader* const* in, SlotHeader* const* out,
                     std::size_t count, Packet& packet, int worker) {
  if (count == 0) return;
  const Part& part = settings_.parts[p];
  OperatorRun run = operator_run(part, worker);
  if (settings_.places != nullptr && p + 1 == settings_.parts.size()) {
    packet.ordinals.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
      const SampleInfo& info = in[i]->info;
      packet.ordinals[i] = settings_.places->ordinal(info.epoch, info.source_index);
    }
    run.arena = settings_.places;
    run.ordinals = packet.ordinals.data();
  }
  if (part.others.empty()) {
    part.op->process(in, out, count, run);
  } else {
    packet.laps.assign(1 + part.others.size(), 0);
    run.laps = packet.laps.data();
    part.op->process(in, out, count, run);
    StageCounters& counters = this->counters(worker);
    for (std::size_t i = 0; i < packet.laps.size(); ++i)
      counters.operator_ns[part.place + i].add(packet.laps[i]);
  }
  packet.all_live_out = packet.all_live_out && run.all_live;
}

void Stage::run_chain(SlotHeader* const* in, SlotHeader* const* out, Packet& packet, int worker) {
  StageCounters& counters = this->counters(worker);
  const std::size_t last = settings_.parts.size() - 1;
  const std::size_t items = packet.live;
  Nanoseconds begun = monotonic_now();
  // A few items go through all operators before the next ones do, while they are in the cache.
  for (std::size_t first = 0; first < items; first += kChainItems) {
    std::size_t count = std::min(kChainItems, items - first);
    SlotHeader* const* from = in + first;
    SlotHeader* const* to = out + first;
    for (std::size_t p = 0; p <= last; ++p) {
      SlotHeader* const* made = to;
      if (p < last) {
        SlotArray& array = scratch(worker, p);
        array.reserve(std::min(kChainItems, items));
        packet.made.resize(count);
        for (std::size_t i = 0; i < count; ++i) packet.made[i] = array[i];
        made = packet.made.data();
      }
      run_part(p, from, made, count, packet, worker);
      const Nanoseconds ended = monotonic_now();
      const Part& part = settings_.parts[p];
      if (part.others.empty()) counters.operator_ns[part.place].add(ended - begun);
      begun = ended;
      if (p == last) break;
      std::swap(packet.made, packet.kept);
      from = packet.kept.data();
      if (packet.all_live_out) continue;
      count = keep_live(packet, to, count);
      to = packet.kept_out.data();
    }
  }
}

std::size_t Stage::keep_live(Packet& packet, SlotHeader* const* out, std::size_t count) const {
  // `out` may be kept_out itself, which is only ever written at or before the place that is read.
  if (out != packet.kept_out.data()) packet.kept_out.assign(out, out + count);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < count; ++i) {
    SlotHeader* slot = packet.kept[i];
    SlotHeader* behind = packet.kept_out[i];
    if (slot->state == SlotState::live) {
      packet.kept[kept] = slot;
      packet.kept_out[kept] = behind;
      ++kept;
    } else {
      behind->take_header(*slot);
      slot->state = SlotState::empty;
      slot->replaced = false;
    }
  }
  return kept;
}

void Stage::run_gatherer(Packet& packet, int worker) {
  settings_.out->open(packet, packet.groups.size());
  for (std::size_t g = 0; g < packet.groups.size(); ++g) {
    GatherGroup& group = packet.groups[g];
    SlotHeader* out = packet.out[g];
    out->info = group.info;
    out->notes = std::move(group.notes);
    if (group.marker != SlotState::live) {
      out->state = group.marker;
      out->marker_step = group.marker_step;
      out->dropped_rows = group.dropped_rows;
      if (group.marker == SlotState::epoch_end && settings_.arena != nullptr &&
          group.info.epoch > 0)
        settings_.arena->end_epoch(group.info.epoch - 1);
      continue;
    }
    OperatorRun run = operator_run(settings_.parts.front(), worker);
    run.arena = settings_.arena;
    run.ordinals = &group.ordinal;
    settings_.gatherer->gather({packet.in.data() + group.first_row, group.rows}, out, run);
  }
}

void Stage::measure_output(Packet& packet) const {
  const SlotType& type = settings_.out->type();
  if (packet.all_live_out && type.fixed_bytes) {
    packet.live_out = packet.depth_out = packet.out.size();
    packet.out_bytes = packet.live_out * type.value_size;
    return;
  }
  for (const SlotHeader* slot : packet.out) {
    if (takes_depth(slot->state)) ++packet.depth_out;
    if (slot->state == SlotState::live) {
      ++packet.live_out;
      if (!type.fixed_bytes) packet.out_bytes += type.bytes(slot);
    }
    if (slot->notes) {
      for (const FailureNote& note : *slot->notes) {
        // What failed in the source itself, as a file that cannot be opened, is counted where the
        // pipeline takes from it.
        if (settings_.is_source || note.stage == settings_.name) ++packet.failures;
      }
    }
    if (settings_.arena != nullptr && !gathers() && slot->state == SlotState::failed)
      settings_.arena->note_bad(slot->info.epoch, slot->info.source_index);
  }
  if (type.fixed_bytes) packet.out_bytes = packet.live_out * type.value_size;
}

void Stage::commit(Packet& packet, int worker) {
  const Nanoseconds now = monotonic_now();
  const Nanoseconds elapsed = std::max<Nanoseconds>(now - packet.started, 1);
  StageCounters& counters = this->counters(worker);
  counters.started_ns.set(0);
  counters.slot_ns.add(elapsed);
  counters.unattributed_ns.add(elapsed);
  counters.packets.add(1);
  counters.items_in.add(packet.live);
  counters.items_out.add(packet.live_out);
  counters.bytes_out.add(packet.out_bytes);
  if (packet.failures > 0) counters.errors.add(packet.failures);
  if (packet.live > 0) {
    const double each = static_cast<double>(elapsed) / static_cast<double>(packet.live);
    counters.slot_seconds_squared.add(each * each * 1e-18 * static_cast<double>(packet.live));
    counters.service_times[DurationHistogram::bucket(static_cast<std::uint64_t>(each))].add(
        packet.live);
    learn(packet, elapsed);
  }
  if (packet.out_bytes > packet.reserved_bytes)
    settings_.ledger->add(packet.out_bytes - packet.reserved_bytes);
  else
    settings_.ledger->release(packet.reserved_bytes - packet.out_bytes);
  settings_.out->commit(packet, now);
  settings_.in->finish(packet);
  settings_.ledger->release(packet.in_bytes);
}

void Stage::learn(const Packet& packet, Nanoseconds elapsed) {
  // Several workers may overwrite one another here; an estimate does not mind a lost update.
  StageLearning learning;
  learning.item_ns = item_ns_.load(std::memory_order_relaxed);
  learning.output_mean = output_mean_.load(std::memory_order_relaxed);
  learning.output_square = output_square_.load(std::memory_order_relaxed);
  learning.output_most = output_most_.load(std::memory_order_relaxed);
  learning.output_bytes = output_bytes_.load(std::memory_order_relaxed);
  learning.add(static_cast<double>(elapsed), packet.live, packet.live_out, packet.out_bytes);
  item_ns_.store(learning.item_ns, std::memory_order_relaxed);
  if (packet.live_out == 0) return;
  output_mean_.store(learning.output_mean, std::memory_order_relaxed);
  output_square_.store(learning.output_square, std::memory_order_relaxed);
  output_most_.store(learning.output_most, std::memory_order_relaxed);
  output_bytes_.store(learning.output_bytes, std::memory_order_relaxed);
}

void Stage::set_hand_depth(std::int64_t items) {
  hand_depth_.store(items, std::memory_order_relaxed);
  settings_.out->set_depth(items, monotonic_now());
}

EdgeSide Stage::side(const StageAllocation& allotted) const {
  EdgeSide side;
  side.target = allotted.target;
  side.cap = allotted.cap;
  side.packet_items = packet_items();
  side.rows = gathers() ? static_cast<std::int64_t>(settings_.rows) : 0;
  side.bytes_per_output = bytes_per_output();
  return side;
}

void Stage::adjust_depth(const StageAllocation& allotted, int active, const Stage* downstream,
                         const StageAllocation* allotted_downstream) {
  const std::int64_t by_hand = hand_depth_.load(std::memory_order_relaxed);
  const std::int64_t now = settings_.out->depth();
  std::int64_t depth = by_hand > 0 ? by_hand : allotted.depth_items;
  if (depth == 0) {
    EdgeSide consumer;
    if (downstream != nullptr) consumer = downstream->side(*allotted_downstream);
    depth = depth_by_rule(side(allotted), downstream != nullptr ? &consumer : nullptr, active);
    if (!depth_differs(depth, now)) return;
  }
  if (depth != now) settings_.out->set_depth(depth, monotonic_now());
}

StageSnapshot Stage::snapshot(Nanoseconds now) const {
  StageSnapshot snapshot;
  snapshot.name = settings_.name;
  snapshot.serial = settings_.serial;
  snapshot.fixed_workers = settings_.fixed_workers;
  snapshot.hand_cap = settings_.hand_cap;
  snapshot.hand_depth = hand_depth_.load(std::memory_order_relaxed);
  for (const Part& part : settings_.parts) {
    snapshot.operators.push_back({part.name, 0, 0});
    for (const std::string& other : part.others) snapshot.operators.push_back({other, 0, 0});
  }
  std::array<std::uint64_t, DurationHistogram::kBuckets> buckets{};
  for (const std::unique_ptr<StageCounters>& counters : counters_) {
    snapshot.items_in += counters->items_in.get();
    snapshot.items_out += counters->items_out.get();
    snapshot.errors += counters->errors.get();
    snapshot.packets += counters->packets.get();
    snapshot.bytes_out += counters->bytes_out.get();
    snapshot.slot_seconds += static_cast<double>(counters->slot_ns.get()) * 1e-9;
    snapshot.slot_seconds_squared += counters->slot_seconds_squared.get();
    snapshot.cpu_user_seconds += counters->cpu_user_seconds.get();
    snapshot.cpu_system_seconds += counters->cpu_system_seconds.get();
    snapshot.run_queue_seconds += counters->run_queue_seconds.get();
    snapshot.voluntary_switches += static_cast<std::uint64_t>(counters->voluntary_switches.get());
    snapshot.minor_faults += static_cast<std::uint64_t>(counters->minor_faults.get());
    snapshot.involuntary_switches +=
        static_cast<std::uint64_t>(counters->involuntary_switches.get());
    const Nanoseconds begun = counters->started_ns.get();
    if (begun > 0 && now > begun) {
      const double age = static_cast<double>(now - begun) * 1e-9;
      snapshot.running_seconds += age;
      snapshot.oldest_running_seconds = std::max(snapshot.oldest_running_seconds, age);
    }
    for (std::size_t p = 0; p < snapshot.operators.size(); ++p)
      snapshot.operators[p].seconds += static_cast<double>(counters->operator_ns[p].get()) * 1e-9;
    for (std::size_t b = 0; b < buckets.size(); ++b) buckets[b] += counters->service_times[b].get();
  }
  for (std::size_t b = 0; b < buckets.size(); ++b)
    if (buckets[b] > 0)
      snapshot.service_times.add(
          static_cast<std::uint64_t>(DurationHistogram::middle_nanoseconds(b)), buckets[b]);
  snapshot.running_seconds += snapshot.slot_seconds;
  if (snapshot.operators.size() == 1) snapshot.operators[0].seconds = snapshot.slot_seconds;
  for (OperatorSnapshot& op : snapshot.operators) op.items = snapshot.items_in;
  snapshot.running = running();
  snapshot.queue = settings_.out->snapshot(now);
  snapshot.wait_output_seconds = snapshot.queue.full_seconds;
  if (const auto* edge = dynamic_cast<const Edge*>(settings_.in))
    snapshot.wait_input_seconds = edge->snapshot(now).empty_seconds;
  return snapshot;
}

}  // namespace weir::detail
