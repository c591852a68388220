#include "src/live_scenario.hpp"

#include <weir/error.hpp>
#include <weir/loader.hpp>
#include <weir/random.hpp>
#include <weir/sources.hpp>

#include "machine/precise_sleep.hpp"
#include "src/live_stage.hpp"
#include "tuner/simulated_flow.hpp"
#include "tuner/timetable.hpp"
#include "tuner/trial_record.hpp"
#include "tuner/trial_start.hpp"
#include "tuner/tuner.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <exception>
#include <limits>
#include <memory>
#include <set>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

namespace weir::detail {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kLeastWaitSeconds = 4e-3;
constexpr double kMostDurationSeconds = 60;
constexpr double kReadingSeconds = 0.05;
constexpr double kPunctualSeconds = 2e-3;  // a call within it is on time
constexpr int kSimulations = 5;
constexpr std::uint64_t kManyItems = std::uint64_t{1} << 40U;

struct LiveItem {
  std::size_t bytes = 0;
};
std::size_t bytes_of(const LiveItem& item) { return item.bytes; }

using Gathered = Collated<LiveItem>;
using LiveStream = std::variant<Stream<LiveItem>, Stream<Gathered>>;

[[noreturn]] void refuse(const Scenario& scenario, const std::string& why) {
  throw Error(ErrorKind::cannot, scenario.file.empty() ? scenario.name : scenario.file,
              "timed waits cannot stand in for " + why + "; run it without --live");
}

void refuse_what_waits_cannot(const Scenario& scenario) {
  if (!scenario.live) refuse(scenario, "this scenario (it says `live: false`)");
  if (scenario.processes.size() > 1) refuse(scenario, "several processes");
  if (scenario.quota_cpus > 0) refuse(scenario, "a quota");
  if (scenario.processes.front().source.per_second > 0) refuse(scenario, "a source with a rate");
  for (const ScenarioEvent& event : scenario.events) {
    if (event.cores_taken) refuse(scenario, "cores that neighbours take");
    if (event.workers) refuse(scenario, "a budget that changes");
    if (event.source) refuse(scenario, "a source with a rate");
    if (event.changes.count(StageField::batch) > 0) refuse(scenario, "a batch size that changes");
  }
}

/// `scenario` with all times slower so that the shortest wait can be kept to.
Scenario slowed(const Scenario& scenario, double& scale) {
  double shortest = std::numeric_limits<double>::infinity();
  for (const ScenarioStage& stage : scenario.processes.front().stages)
    shortest = std::min(shortest, stage.seconds);
  for (const ScenarioEvent& event : scenario.events)
    if (event.changes.count(StageField::seconds) > 0)
      shortest = std::min(shortest, event.changes.at(StageField::seconds));
  scale = shortest > 0 ? std::max(1.0, kLeastWaitSeconds / shortest) : 1.0;
  const double longer = std::clamp(kMostDurationSeconds / scenario.duration_seconds, 1.0, scale);
  Scenario result = scenario;
  result.cores = 0;
  result.duration_seconds *= longer;
  const auto slow = [&](ScenarioFlow& flow) {
    flow.per_second /= scale;
    flow.period_seconds *= scale;
  };
  slow(result.processes.front().consumer);
  for (ScenarioStage& stage : result.processes.front().stages) {
    stage.seconds *= scale;
    stage.kind = ScenarioStage::Kind::wait;
  }
  for (ScenarioEvent& event : result.events) {
    event.at_seconds *= longer;
    event.until_seconds *= longer;
    event.over_seconds *= longer;
    if (event.changes.count(StageField::seconds) > 0) event.changes[StageField::seconds] *= scale;
    if (event.consumer) slow(*event.consumer);
  }
  return result;
}

/// The scenario's stages as waits, and the stream through them.
class LiveLine {
 public:
  LiveLine(const Scenario& scenario, int workers, std::uint64_t seed) : crew_(workers) {
    const std::vector<ScenarioStage>& stages = scenario.processes.front().stages;
    for (std::size_t i = 0; i < stages.size(); ++i)
      stages_.push_back(
          std::make_unique<LiveStage>(stages[i], crew_, mix_bits(seed + 0x100 * (i + 1))));
    std::set<int> filters;
    for (const ScenarioEvent& event : scenario.events)
      if (event.changes.count(StageField::keep) > 0) filters.insert(event.stage);
    for (std::size_t i = 0; i < stages.size(); ++i) {
      const bool filter = stages[i].keep < 1 || filters.count(static_cast<int>(i)) > 0;
      if (int{filter} + int{stages[i].split > 1} + int{stages[i].batch > 1} > 1)
        refuse(scenario, "a stage that does two of keep, split and batch");
      stream_ = std::visit(
          [&](const auto& front) { return appended(front, stages[i], *stages_[i], filter); },
          stream_);
    }
  }

