#include "tuner/trial_record.hpp"

#include "tuner/stability.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>

namespace weir::detail {
namespace {

constexpr double kWithin = 0.05;          // of the oracle, to count as recovered
constexpr double kRecoveryItems = 100;    // in a window whose rate is judged
constexpr double kRecoverySeconds = 0.5;  // such a window at least
constexpr double kRecoverySteps = 20;     // a window is moved on by this part of it
constexpr double kLastSeconds = 3;        // over which the workers in a stage are averaged
constexpr double kMatters = 0.01;         // of the demand

/// How much `field` grew between two times, by interpolation.
double grown(const ProcessRecord& process, double TrialReading::*field, double begin, double end) {
  const std::vector<TrialReading>& readings = process.readings;
  const auto at = [&](double seconds) {
    const auto after =
        std::lower_bound(readings.begin(), readings.end(), seconds - 1e-9,
                         [](const TrialReading& r, double t) { return r.seconds < t; });
    if (after == readings.end()) return readings.empty() ? 0.0 : readings.back().*field;
    if (after == readings.begin() || after->seconds <= seconds + 1e-9) return (*after).*field;
    const TrialReading& before = *(after - 1);
    const double share = (seconds - before.seconds) / (after->seconds - before.seconds);
    return before.*field + share * ((*after).*field - before.*field);
  };
  return at(end) - at(begin);
}

double grown(const TrialRecord& record, double TrialReading::*field, double begin, double end) {
  double sum = 0;
  for (const ProcessRecord& process : record.processes) sum += grown(process, field, begin, end);
  return sum;
}

/// Integral over time of what `value` says of the oracles that hold.
template <class Value>
double integral(const Timetable& timetable, double begin, double end, Value value) {
  const std::vector<OraclePiece>& pieces = timetable.oracles();
  double sum = 0;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const double from = std::max(begin, pieces[i].from_seconds);
    const double to = i + 1 < pieces.size() ? std::min(end, pieces[i + 1].from_seconds) : end;
    if (to > from) sum += (to - from) * value(pieces[i]);
  }
  return sum;
}

/// The same over the steady time.
template <class Value>
double steady_integral(const Timetable& timetable, Value value) {
  double sum = 0;
  for (const Stretch& stretch : timetable.stretches())
    sum += integral(timetable, stretch.steady_seconds, stretch.end_seconds, value);
  return sum;
}

double steady_growth(const ProcessRecord& process, double TrialReading::*field,
                     const Timetable& timetable) {
  double sum = 0;
  for (const Stretch& stretch : timetable.stretches())
    sum += grown(process, field, stretch.steady_seconds, stretch.end_seconds);
  return sum;
}

double steady_growth(const TrialRecord& record, double TrialReading::*field,
                     const Timetable& timetable) {
  double sum = 0;
  for (const ProcessRecord& process : record.processes)
    sum += steady_growth(process, field, timetable);
  return sum;
}

double steady_seconds(const Timetable& timetable) {
  double sum = 0;
  for (const Stretch& stretch : timetable.stretches())
    sum += stretch.end_seconds - stretch.steady_seconds;
  return sum;
}

double rate_of(const Oracle& oracle, bool strict) {
  return strict ? oracle.whole_per_second : oracle.shared_per_second;
}

double rate_of(const OraclePiece& piece, bool strict) {
  double sum = 0;
  for (const Oracle& oracle : piece.processes) sum += rate_of(oracle, strict);
  return sum;
}

double workers_of(const OraclePiece& piece) {
  double sum = 0;
  for (const Oracle& oracle : piece.processes) sum += oracle.workers;
  return sum;
}

/// Items that count towards the oracle in one part of a stretch: what is taken from a neighbour
/// beyond the fair share does not make up for anything.
double counted_items(const TrialRecord& record, const Timetable& timetable, const Stretch& stretch,
                     double begin) {
  const double items = grown(record, &TrialReading::items, begin, stretch.end_seconds);
  if (stretch.cores_taken == 0) return items;
  const bool strict = timetable.strict();
  return std::min(items, integral(timetable, begin, stretch.end_seconds,
                                  [&](const OraclePiece& p) { return rate_of(p, strict); }));
}

double recovery_seconds(const TrialRecord& record, const Timetable& timetable) {
  const Stretch& last = timetable.stretches().back();
  if (timetable.stretches().size() < 2) return 0;
  const bool strict = timetable.strict();
  const double rate = rate_of(timetable.oracle_at(last.end_seconds), strict);
  const double begin = last.begin_seconds;
  const double length = last.end_seconds - begin;
  if (rate <= 0) return 0;
  double window = std::max(kRecoverySeconds, kRecoveryItems / rate);
  const Conditions now = timetable.at(last.begin_seconds);
  const double period = std::max(now.processes.front().consumer.period_seconds,
                                 now.processes.front().source.period_seconds);
  if (period > 0) window = std::ceil(window / period) * period;
  window = std::min(window, 0.5 * length);
  for (double from = begin; from + window <= last.end_seconds + 1e-9;
       from += window / kRecoverySteps)
    if (grown(record, &TrialReading::items, from, from + window) >= (1 - kWithin) * rate * window)
      return from - begin;
  return length;
}

std::string commonest_label(const ProcessRecord& process, const Timetable& timetable) {
  std::map<std::string, double> seconds;
  for (const TrialLook& look : process.looks) {
    if (!look.valid || look.first) continue;
    for (const Stretch& stretch : timetable.stretches())
      if (look.seconds > stretch.steady_seconds && look.seconds <= stretch.end_seconds)
        seconds[look.label] += look.window_seconds;
  }
  if (seconds.empty()) return "none";
  return std::max_element(seconds.begin(), seconds.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

/// Mean workers in a stage over the last looks.
double running_at_end(const ProcessRecord& process, std::size_t stage) {
  double integral = 0;
  double seconds = 0;
  for (auto look = process.looks.rbegin(); look != process.looks.rend(); ++look) {
    if (stage >= look->running.size() || seconds >= kLastSeconds) break;
    integral += look->running[stage] * look->window_seconds;
    seconds += look->window_seconds;
  }
  return seconds > 0 ? integral / seconds : 1.0;
}

/// How far the estimates of the stages that matter are from the truth.
void add_errors(const ProcessRecord& process, const ScenarioProcess& is, const Oracle& oracle,
                Measures& measures) {
  const std::vector<StageObservation>& seen = process.status.stages;
  if (seen.size() != is.stages.size()) return;
  std::vector<double> services;
  double demand = 0;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    services.push_back(true_service_seconds(is.stages[i], running_at_end(process, i)));
    demand += services[i] * oracle.visits[i];
  }
  for (std::size_t i = 0; i < seen.size(); ++i) {
    if (services[i] * oracle.visits[i] < kMatters * demand) continue;
    const StageEstimate& estimate = seen[i].estimate;
    measures.cost_error =
        std::max(measures.cost_error, std::abs(estimate.service_seconds / services[i] - 1));
    measures.visit_error =
        std::max(measures.visit_error, std::abs(estimate.visits / oracle.visits[i] - 1));
  }
}

/// Bytes that a run may hold beyond its bound: one item a worker and one batch.
double allowance_bytes(const Timetable& timetable, std::size_t process) {
  double item = 0;
  double batch = 0;
  int workers = 0;
  for (const Stretch& stretch : timetable.stretches()) {
    const double middle = 0.5 * (stretch.begin_seconds + stretch.end_seconds);
    for (const double time : {stretch.begin_seconds, middle}) {
      const Conditions now = timetable.at(time);
      workers = std::max(workers, now.workers);
      for (const ScenarioStage& stage : now.processes[process].stages) {
        double& largest = stage.batch > 1 ? batch : item;
        largest = std::max(largest, stage.bytes_out);
      }
    }
  }
  return item * workers + batch;
}

double jain_index(const TrialRecord& record, const Timetable& timetable) {
  double sum = 0;
  double squares = 0;
  const bool strict = timetable.strict();
  for (std::size_t p = 0; p < record.processes.size(); ++p) {
    const double fair = steady_integral(
        timetable, [&](const OraclePiece& piece) { return rate_of(piece.processes[p], strict); });
    const double share =
        fair > 0 ? steady_growth(record.processes[p], &TrialReading::items, timetable) / fair : 0.0;
    sum += share;
    squares += share * share;
  }
  return squares > 0 ? sum * sum / (static_cast<double>(record.processes.size()) * squares) : 1.0;
}

void add_rates(const TrialRecord& record, const Timetable& timetable, Measures& measures) {
  const bool strict = timetable.strict();
  const auto own = [&](const OraclePiece& piece) { return rate_of(piece, strict); };
  const double time = steady_seconds(timetable);
  const double end = timetable.duration_seconds();
  const double steady_oracle = steady_integral(timetable, own);
  measures.oracle_per_second = steady_oracle / time;
  measures.strict_oracle_per_second =
      steady_integral(timetable, [](const OraclePiece& piece) { return rate_of(piece, true); }) /
      time;
  measures.steady_per_second = steady_rate(record, timetable);
  double steady = 0;
  double whole = 0;
  for (const Stretch& stretch : timetable.stretches()) {
    steady += counted_items(record, timetable, stretch, stretch.steady_seconds);
    whole += counted_items(record, timetable, stretch, stretch.begin_seconds);
  }
  measures.efficiency = steady_oracle > 0 ? steady / steady_oracle : 0.0;
  const double whole_oracle = integral(timetable, 0, end, own);
  measures.efficiency_whole_run = whole_oracle > 0 ? whole / whole_oracle : 0.0;
  measures.recovery_seconds = recovery_seconds(record, timetable);
  measures.jain = jain_index(record, timetable);
}

void add_workers(const TrialRecord& record, const Timetable& timetable, Measures& measures) {
  const double time = steady_seconds(timetable);
  measures.unparked_mean = steady_growth(record, &TrialReading::unparked_seconds, timetable) / time;
  const Stretch& last = timetable.stretches().back();
  for (const ProcessRecord& process : record.processes) {
    measures.workers_used += static_cast<double>(
        std::count_if(process.last_ran_seconds.begin(), process.last_ran_seconds.end(),
                      [&](double seconds) { return seconds >= last.steady_seconds; }));
    measures.budget_violations += process.budget_violations;
    measures.consumer_wait_share =
        std::max(measures.consumer_wait_share,
                 steady_growth(process, &TrialReading::wait_seconds, timetable) / time);
    for (const TrialLook& look : process.looks)
      measures.wanted_excess = std::max(measures.wanted_excess, look.wanted_excess);
  }
  measures.oracle_workers = steady_integral(timetable, workers_of) / time;
  measures.last_oracle_workers = workers_of(timetable.oracle_at(last.end_seconds));
}

void add_costs(const TrialRecord& record, const Timetable& timetable, Measures& measures) {
  double least_cpu = 0;
  for (std::size_t p = 0; p < record.processes.size(); ++p) {
    const ProcessRecord& process = record.processes[p];
    for (const Stretch& stretch : timetable.stretches())
      least_cpu +=
          grown(process, &TrialReading::items, stretch.steady_seconds, stretch.end_seconds) *
          timetable.oracle_at(stretch.steady_seconds).processes[p].cpu_seconds_per_item;
    const double bound = timetable.at(0).processes[p].memory_bytes;
    if (bound > 0)
      measures.peak_bytes_share =
          std::max(measures.peak_bytes_share,
                   std::max(0.0, process.peak_bytes - allowance_bytes(timetable, p)) / bound);
    add_errors(process, timetable.at(timetable.duration_seconds()).processes[p],
               timetable.oracle_at(timetable.duration_seconds()).processes[p], measures);
  }
  if (least_cpu > 0)
    measures.cpu_share = steady_growth(record, &TrialReading::cpu_seconds, timetable) / least_cpu;
  const ProcessRecord& first = record.processes.front();
  const double periods = steady_growth(first, &TrialReading::quota_periods, timetable);
  if (periods > 0)
    measures.throttled_share =
        steady_growth(first, &TrialReading::throttled_periods, timetable) / periods;
}

/// Workers that an allocation would have in packets at once.
double wish_of(const Allocation& wanted) {
  double wish = wanted.active;
  if (!wanted.strict && wanted.helping) return wish;
  double sum = 0;
  for (const int workers : wanted.groups) sum += workers;
  for (const StageAllocation& stage : wanted.stages)
    if (stage.group < 0) sum += std::ceil(stage.target);
  return std::max(wish, sum);
}

}  // namespace

bool same_workers(const Allocation& a, const Allocation& b) {
  if (a.active != b.active || a.strict != b.strict || a.helping != b.helping ||
      a.stay_slack != b.stay_slack || a.groups != b.groups || a.stages.size() != b.stages.size())
    return false;
  for (std::size_t i = 0; i < a.stages.size(); ++i)
    if (a.stages[i].target != b.stages[i].target || a.stages[i].cap != b.stages[i].cap ||
        a.stages[i].group != b.stages[i].group)
      return false;
  return true;
}

void note_look(const TunerLook& look, const Allocation& in_force, double seconds,
               std::vector<TrialLook>& looks) {
  TrialLook noted;
  noted.seconds = seconds;
  noted.window_seconds = look.seen.window_seconds;
  noted.kind = look.decision.kind;
  noted.first = looks.empty();
  noted.valid = look.seen.valid;
  noted.label = look.seen.label;
  if (look.decision.allocation)
    noted.wanted_excess =
        std::max(0.0, wish_of(*look.decision.allocation) - double(look.seen.budget));
  noted.changed = looks.empty() || !same_workers(looks.back().allocation, in_force);
  noted.allocation = in_force;
  for (const StageObservation& stage : look.seen.stages)
    noted.running.push_back(stage.running_mean);
  looks.push_back(std::move(noted));
}

double steady_rate(const TrialRecord& record, const Timetable& timetable) {
  return steady_growth(record, &TrialReading::items, timetable) / steady_seconds(timetable);
}

Measures measure(const TrialRecord& record, const Timetable& timetable) {
  Measures measures;
  add_rates(record, timetable, measures);
  add_workers(record, timetable, measures);
  add_costs(record, timetable, measures);
  const ProcessRecord& first = record.processes.front();
  measures.label = commonest_label(first, timetable);
  for (std::size_t p = 0; p < record.processes.size(); ++p) {
    const Stability own =
        judge_stability(record.processes[p].looks, timetable, record.processes[p].given_start);
    measures.settle_seconds = std::max(measures.settle_seconds, own.settle_seconds);
    measures.moves = std::max(measures.moves, own.moves);
    measures.moves_after_settling =
        std::max(measures.moves_after_settling, own.moves_after_settling);
    measures.probes = std::max(measures.probes, own.probes);
    measures.reversals_per_minute =
        std::max(measures.reversals_per_minute, own.reversals_per_minute);
    if (p == 0) measures.reaction_seconds = own.reaction_seconds;
  }
  return measures;
}

std::vector<TimelinePoint> timeline(const TrialRecord& record, const Timetable& timetable) {
  std::vector<TimelinePoint> points;
  const ProcessRecord& first = record.processes.front();
  double before = 0;
  for (const TrialLook& look : first.looks) {
    TimelinePoint& point = points.emplace_back();
    point.seconds = look.seconds;
    if (look.seconds > before)
      point.per_second =
          grown(record, &TrialReading::items, before, look.seconds) / (look.seconds - before);
    point.oracle_per_second = rate_of(timetable.oracle_at(look.seconds), timetable.strict());
    point.active = look.allocation.active;
    for (const StageAllocation& stage : look.allocation.stages)
      point.targets.push_back(stage.target);
    point.running = look.running;
    point.label = look.label;
    before = look.seconds;
  }
  return points;
}

}  // namespace weir::detail
