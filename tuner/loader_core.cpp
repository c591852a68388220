#include "tuner/loader_core.hpp"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <weir/error.hpp>
#include <weir/policy.hpp>
#include <weir/tuned_file.hpp>

#include "pipeline/operators/raster.hpp"
#include "pipeline/stage_plan.hpp"
#include "tuner/plan_options.hpp"
#include "tuner/tuned_context.hpp"

namespace weir::detail {
namespace {

constexpr Nanoseconds kCheckInterval = 100'000'000;

constexpr std::uint64_t kMebibyte = 1048576;
// Less than this are the reads of the program itself, and no data set.
constexpr std::uint64_t kLeastRead = 4 * kMebibyte;

std::string size_text(std::uint64_t bytes) {
  if (bytes % (1024 * kMebibyte) == 0) return fmt::format("{}GiB", bytes / (1024 * kMebibyte));
  if (bytes % kMebibyte == 0) return fmt::format("{}MiB", bytes / kMebibyte);
  return fmt::format("{}B", bytes);
}

std::string now_text() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

/// The placement of a tuned file, without places where it names none. Equal sets of CPUs are taken
/// by one worker after another, as a plan does it.
std::optional<PlacementPlan> places_of(const TunedFile& file) {
  const std::optional<PlacementMode> mode = parse_placement_mode(file.placement_mode);
  if (!mode) return std::nullopt;
  PlacementPlan plan;
  plan.mode = *mode;
  std::map<std::string, std::size_t> used;
  for (const std::string& text : file.placement_workers) {
    WorkerPlace& place = plan.places.emplace_back();
    place.worker = static_cast<int>(plan.places.size()) - 1;
    place.cpus = CpuSet::parse(text).value_or(CpuSet{});
    if (place.cpus.empty()) return std::nullopt;
    const std::vector<int>& cpus = place.cpus.cpus();
    place.home = cpus[used[text]++ % cpus.size()];
  }
  return plan;
}

/// The stages of one loader out of a snapshot of all.
std::vector<const StageSnapshot*> own_stages(const Snapshot& snapshot, int loader) {
  std::vector<const StageSnapshot*> own;
  for (const StageSnapshot& stage : snapshot.stages)
    if (stage.loader == loader) own.push_back(&stage);
  return own;
}

}  // namespace

LoaderCore::LoaderCore(const std::shared_ptr<const Step>& step, const Options& options)
    : options_(options) {
  settle_options();
  ThreadBudgetRequest request;
  if (options_.workers) request.explicit_limit = RequestedThreads{*options_.workers, "workers"};
  request.oversubscribe = options_.oversubscribe;
  request.reserve = options_.reserve;
  budget_ = derive_thread_budget(request);
  budget_.throw_if_refused();
  memory_ = derive_memory_limit(options_.memory_bytes);
  // What was derived is a guess; whole MiB read better in files and tables.
  if (!options_.memory_bytes && memory_.bytes >= kMebibyte)
    memory_.bytes -= memory_.bytes % kMebibyte;
  if (options_.nested_threads == NestedThreads::one) {
    register_image_thread_pool();
    nested_.emplace();
  }

  StagePlan plan = make_stage_plan(step, options_.seed, fusion_of(options_.fuse),
                                   options_.order == Order::any, kernels_of(options_.image_path));
  first_stages_ = first_observation(plan);
  Decision start =
      make_policy(options_.strict ? "even" : "share", options_.strict, PolicySettings{})
          ->start(first_stages_, std::nullopt);
  Allocation allocation = start.allocation.value_or(Allocation{});
  pipeline_ = identify_pipeline(plan, options_);
  if (!options_.tuned.empty()) {
    load_tuned(plan);
    if (tuned_plan_ && tuned_plan_->allocation) allocation = *tuned_plan_->allocation;
  }

  PoolRequest pool;
  pool.loader = options_.name;
  pool.request = request;
  pool.budget = budget_;
  pool.run_inline = options_.run_inline;
  pool.memory_bytes = memory_.bytes;
  pool.first = allocation;
  pool.pin = options_.pin;
  if (!options_.pin) pool.written = tuned_places_;
  placed_ = process_pool(pool);

  Delivery::Settings delivery;
  delivery.engine.name = options_.name;
  delivery.engine.seed = options_.seed;
  delivery.engine.any_order = options_.order == Order::any;
  delivery.engine.on_bad_sample = options_.on_bad_sample;
  delivery.engine.allotted = allocation.stages;
  delivery.engine.reader = options_.reader;
  delivery.engine.say = [this](const std::string& text) { say_once(text); };
  delivery.epochs = options_.epochs;
  delivery.quarantine = options_.quarantine;
  delivery.digest = options_.digest;
  delivery.resume = options_.resume;
  delivery_ = std::make_unique<Delivery>(std::move(plan), placed_->workers(), std::move(delivery));
  first_reads_ = read_read_counters();
  first_ = placed_->workers().snapshot();
  start_allocation(allocation);
  if (options_.autotune)
    start_tuning(allocation);
  else if (!options_.log.empty())
    say("no decision log: nothing is decided without autotune");

  constexpr std::string_view kNote = "note: ";  // such as a calling thread that is bound tightly
  for (const std::string& line : budget_.derivation)
    if (line.starts_with(kNote)) say(line.substr(kNote.size()));
  if (!delivery_->resume_remark().empty()) say(delivery_->resume_remark());
  const std::string remark = delivery_->plan().source->remark();
  if (!remark.empty()) say(remark);
  for (const std::string& chain : delivery_->plan().kernel_chains)
    say("one image kernel does the work of " + chain +
        "; image_path: plain keeps the plain operators");
  for (const std::string& stage : delivery_->without_bytes())
    say("stage '" + stage +
        "' gives values that do not say how many bytes they hold; sizeof "
        "stands in, define weir::bytes_of for the type to bound memory");
}

LoaderCore::~LoaderCore() {
  try {
    close();
  } catch (const std::exception& error) {
    say(error.what());  // A destructor must not throw; close() gives the error to those who ask.
  }
}

void LoaderCore::settle_options() {
  const auto refuse = [this](const std::string& text) {
    throw Error(ErrorKind::usage, options_.name, text);
  };
  if (options_.epochs && *options_.epochs == 0)
    refuse("epochs is 0; use 1 or more, or leave it out");
  if (options_.memory_bytes && *options_.memory_bytes == 0)
    refuse("memory is 0 bytes; use more, or leave it out");
  if (options_.reserve < 0) refuse("reserve is negative; use 0 or more");
  if (!options_.run_inline) return;
  if (options_.autotune) refuse("inline runs on one thread, so that there is nothing to tune");
  options_.workers = 1;
}

Observation LoaderCore::first_observation(const StagePlan& plan) const {
  Observation first;
  first.budget = budget_.threads;
  first.active = budget_.threads;
  first.loaders.push_back(LoaderObservation{});
  first.loaders.back().name = options_.name;
  for (const PlannedStage& stage : plan.stages) {
    StageObservation& seen = first.stages.emplace_back();
    seen.name = stage.name;
    seen.serial = stage.serial;
    seen.fixed_workers = stage.options.workers;
    seen.hand_cap = stage.options.cap;
  }
  return first;
}

void LoaderCore::load_tuned(const StagePlan& plan) {
  const TunedFile file = read_tuned_file(options_.tuned);
  tuned_plan_ = plan_tuned(file, make_tuned_context(plan, options_, budget_.threads));
  switch (tuned_plan_->action) {
    case TunedPlan::Action::refuse:
      throw Error(ErrorKind::usage, "", tuned_plan_->text);
    case TunedPlan::Action::solved:
    case TunedPlan::Action::ignore:
      say(tuned_plan_->text);
      break;
    case TunedPlan::Action::use:
      tuned_places_ = places_of(file);
      say("settings of " + options_.tuned + " used as they are, controller off");
      break;
    case TunedPlan::Action::probation:
      tuned_places_ = places_of(file);
      say("begins with the settings of " + options_.tuned + ", on probation");
      break;
  }
}

void LoaderCore::start_allocation(const Allocation& own) {
  WorkerPool& pool = placed_->workers();
  const Allocation now = pool.allocation();
  Allocation next = now;
  if (now.stages.size() == own.stages.size()) {
    next = own;
    next.structure = now.structure;
  } else {
    // Others run already: their shares stay, and the workers that both ask for add up.
    next.active = std::min(pool.workers(), now.active + own.active);
  }
  (void)pool.apply(next);  // False only where another loader came or went at this moment.
}

void LoaderCore::start_tuning(const Allocation& start) {
  TuningOptions tuning;
  tuning.policy = options_.policy.empty() ? "balance" : options_.policy;
  tuning.strict = options_.strict;
  tuning.settings = options_.settings;
  tuning.log_path = options_.log;
  tuning.seed = options_.seed;
  if (tuned_plan_ && tuned_plan_->allocation) {
    tuning.start = start;
    for (const StageObservation& stage : first_stages_.stages)
      tuning.start_stages.push_back(stage.name);
  }
  tuning_ = Tuning::attach(placed_->workers(), tuning);
}

SlotHeader* LoaderCore::next() {
  SlotHeader* slot = delivery_->next();
  const Nanoseconds now = monotonic_now();
  if (now - checked_ < kCheckInterval) return slot;
  checked_ = now;
  say_what_changed();
  if (options_.autotune && !options_.emit.empty() && tuning_.status().settled) emit_tuned(false);
  return slot;
}

void LoaderCore::emit_tuned(bool at_the_end) {
  if (options_.emit.empty()) return;
  const WorkerPool::Reading now = delivery_->reading();  // Before the lock: see mutex_.
  MutexLock lock(mutex_);
  if (last_) return;
  if (!options_.autotune) {
    emit_remark_ = "no tuned file: nothing was tuned; add --autotune (autotune = true)";
    return;
  }
  const TuningStatus status = tuning_.status();
  // At the end once more: there is more evidence by then.
  if (!at_the_end && emitted_settled_ && status.settled && status.moves == emitted_moves_) return;
  TunedOrigin origin;
  origin.pipeline = pipeline_;
  if (machine_.fingerprint.empty()) machine_ = identify_machine();
  origin.machine = machine_;
  origin.loader = now.loader;
  origin.memory = size_text(memory_.bytes);
  const WorkerPlaces::Standing places = placed_->standing();
  origin.placement_mode = to_string(places.mode);
  origin.placement_workers = places.cpus;
  origin.at = now_text();
  const std::optional<ReadCounters> reads = read_read_counters();
  if (first_reads_ && reads) origin.disk_share = disk_share(*first_reads_, *reads, kLeastRead);
  for (const StageSnapshot* stage : own_stages(now.snapshot, now.loader))
    origin.queues.push_back({stage->name, stage->queue.capacity_items});
  const std::optional<TunedFile> file = make_tuned_file(status, origin);
  if (!file) {
    emit_remark_ = status.label == "contended"
                       ? "no tuned file: other programs kept the processors busy all the time, so "
                         "that nothing could be verified; run it again on a quieter machine"
                       : "no tuned file: no allocation was verified in the time; run longer";
    return;
  }
  write_tuned_file(*file, options_.emit);
  emitted_ = options_.emit;
  emit_remark_.clear();
  emitted_settled_ = status.settled;
  emitted_moves_ = status.moves;
}

void LoaderCore::close() {
  std::optional<Error> failure;
  try {
    emit_tuned(true);
  } catch (const Error& error) {
    failure = error;
  }
  WorkerPool::Reading now = delivery_->reading();
  {
    MutexLock lock(mutex_);
    if (!last_) last_ = std::move(now);
    if (failure) emit_remark_ = failure->what();
  }
  tuning_.detach();
  delivery_->close();
  say_what_changed();
  if (failure) throw Error(*failure);
}

Summary LoaderCore::summary() const {
  Summary summary;
  summary.pipeline = options_.name;
  delivery_->fill(summary);
  summary.budget_threads = budget_.threads;
  summary.budget_source = options_.run_inline ? "inline" : std::string(to_string(budget_.source));
  summary.placed_rows = delivery_->placed_rows();
  summary.copied_rows = delivery_->copied_rows();
  const WorkerPlaces::Standing places = placed_->standing();
  summary.placement.mode = to_string(places.mode);
  summary.placement.workers = places.cpus;
  summary.placement.pinned = places.pinned;
  summary.placement.note = places.note;
  if (places.refusal) summary.placement.note = to_string(*places.refusal);
  WorkerPool::Reading now = delivery_->reading();
  MutexLock lock(mutex_);
  if (last_) now = *last_;
  const Snapshot& snapshot = now.snapshot;
  summary.budget_active = now.allocation.active;
  summary.peak_workers = now.peak_unparked;
  summary.peak_bytes = snapshot.memory_peak_bytes;
  summary.memory_bound_bytes = snapshot.memory_bound_bytes;
  if (static_cast<std::size_t>(now.loader) < snapshot.loaders.size())
    summary.reading = snapshot.loaders[static_cast<std::size_t>(now.loader)].reading;
  const double elapsed = std::max(1e-9, snapshot.time_seconds - first_.time_seconds);
  const double worked = fill_stages(summary, now, elapsed);
  fill_tuning(summary, snapshot, elapsed, worked);
  return summary;
}

double LoaderCore::fill_stages(Summary& summary, const WorkerPool::Reading& now, double elapsed) {
  double worked = 0;
  for (std::size_t i = 0; i < now.snapshot.stages.size(); ++i) {
    const StageSnapshot& from = now.snapshot.stages[i];
    if (from.loader != now.loader) continue;
    StageSummary& stage = summary.stages.emplace_back();
    stage.name = from.name;
    stage.operators = from.operators;
    stage.serial = from.serial;
    stage.running_mean = from.running_seconds / elapsed;
    stage.target = now.allocation.stages[i].target;
    stage.cap = now.allocation.stages[i].cap;
    stage.items_in = from.items_in;
    stage.items_out = from.items_out;
    stage.errors = from.errors;
    stage.items_per_second = static_cast<double>(from.items_in) / elapsed;
    stage.bytes_out = from.bytes_out;
    if (from.items_in > 0)
      stage.service_time.mean_seconds = from.slot_seconds / static_cast<double>(from.items_in);
    stage.service_time.p50_seconds = from.service_times.quantile_seconds(0.5);
    stage.service_time.p95_seconds = from.service_times.quantile_seconds(0.95);
    stage.service_time.p99_seconds = from.service_times.quantile_seconds(0.99);
    stage.wait_input_share = std::min(1.0, from.wait_input_seconds / elapsed);
    stage.wait_output_share = std::min(1.0, from.wait_output_seconds / elapsed);
    stage.cpu_user_seconds = from.cpu_user_seconds;
    stage.cpu_system_seconds = from.cpu_system_seconds;
    const double cpu = from.cpu_user_seconds + from.cpu_system_seconds;
    if (cpu + from.run_queue_seconds > 0)
      stage.cpu_wait_share = from.run_queue_seconds / (cpu + from.run_queue_seconds);
    if (from.slot_seconds > 0)
      stage.blocked_share =
          std::clamp(1.0 - (cpu + from.run_queue_seconds) / from.slot_seconds, 0.0, 1.0);
    stage.queue_capacity_items = from.queue.capacity_items;
    stage.queue_mean_items = from.queue.item_seconds / elapsed;
    stage.queue_low_items = from.queue.low_items;
    stage.queue_high_items = from.queue.high_items;
    stage.queue_empty_share = std::min(1.0, from.queue.empty_seconds / elapsed);
    stage.queue_full_share = std::min(1.0, from.queue.full_seconds / elapsed);
    worked += from.slot_seconds - from.run_queue_seconds;
  }
  return worked;
}

void LoaderCore::fill_tuning(Summary& summary, const Snapshot& snapshot, double elapsed,
                             double worked) const {
  TuningSummary& tuning = summary.tuning;
  tuning.autotune = options_.autotune;
  tuning.strict = options_.strict;
  tuning.emitted = emitted_;
  tuning.emit_remark = emit_remark_;
  tuning.active_mean = (snapshot.unparked_seconds - first_.unparked_seconds) / elapsed;
  tuning.last_half_active_mean = tuning.active_mean;
  tuning.needed_workers = static_cast<int>(std::ceil(worked / elapsed - 1e-3));
  tuning.policy = options_.strict ? "even" : "share";
  if (tuned_plan_ && tuned_plan_->allocation) tuning.policy = "fixed";
  tuning.label = summary.wait_share <= 0.02 ? "consumer" : "none";
  if (!options_.autotune) return;
  const TuningStatus status = tuning_.status();
  tuning.policy = status.policy;
  tuning.moves = status.moves;
  tuning.settled = status.settled;
  tuning.settle_seconds = status.settle_seconds;
  tuning.label = status.label;
  tuning.label_shares = status.label_shares;
  tuning.cpu_wait_share = status.host.cpu_wait_share;
  tuning.switches_per_cpu_second = status.host.switches_per_cpu_second;
  tuning.throttled_share = status.host.throttled_share;
  tuning.others_cores = status.host.others_cores;
  tuning.idle_cores = status.host.idle_cores;
  tuning.cpu_pressure = status.host.cpu_pressure;
  tuning.contended_shares = status.host.contended_shares;
  for (StageSummary& stage : summary.stages)
    if (const auto hint = status.host.hints.find(stage.name); hint != status.host.hints.end())
      stage.hint = hint->second;
  tuning.active_mean = status.active_mean;
  tuning.last_half_active_mean = status.last_half_active_mean;
  if (status.needed_workers > 0) tuning.needed_workers = status.needed_workers;
}

void LoaderCore::say(const std::string& text) {
  {
    MutexLock lock(mutex_);
    remarks_.push_back(text);
  }
  if (options_.say) options_.say(text);
}

void LoaderCore::say_once(const std::string& text) {
  {
    MutexLock lock(mutex_);
    if (std::find(remarks_.begin(), remarks_.end(), text) != remarks_.end()) return;
  }
  say(text);
}

void LoaderCore::say_what_changed() {
  std::vector<std::string> news;
  {
    MutexLock lock(mutex_);
    news = placed_->remarks_since(pool_remarks_);
  }
  for (const std::string& text : news) say(text);
}

std::vector<std::string> LoaderCore::remarks() const {
  MutexLock lock(mutex_);
  return remarks_;
}

Position LoaderCore::position() const {
  if (options_.order == Order::any)
    throw Error(ErrorKind::usage, options_.name,
                "order: any has no position; use order: input to save and resume");
  return delivery_->position();
}

void LoaderCore::set_allocation(const Allocation& allocation) {
  for (std::size_t i = 0; i < allocation.stages.size(); ++i) {
    const StageAllocation& stage = allocation.stages[i];
    if (!std::isfinite(stage.target) || stage.target < 0)
      throw Error(ErrorKind::usage, options_.name,
                  fmt::format("the target of stage {} is {}; use 0 or more", i, stage.target));
    if (stage.depth_items < 0 || stage.packet_items < 0)
      throw Error(ErrorKind::usage, options_.name,
                  fmt::format("depth and packet of stage {} are {} and {} items; use 0 (by the "
                              "runtime's rule) or more",
                              i, stage.depth_items, stage.packet_items));
  }
  Allocation next = allocation;
  const Allocation now = placed_->workers().allocation();
  if (next.structure == 0) next.structure = now.structure;
  if (!placed_->workers().apply(next))
    throw Error(
        ErrorKind::usage, options_.name,
        fmt::format("an allocation of {} stages for a pool of {}; take allocation(), change "
                    "it and set it, while no other loader comes or goes",
                    allocation.stages.size(), now.stages.size()));
}

}  // namespace weir::detail