  [[nodiscard]] const LiveStream& stream() const { return stream_; }
  [[nodiscard]] LiveStage& stage(std::size_t i) { return *stages_[i]; }
  [[nodiscard]] LiveCrew& crew() { return crew_; }

 private:
  template <class T>
  static LiveStream appended(const Stream<T>& front, const ScenarioStage& is, LiveStage& stage,
                             bool filter) {
    StageOptions options;
    options.name = is.name;
    options.workers = is.fixed_workers;
    options.cap = is.hand_cap;
    options.serial = is.serial;
    options.queue = is.depth;
    if (is.batch > 1) {
      BatchOptions batch;
      batch.stage = options;
      return front.batch(
          static_cast<std::uint64_t>(is.batch),
          [&stage](std::vector<T>) {
            stage.serve();
            return LiveItem{stage.bytes_out()};
          },
          batch);
    }
    if (is.split > 1) {
      return front.flat_map(
          is.name,
          [&stage](T) {
            stage.serve();
            return std::vector<LiveItem>(static_cast<std::size_t>(stage.split()),
                                         LiveItem{stage.bytes_out()});
          },
          options);
    }
    if (filter) {
      return front.filter(
          is.name,
          [&stage](const T&) {
            stage.serve();
            return stage.keeps();
          },
          options);
    }
    return front.map(
        is.name,
        [&stage](T item) {
          stage.serve();
          set_bytes(item, stage.bytes_out());
          return item;
        },
        options);
  }
  static void set_bytes(LiveItem& item, std::size_t bytes) { item.bytes = bytes; }
  static void set_bytes(Gathered& item, std::size_t bytes) { item.value().bytes = bytes; }

  LiveCrew crew_;
  std::vector<std::unique_ptr<LiveStage>> stages_;
  LiveStream stream_ = indexed("items", kManyItems, [](std::uint64_t) { return LiveItem{}; });
};

/// A running loader as a plant.
class LoaderPlant final : public Plant {
 public:
  explicit LoaderPlant(LoaderBase& loader) : loader_(loader) {}
  [[nodiscard]] Snapshot snapshot() const override { return loader_.telemetry(); }
  [[nodiscard]] Allocation allocation() const override { return loader_.allocation(); }
  [[nodiscard]] bool apply(const Allocation& allocation) override {
    loader_.set_allocation(allocation);  // Throws for other stages; nobody else comes or goes here.
    return true;
  }

 private:
  LoaderBase& loader_;
};

/// Takes items from a loader as a flow says, on a thread of its own.
///
/// Thread safety: set_flow() from any thread.
template <class T>
class LiveConsumer {
 public:
  LiveConsumer(Loader<T>& loader, const ScenarioFlow& flow, LiveCrew& crew)
      : flow_(flow), thread_([this, &loader, &crew] { run(loader, crew); }) {}
  ~LiveConsumer() { join(); }
  LiveConsumer(const LiveConsumer&) = delete;
  LiveConsumer& operator=(const LiveConsumer&) = delete;

