#include "tuner/simulation.hpp"

#include <weir/random.hpp>

#include "tuner/simulated_machine.hpp"
#include "tuner/simulated_plant.hpp"
#include "tuner/timetable.hpp"
#include "tuner/trial_record.hpp"
#include "tuner/trial_start.hpp"
#include "tuner/tuner.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

namespace weir::detail {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr double kReadingSeconds = 0.05;  // after the last event, to see when the rate is back
constexpr int kMostReadings = 1000;

/// One run in virtual time: the machine, its processes, and a tuner for each where there is one.
///
/// Thread safety: none.
class Run {
 public:
  Run(const Scenario& scenario, const TrialOptions& options, const Timetable& timetable)
      : scenario_(scenario),
        timetable_(timetable),
        now_(timetable.at(0)),
        machine_(timetable.cores(), scenario.quota_cpus) {
    machine_.set_cores_taken(now_.cores_taken);
    record_.processes.resize(now_.processes.size());
    for (std::size_t p = 0; p < now_.processes.size(); ++p)
      plants_.push_back(&machine_.add(now_.processes[p], now_.workers,
                                      mix_bits(options.seed + 0x10000 * (p + 1))));
    find_reading_times();
  }

  /// Lets tuners at the processes.
  TrialRecord tuned(const TrialOptions& options) {
    for (std::size_t p = 0; p < plants_.size(); ++p) {
      const TuningOptions tuning = tuning_of(scenario_, options, timetable_, static_cast<int>(p));
      record_.processes[p].given_start = tuning.start.has_value();
      tuners_.push_back(std::make_unique<Tuner>(*plants_[p], tuning));
      SimulatedPlant* const plant = plants_[p];
      std::vector<TrialLook>* const looks = &record_.processes[p].looks;
      tuners_.back()->watch([this, plant, looks](const TunerLook& look) {
        note_look(look, plant->allocation(), machine_.now(), *looks);
      });
    }
    next_looks_.assign(tuners_.size(), 0.0);
    return go();
  }

  /// Holds one allocation a process.
  TrialRecord held(const std::vector<Allocation>& allocations) {
    for (std::size_t p = 0; p < plants_.size(); ++p) {
      Allocation own = allocations[p];
      own.structure = plants_[p]->snapshot().structure;
      (void)plants_[p]->apply(own);  // False only for other stages, and these are the same.
    }
    return go();
  }

 private:
  void find_reading_times() {
    const double end = timetable_.duration_seconds();
    for (const Stretch& stretch : timetable_.stretches()) {
      readings_.push_back(stretch.begin_seconds);
      readings_.push_back(stretch.steady_seconds);
    }
    if (timetable_.stretches().size() > 1) {
      const double begin = timetable_.stretches().back().begin_seconds;
      const double step = std::max(kReadingSeconds, (end - begin) / kMostReadings);
      for (double time = begin + step; time < end; time += step) readings_.push_back(time);
    }
    readings_.push_back(end);
    std::sort(readings_.begin(), readings_.end());
  }

  void read() {
    for (std::size_t p = 0; p < plants_.size(); ++p) {
      std::vector<TrialReading>& readings = record_.processes[p].readings;
      if (!readings.empty() && readings.back().seconds >= machine_.now()) continue;
      const Snapshot snapshot = plants_[p]->snapshot();
      TrialReading& reading = readings.emplace_back();
      reading.seconds = machine_.now();
      const ConsumerSnapshot& consumer = snapshot.loaders.front().consumer;
      reading.items = static_cast<double>(consumer.items);
      reading.wait_seconds = consumer.wait_seconds;
      reading.unparked_seconds = snapshot.unparked_seconds;
      reading.cpu_seconds = plants_[p]->cpu_seconds();
      reading.quota_periods = static_cast<double>(machine_.quota_periods());
      reading.throttled_periods = static_cast<double>(machine_.throttled_quota_periods());
    }
  }

