#include "pipeline/delivery.hpp"

#include <algorithm>
#include <utility>

#include <weir/error.hpp>

namespace weir::detail {
namespace {

TimeSummary summary_of(const GapHistory::Times& times) {
  TimeSummary summary;
  if (times.count == 0) return summary;
  summary.mean_seconds = times.sum_seconds / static_cast<double>(times.count);
  summary.p50_seconds = times.histogram.quantile_seconds(0.5);
  summary.p95_seconds = times.histogram.quantile_seconds(0.95);
  summary.p99_seconds = times.histogram.quantile_seconds(0.99);
  return summary;
}

FailureJudge::Policies policies_of(const StagePlan& plan, const Engine::Settings& engine) {
  FailureJudge::Policies policies{{"", engine.on_bad_sample}};
  for (const PlannedStage& stage : plan.stages)
    if (stage.options.on_bad_sample) policies[stage.name] = *stage.options.on_bad_sample;
  return policies;
}

}  // namespace

Delivery::Delivery(StagePlan plan, WorkerPool& pool, Settings settings)
    : plan_(std::move(plan)),
      type_(plan_.stages.back().output),
      pool_(pool),
      settings_(std::move(settings)),
      judge_(plan_.source, settings_.quarantine, policies_of(plan_, settings_.engine)),
      started_(monotonic_now()) {
  if (settings_.digest && plan_.stages.back().output->digest == nullptr)
    throw Error(ErrorKind::usage, settings_.engine.name,
                "digest: the type that next() gives has no digest; numbers, strings, vectors, "
                "tensors, samples and batches of these have one");
  position_.seed = settings_.engine.seed;
  position_.structure = plan_.operators_hash;
  settings_.engine.consumer = [this] { return consumer(); };
  if (!settings_.resume) {
    start(0, std::nullopt);
    return;
  }
  const Position& at = *settings_.resume;
  if (at.structure != plan_.operators_hash)
    throw Error(ErrorKind::usage, "resume",
                "the position was saved by another pipeline (its operators, or the number of its "
                "items, differ)");
  if (at.seed != settings_.engine.seed)
    throw Error(ErrorKind::usage, "resume",
                "the position was saved with seed " + std::to_string(at.seed) +
                    ", this run has seed " + std::to_string(settings_.engine.seed));
  if (settings_.engine.any_order)
    throw Error(ErrorKind::usage, "resume", "order: any has no position to resume from");
  position_ = at;
  judge_.restore(at);
  digest_.restore({at.digest_low, at.digest_high}, at.set_digest);
  bad_.set(at.bad);
  if (!plan_.exact_resume && at.delivered_in_epoch > 0) {
    to_skip_ = at.delivered_in_epoch;
    resume_remark_ = "resume: this pipeline has no direct way to the position; the first " +
                     std::to_string(to_skip_) + " of the epoch are made again and dropped";
    start(at.epoch, std::nullopt);
  } else {
    start(at.epoch, at);
  }
}

void Delivery::start(std::uint32_t epoch, const std::optional<Position>& resume) {
  Engine::Settings engine = settings_.engine;
  engine.first_epoch = epoch;
  engine.end_epoch = settings_.epochs;
  engine.resume = resume;
  position_.epoch = epoch;
  fresh_ = true;
  if (closed_) return;
  if (engine_) {
    engine.allotted = pool_.allotted(&engine_->stages());
    // Before the new one: the stages of both would otherwise be served.
    engine_->close();
  }
  auto next = std::make_shared<Engine>(plan_, pool_, std::move(engine));
  {
    MutexLock lock(engine_mutex_);
    engine_.swap(next);
    if (!closed_) return;
  }
  engine_->close();  // close() came in between and met the one before.
}

void Delivery::begin_epoch(std::uint32_t epoch) {
  if (settings_.epochs && epoch >= *settings_.epochs)
    throw Error(ErrorKind::usage, settings_.engine.name,
                "epoch " + std::to_string(epoch) + " was asked for, options.epochs is " +
                    std::to_string(*settings_.epochs) + " (epochs count from 0)");
  if (failed_ || closed_ || (position_.epoch == epoch && fresh_)) return;
  position_.source_index = 0;
  position_.split = 0;
  position_.delivered_in_epoch = 0;
  judge_.restart_epoch();
  to_skip_ = 0;
  start(epoch, std::nullopt);
}

SlotHeader* Delivery::next() {
  release();
  if (ended()) return nullptr;
  // Values that were taken together with an earlier one cost no lock and no clock; they did not
  // wait, and their service times are measured together, up to the next call that may wait.
  while (SlotHeader* slot = engine_->take_local()) {
    holds_ = true;
    const bool plain = slot->state == SlotState::live && !slot->notes && to_skip_ == 0;
    if (plain) fresh_ = false;
    switch (plain ? Judged::give : judge(*slot)) {
      case Judged::give:
        deliver(slot);
        ++unrecorded_;
        handed_over_.add(1);
        return slot;
      case Judged::epoch_end:
        returned_.set(0);
        return nullptr;
      case Judged::pass_on:
        break;
    }
  }
  return next_waiting();
}

SlotHeader* Delivery::next_waiting() {
  const Nanoseconds called = monotonic_now();
  const Nanoseconds returned = returned_.get();
  if (returned != 0) {
    const Nanoseconds service = called - returned;
    service_ns_.add(service);
    const double seconds = static_cast<double>(service) * 1e-9;
    service_squared_.add(seconds * seconds);
  }
  waiting_since_.set(called);
  SlotHeader* given = nullptr;
  while (SlotHeader* slot = engine_->take()) {
    holds_ = true;
    const Judged judged = judge(*slot);
    if (judged == Judged::give) given = slot;
    if (judged != Judged::pass_on) break;
  }
  const Nanoseconds now = monotonic_now();
  waiting_since_.set(0);
  wait_ns_.add(now - called);
  last_activity_.set(now);
  returned_.set(0);
  if (given == nullptr) return nullptr;
  deliver(given);
  if (handed_over_.get() == 0) {
    first_wait_ns_.set(now - called);
  } else {
    MutexLock lock(history_mutex_);
    gaps_.add_none(std::exchange(unrecorded_, 0));
    gaps_.add(now - called);
  }
  handed_over_.add(1);
  returned_.set(monotonic_now());
  return given;
}

bool Delivery::ended() const {
  return failed_ || closed_.load(std::memory_order_relaxed) ||
         (settings_.epochs && position_.epoch >= *settings_.epochs);
}

Delivery::Judged Delivery::judge(SlotHeader& slot) try {
  const bool skipped = to_skip_ > 0;
  if (slot.notes && !skipped) {
    judge_.judge(*slot.notes);
    bad_.set(judge_.bad());
  }
  Judged judged = Judged::pass_on;
  switch (slot.state) {
    case SlotState::live:
      fresh_ = false;
      if (!skipped) return Judged::give;
      --to_skip_;
      break;
    case SlotState::epoch_end:
      judge_.end_epoch(slot.dropped_rows);
      ++position_.epoch;
      position_.source_index = 0;
      position_.split = 0;
      position_.delivered_in_epoch = 0;
      fresh_ = true;
      epochs_done_.add(1);
      judged = Judged::epoch_end;
      break;
    case SlotState::blank:
      throw Error(ErrorKind::usage, "on_bad_sample",
                  "replace needs a value: give the stage a replacement, or put a batch behind it, "
                  "where zeros of the batch's shape stand in");
    case SlotState::failed:
    case SlotState::tombstone:
      if (!skipped) advance(slot.info);
      break;
    case SlotState::pass_end:
    case SlotState::empty:
      break;
  }
  release();
  return judged;
} catch (...) {
  failed_ = true;
  waiting_since_.set(0);
  throw;
}

void Delivery::advance(const SampleInfo& info) {
  if (plan_.splits) {
    position_.source_index = info.source_index;
    position_.split = info.split + 1;
  } else {
    position_.source_index = info.source_index + 1;
    position_.split = 0;
  }
}

void Delivery::deliver(SlotHeader* slot) {
  const SlotType& type = *type_;
  const std::size_t rows = type.rows_of(slot);
  std::size_t replaced = slot->replaced ? rows : 0;
  if (slot->notes && !slot->replaced)
    for (const FailureNote& note : *slot->notes) replaced += note.replaced ? 1 : 0;
  const std::uint64_t good = rows - std::min(rows, replaced);
  judge_.add_good(good);
  samples_.add(rows);
  advance(slot->info);
  ++position_.delivered;
  ++position_.delivered_in_epoch;
  position_.samples += good;
  if (!settings_.digest) return;
  type.digest(slot, digest_);
  MutexLock lock(history_mutex_);
  digest_text_ = digest_.chain().text();
}

void Delivery::release() {
  if (!holds_) return;
  holds_ = false;
  engine_->give_back();
}

void Delivery::mark(bool compute_end) {
  const Nanoseconds returned = returned_.get();
  if (!compute_end || returned == 0) return;
  compute_ns_.add(monotonic_now() - returned);
  marks_.add(1);
}

std::shared_ptr<Engine> Delivery::engine() const {
  MutexLock lock(engine_mutex_);
  return engine_;
}

void Delivery::close() {
  std::shared_ptr<Engine> engine;
  {
    MutexLock lock(engine_mutex_);
    closed_ = true;
    engine = engine_;
  }
  if (engine) engine->close();
}

bool Delivery::resize_queue(const std::string& stage, std::int64_t items) {
  const std::shared_ptr<Engine> now = engine();
  return now && now->resize_queue(stage, items);
}

WorkerPool::Reading Delivery::reading() const {
  const std::shared_ptr<Engine> now = engine();
  return pool_.reading(now ? &now->stages() : nullptr);
}

std::uint64_t Delivery::placed_rows() const {
  const std::shared_ptr<Engine> now = engine();
  return now ? now->placed_rows() : 0;
}

std::uint64_t Delivery::copied_rows() const {
  const std::shared_ptr<Engine> now = engine();
  return now ? now->copied_rows() : 0;
}

std::vector<std::string> Delivery::without_bytes() const {
  const std::shared_ptr<Engine> now = engine();
  return now ? now->without_bytes() : std::vector<std::string>{};
}

Position Delivery::position() const {
  Position position = position_;
  judge_.save(position);
  position.digest_low = digest_.chain().low;
  position.digest_high = digest_.chain().high;
  position.set_digest = digest_.set();
  return position;
}

ConsumerSnapshot Delivery::consumer() const {
  ConsumerSnapshot snapshot;
  snapshot.items = handed_over_.get();
  const Nanoseconds since = waiting_since_.get();
  snapshot.waiting = since != 0;
  Nanoseconds waited = wait_ns_.get();
  if (since != 0) waited += std::max<Nanoseconds>(0, monotonic_now() - since);
  snapshot.wait_seconds = static_cast<double>(waited) * 1e-9;
  snapshot.first_wait_seconds = static_cast<double>(first_wait_ns_.get()) * 1e-9;
  snapshot.service_seconds = static_cast<double>(service_ns_.get()) * 1e-9;
  snapshot.service_seconds_squared = service_squared_.get();
  return snapshot;
}

void Delivery::fill(Summary& summary) const {
  const Nanoseconds last = last_activity_.get();
  const double seconds =
      static_cast<double>((last != 0 ? last : monotonic_now()) - started_) * 1e-9;
  const ConsumerSnapshot snapshot = consumer();
  summary.items = samples_.get();
  summary.batches = snapshot.items;
  summary.epochs = epochs_done_.get();
  summary.seconds = seconds;
  summary.first_batch_seconds = snapshot.first_wait_seconds;
  summary.items_per_second = seconds > 0 ? static_cast<double>(summary.items) / seconds : 0;
  summary.wait_seconds = snapshot.wait_seconds;
  summary.wait_share = seconds > 0 ? std::min(1.0, snapshot.wait_seconds / seconds) : 0;
  summary.bad_count = bad_.get();
  summary.quarantine = judge_.quarantine();
  MutexLock lock(history_mutex_);
  const GapHistory::Times all = gaps_.all();
  summary.gap = summary_of(all);
  summary.last_half_gap = summary_of(gaps_.last_half());
  if (snapshot.items > 1) {
    const double after_first = seconds - snapshot.first_wait_seconds;
    summary.step_mean_seconds = after_first / static_cast<double>(snapshot.items - 1);
  }
  if (marks_.get() > 0)
    summary.compute_mean_seconds =
        static_cast<double>(compute_ns_.get()) * 1e-9 / static_cast<double>(marks_.get());
  summary.digest = digest_text_;
  if (settings_.digest && summary.digest.empty()) summary.digest = digest_.chain().text();
  if (settings_.digest) {
    char digits[32];
    std::snprintf(digits, sizeof digits, "xxh3:%016llx",
                  static_cast<unsigned long long>(digest_.set()));
    summary.set_digest = digits;
  }
}

}  // namespace weir::detail
