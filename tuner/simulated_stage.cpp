#include "tuner/simulated_stage.hpp"

#include <algorithm>
#include <cmath>

#include <weir/random.hpp>

namespace weir::detail {
namespace {

// What a packet costs at least: claim, hand over, clocks. It also keeps time going where a stage is
// said to cost nothing.
constexpr double kLeastSeconds = 200e-9;
// Streams of draws within a stage.
constexpr std::uint64_t kTail = 1;
constexpr std::uint64_t kKeep = 2;

}  // namespace

void StageDraws::set(const ScenarioStage& stage, std::uint64_t key) {
  stage_ = stage;
  key_ = key;
  const double variance = std::log1p(stage.cv * stage.cv);
  log_deviation_ = std::sqrt(variance);
  log_mean_ = -variance / 2.0;
}

double StageDraws::work_seconds(std::uint64_t index) const {
  double work = stage_.seconds;
  if (stage_.cv > 0 && stage_.spread != Spread::constant) {
    const double z = Random(key_, index).normal();
    work *= stage_.spread == Spread::normal ? std::max(0.0, 1.0 + stage_.cv * z)
                                            : std::exp(log_mean_ + log_deviation_ * z);
  }
  if (stage_.tail_probability > 0 &&
      Random(mix_bits(key_ + kTail), index).chance(stage_.tail_probability))
    work *= stage_.tail_factor;
  return work;
}

bool StageDraws::keeps(std::uint64_t index) const {
  return stage_.keep >= 1.0 || Random(mix_bits(key_ + kKeep), index).chance(stage_.keep);
}

SimulatedStage::SimulatedStage(const ScenarioStage& is, const Place& place, double now)
    : place_(place), gathers_(is.batch > 1) {
  meters_.name = is.name;
  meters_.loader = place.loader;
  meters_.serial = is.serial;
  meters_.operators = {{is.name, 0, 0}};
  set(is, now);
}

void SimulatedStage::set(const ScenarioStage& is, double now) {
  const std::int64_t rows = is_.batch;
  is_ = is;
  draws_.set(is, place_.key);
  service_.set_stage(is, now);
  meters_.fixed_workers = is.fixed_workers;
  meters_.hand_cap = is.hand_cap;
  meters_.hand_depth = is.depth;
  if (is.batch == rows) return;
  if (place_.in != nullptr)
    place_.in->set_group(is.batch, now);
  else
    place_.source->set_group(is.batch, now);
}

bool SimulatedStage::claim(SimulatedPacket& packet, const StageAllocation& allotted, int active,
                           std::uint64_t exempt, double now) {
  ClaimLimits limits;
  limits.limit = place_.out->limit();
  limits.exempt = exempt;
  const bool is_source = place_.source != nullptr;
  const std::int64_t items = packet_limit(allotted, learning_.item_ns, waiting(), active);
  limits.most_live = static_cast<std::size_t>(items);
  const std::uint64_t each = learning_.output_bytes;
  auto outputs = static_cast<std::uint64_t>(items);
  if (gathers_)
    outputs = std::max<std::uint64_t>(1, outputs / static_cast<std::uint64_t>(is_.batch));
  if (!place_.ledger->reserve(each * outputs, is_source, false)) {
    outputs = 1;
    limits.most_live = 1;
    const bool is_exempt = exempt != kNoIndex && first_ready() == exempt;
    if (!place_.ledger->reserve(each, is_source, is_exempt)) return false;
    // The grant beyond the bound is for that one index, whatever else has room.
    if (is_exempt) limits.limit = std::min(limits.limit, exempt + 1);
  }
  const bool claimed =
      is_source ? claim_source(packet, limits) : place_.in->claim(packet, limits, now);
  if (!claimed) {
    place_.ledger->release(each * outputs);
    return false;
  }
  const std::uint64_t taken = gathers_ ? packet.count : packet.live;
  packet.reserved_bytes = each * std::min(outputs, taken);
  place_.ledger->release(each * outputs - packet.reserved_bytes);
  ++running_;
  place_.out->open(packet.first + packet.count, now);
  return true;
}

bool SimulatedStage::claim_source(SimulatedPacket& packet, const ClaimLimits& limits) {
  if (!place_.source->has_group()) return false;
  packet.first = place_.source->next_index();
  std::uint64_t allowed = limits.limit;
  if (packet.first == limits.exempt) allowed = std::max(allowed, packet.first + 1);
  if (packet.first >= allowed) return false;
  const std::uint64_t rows = gathers_ ? static_cast<std::uint64_t>(is_.batch) : 1;
  const std::uint64_t most = std::max<std::uint64_t>(1, limits.most_live / rows);
  packet.count = place_.source->take(std::min(allowed - packet.first, most));
  packet.live = packet.count * rows;
  packet.in_bytes = 0;
  packet.all_live = true;
  return true;
}

double SimulatedStage::run(SimulatedPacket& packet) {
  packet.bytes_each =
      static_cast<std::uint64_t>(std::max(0.0, is_.bytes_out) * (is_.split > 1 ? is_.split : 1));
  double work = 0;
  const bool filters = is_.keep < 1.0;
  if (filters && packet.all_live) packet.lives.assign(packet.count, 1);
  packet.live_out = 0;
  for (std::uint64_t i = 0; i < packet.count; ++i) {
    if (!packet.all_live && packet.lives[i] == 0) continue;
    work += draws_.work_seconds(packet.first + i);
    if (filters && !draws_.keeps(packet.first + i))
      packet.lives[i] = 0;
    else
      ++packet.live_out;
  }
  packet.all_live = packet.live_out == packet.count;
  return std::max(work, kLeastSeconds);
}

void SimulatedStage::commit(const SimulatedPacket& packet, double elapsed_seconds, double now) {
  const double elapsed_ns = std::max(elapsed_seconds * 1e9, 1.0);
  const std::uint64_t out_bytes = packet.live_out * packet.bytes_each;
  ++meters_.packets;
  meters_.items_in += packet.live;
  meters_.items_out += packet.live_out;
  meters_.bytes_out += out_bytes;
  meters_.slot_seconds += elapsed_seconds;
  if (packet.live > 0) {
    const double each = elapsed_ns / static_cast<double>(packet.live);
    meters_.slot_seconds_squared += each * each * 1e-18 * static_cast<double>(packet.live);
    meters_.service_times.add(static_cast<std::uint64_t>(each), packet.live);
    learning_.add(elapsed_ns, packet.live, packet.live_out, out_bytes);
  }
  if (out_bytes > packet.reserved_bytes)
    place_.ledger->add(out_bytes - packet.reserved_bytes);
  else
    place_.ledger->release(packet.reserved_bytes - out_bytes);
  place_.out->commit(packet, now);
  if (place_.in != nullptr) {
    place_.in->finish(packet, now);
    place_.ledger->release(packet.in_bytes);
  }
  --running_;
}

EdgeSide SimulatedStage::side(const StageAllocation& allotted) const {
  EdgeSide side;
  side.target = allotted.target;
  side.cap = allotted.cap;
  side.packet_items = packet_items_for(learning_.item_ns);
  side.rows = gathers_ ? is_.batch : 0;
  side.bytes_per_output = learning_.output_bytes;
  return side;
}

void SimulatedStage::adjust_depth(const StageAllocation& allotted, int active,
                                  const EdgeSide* consumer, double now) {
  const std::int64_t current = place_.out->depth();
  std::int64_t depth = is_.depth > 0 ? is_.depth : allotted.depth_items;
  if (depth == 0) {
    depth = depth_by_rule(side(allotted), consumer, active);
    if (!depth_differs(depth, current)) return;
  }
  if (depth != current) place_.out->set_depth(depth, now);
}

void SimulatedStage::add_thread_time(const ThreadTime& part) {
  thread_time_.cpu_seconds += part.cpu_seconds;
  thread_time_.run_queue_seconds += part.run_queue_seconds;
  thread_time_.voluntary_switches += part.voluntary_switches;
  thread_time_.involuntary_switches += part.involuntary_switches;
}

StageSnapshot SimulatedStage::snapshot(double now) const {
  StageSnapshot snapshot = meters_;
  snapshot.running_seconds = meters_.slot_seconds;
  snapshot.running = running_;
  snapshot.cpu_user_seconds = thread_time_.cpu_seconds;
  snapshot.run_queue_seconds = thread_time_.run_queue_seconds;
  snapshot.voluntary_switches = static_cast<std::uint64_t>(thread_time_.voluntary_switches);
  snapshot.involuntary_switches = static_cast<std::uint64_t>(thread_time_.involuntary_switches);
  snapshot.operators.front().items = meters_.items_in;
  snapshot.operators.front().seconds = meters_.slot_seconds;
  snapshot.queue = place_.out->snapshot(now);
  snapshot.wait_output_seconds = snapshot.queue.full_seconds;
  snapshot.wait_input_seconds = place_.source != nullptr ? place_.source->empty_seconds()
                                                         : place_.in->snapshot(now).empty_seconds;
  return snapshot;
}

}  // namespace weir::detail