  /// Lets what the timetable says hold from now on.
  void change() {
    Conditions next = timetable_.at(machine_.now());
    if (next.cores_taken != now_.cores_taken) machine_.set_cores_taken(next.cores_taken);
    // Only the first process has events; what did not change is set again, which changes nothing.
    for (std::size_t i = 0; i < next.processes.front().stages.size(); ++i)
      plants_.front()->set_stage(static_cast<int>(i), next.processes.front().stages[i]);
    if (!same(next.processes.front().consumer, now_.processes.front().consumer))
      plants_.front()->set_consumer(next.processes.front().consumer);
    if (!same(next.processes.front().source, now_.processes.front().source))
      plants_.front()->set_source(next.processes.front().source);
    if (next.workers != now_.workers)
      for (SimulatedPlant* plant : plants_) plant->set_workers(next.workers);
    now_ = std::move(next);
  }

  static bool same(const ScenarioFlow& a, const ScenarioFlow& b) {
    return a.per_second == b.per_second && a.period_seconds == b.period_seconds && a.duty == b.duty;
  }

  /// Changes come before looks of the same time, and readings before both.
  TrialRecord go() {
    const std::vector<double>& steps = timetable_.steps();
    std::size_t step = 0;
    std::size_t reading = 0;
    while (reading < readings_.size()) {
      double next = readings_[reading];
      if (step < steps.size()) next = std::min(next, steps[step]);
      for (const double look : next_looks_) next = std::min(next, look);
      if (next > machine_.now()) machine_.advance_to(next);
      if (next >= readings_[reading]) {
        read();
        while (reading < readings_.size() && readings_[reading] <= next) ++reading;
      }
      if (step < steps.size() && next >= steps[step]) {
        change();
        ++step;
      }
      for (std::size_t p = 0; p < tuners_.size(); ++p) {
        if (next < next_looks_[p]) continue;
        read();
        const double wait = tuners_[p]->step();
        next_looks_[p] = wait < 0 ? kNever : next + wait;
      }
    }
    for (std::size_t p = 0; p < plants_.size(); ++p) finish(record_.processes[p], p);
    return std::move(record_);
  }

  void finish(ProcessRecord& process, std::size_t p) {
    if (p < tuners_.size()) process.status = tuners_[p]->status();
    process.budget_violations = plants_[p]->budget_violations();
    process.peak_bytes = plants_[p]->peak_bytes();
    process.last_ran_seconds = plants_[p]->last_ran_seconds();
  }

  const Scenario& scenario_;
  const Timetable& timetable_;
  Conditions now_;
  SimulatedMachine machine_;
  std::vector<SimulatedPlant*> plants_;
  std::vector<std::unique_ptr<Tuner>> tuners_;
  std::vector<double> next_looks_;
  std::vector<double> readings_;  // times, ascending
  TrialRecord record_;
};

/// What the first allocation of a trial would have given.
double start_rate(const Scenario& scenario, const TrialOptions& options, const Timetable& timetable,
                  const TrialRecord& record) {
  std::vector<Allocation> first;
  bool changed = false;
  for (const ProcessRecord& process : record.processes) {
    first.push_back(process.looks.front().allocation);
    for (std::size_t i = 1; i < process.looks.size(); ++i)
      changed = changed || process.looks[i].changed;
  }
  if (!changed) return steady_rate(record, timetable);
  return steady_rate(Run(scenario, options, timetable).held(first), timetable);
}

}  // namespace

Trial simulate(const Scenario& scenario, const TrialOptions& options) {
  const Timetable timetable(scenario, options.workers, options.strict || scenario.strict);
  const TrialRecord record = Run(scenario, options, timetable).tuned(options);
  Trial trial;
  trial.measures = measure(record, timetable);
  trial.measures.start_per_second = start_rate(scenario, options, timetable, record);
  if (options.timeline) trial.timeline = timeline(record, timetable);
  return trial;
}

}  // namespace weir::detail