  void set_flow(const ScenarioFlow& flow) WEIR_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    flow_ = flow;
  }
  /// Requires: the loader is closed, or its crew told to stop. Throws what next() threw.
  void finish() {
    join();
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  }

 private:
  void join() {
    if (thread_.joinable()) thread_.join();
  }
  [[nodiscard]] ScenarioFlow flow() const WEIR_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    return flow_;
  }

  void run(Loader<T>& loader, const LiveCrew& crew) {
    (void)use_smallest_timer_slack();  // Where the kernel refuses, the rate shows it.
    const Clock::time_point began = Clock::now();
    const auto seconds = [&] {
      return std::chrono::duration<double>(Clock::now() - began).count();
    };
    double due = 0;  // of the last call
    try {
      while (!crew.stopped()) {
        if (!loader.next()) return;
        const ScenarioFlow now = flow();
        if (now.per_second <= 0) continue;
        // From the time at which it was due, so that being woken late does not add up.
        const double late = seconds() - due;
        due =
            next_flowing(now, due + (late < kPunctualSeconds ? 0.0 : late) + seconds_between(now));
        const Clock::time_point deadline =
            began + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(due));
        while (!crew.stopped() && Clock::now() < deadline)
          sleep_until(std::min(deadline, Clock::now() + std::chrono::milliseconds(100)));
      }
    } catch (...) {
      failure_ = std::current_exception();
    }
  }

  mutable Mutex mutex_;
  ScenarioFlow flow_ WEIR_GUARDED_BY(mutex_);
  std::exception_ptr failure_;  // the consumer thread's until it is joined
  std::thread thread_;
};

/// Drives a run in real time: events at their time, the tuner's looks, readings in between.
class LiveRun {
 public:
  LiveRun(LoaderBase& loader, LiveLine& line, const Timetable& timetable,
          const TuningOptions& tuning)
      : loader_(loader),
        line_(line),
        timetable_(timetable),
        plant_(loader),
        tuner_(plant_, tuning) {
    process_.given_start = tuning.start.has_value();
    tuner_.watch([this](const TunerLook& look) {
      note_look(look, plant_.allocation(), seconds(), process_.looks);
    });
  }

  template <class SetFlow>
  void go(const SetFlow& set_flow) {
    (void)use_smallest_timer_slack();
    const std::vector<double>& steps = timetable_.steps();
    const double end = timetable_.duration_seconds();
    std::size_t step = 0;
    double next_look = 0;
    double next_reading = 0;
    read();
    for (double now = seconds(); now < end; now = seconds()) {
      if (step < steps.size() && now >= steps[step]) {
        const Conditions next = timetable_.at(steps[step++]);
        for (std::size_t i = 0; i < next.processes.front().stages.size(); ++i)
          line_.stage(i).set(next.processes.front().stages[i]);
        set_flow(next.processes.front().consumer);
        continue;
      }
      if (now >= next_reading) {
        read();
        next_reading = now + kReadingSeconds;
      }
      if (now >= next_look) {
        const double wait = tuner_.step();
        next_look = wait < 0 ? end : seconds() + wait;
      }
      double next = std::min({next_reading, next_look, end});
      if (step < steps.size()) next = std::min(next, steps[step]);
      sleep_until(began_ +
                  std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(next)));
    }
    read();
  }

  [[nodiscard]] ProcessRecord finished(double used_since) {
    process_.status = tuner_.status();
    const Snapshot last = loader_.telemetry();
    process_.peak_bytes = static_cast<double>(last.memory_peak_bytes);
    process_.budget_violations = line_.crew().violations();
    const int used =
        line_.crew().used_since(began_ + std::chrono::duration_cast<Clock::duration>(
                                             std::chrono::duration<double>(used_since)));
    process_.last_ran_seconds.assign(static_cast<std::size_t>(used), used_since);
    return std::move(process_);
  }

 private:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(Clock::now() - began_).count();
  }
  void read() {
    const double before = seconds();
    const Snapshot snapshot = loader_.telemetry();
    TrialReading& reading = process_.readings.emplace_back();
    reading.seconds = process_.readings.size() == 1 ? 0.0 : before;
    const ConsumerSnapshot& consumer = snapshot.loaders.front().consumer;
    reading.items = static_cast<double>(consumer.items);
    reading.wait_seconds = consumer.wait_seconds;
    reading.unparked_seconds = snapshot.unparked_seconds;
  }

  LoaderBase& loader_;
  LiveLine& line_;
  const Timetable& timetable_;
  LoaderPlant plant_;
  Tuner tuner_;
  const Clock::time_point began_ = Clock::now();
  ProcessRecord process_;
};

template <class T>
ProcessRecord run_stream(const Stream<T>& stream, LiveLine& line, const Scenario& scenario,
                         const Timetable& timetable, const TrialOptions& options,
                         const TuningOptions& tuning) {
  const ScenarioProcess& process = scenario.processes.front();
  Options run;
  run.name = scenario.name;
  run.seed = options.seed;
  run.order = process.ordered ? Order::input : Order::any;
  run.fuse = Fuse::off;
  run.workers = options.workers;
  run.oversubscribe = true;
  run.nested_threads = NestedThreads::keep;
  run.strict = timetable.strict();
  if (process.memory_bytes > 0) run.memory_bytes = static_cast<std::uint64_t>(process.memory_bytes);
  Loader<T> loader = stream.start(run);
  // Whatever is thrown, waits must end before the loader can.
  struct Stop {
    LiveCrew& crew;
    ~Stop() { crew.stop(); }
  };
  LiveRun live(loader, line, timetable, tuning);
  ProcessRecord record;
  {
    LiveConsumer<T> consumer(loader, process.consumer, line.crew());
    const Stop stop{line.crew()};
    live.go([&](const ScenarioFlow& flow) { consumer.set_flow(flow); });
    record = live.finished(timetable.stretches().back().steady_seconds);
    line.crew().stop();
    consumer.finish();
  }
  return record;
}

/// The scenario with the waits that really happened.
Scenario measured(const Scenario& scenario, LiveLine& line) {
  Scenario result = scenario;
  std::vector<ScenarioStage>& stages = result.processes.front().stages;
  for (std::size_t i = 0; i < stages.size(); ++i) stages[i].seconds *= line.stage(i).stretch();
  for (ScenarioEvent& event : result.events)
    if (event.stage >= 0 && event.changes.count(StageField::seconds) > 0)
      event.changes[StageField::seconds] *=
          line.stage(static_cast<std::size_t>(event.stage)).stretch();
  return result;
}

}  // namespace

Trial run_live(const Scenario& scenario, const TrialOptions& options) {
  refuse_what_waits_cannot(scenario);
  Trial trial;
  const Scenario asked = slowed(scenario, trial.time_scale);
  const bool strict = options.strict || scenario.strict;
  const Timetable plan(asked, options.workers, strict);
  LiveLine line(asked, options.workers, options.seed);
  const TuningOptions tuning = tuning_of(asked, options, plan, 0);
  TrialRecord record;
  record.processes.push_back(std::visit(
      [&](const auto& stream) { return run_stream(stream, line, asked, plan, options, tuning); },
      line.stream()));

  const Scenario real = measured(asked, line);
  const Timetable timetable(real, options.workers, strict);
  trial.measures = measure(record, timetable);
  if (options.timeline) trial.timeline = timeline(record, timetable);
  TrialOptions simulated = options;
  simulated.timeline = false;
  simulated.log_path.clear();
  // The luck of the draws is in the waits that were measured; in the simulator it evens out.
  for (int i = 0; i < kSimulations; ++i) {
    simulated.seed = mix_bits(options.seed + static_cast<std::uint64_t>(i));
    const Measures model = simulate(real, simulated).measures;
    trial.simulated_per_second += model.steady_per_second / kSimulations;
    trial.measures.start_per_second += model.start_per_second / kSimulations;
  }
  return trial;
}

}  // namespace weir::detail
