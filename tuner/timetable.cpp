#include "tuner/timetable.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace weir::detail {
namespace {

constexpr double kRampStepSeconds = 0.1;
constexpr double kLeastRampSteps = 20;
constexpr double kMostRampSteps = 100;
constexpr double kSameTime = 1e-9;

std::size_t index(int i) { return static_cast<std::size_t>(i); }

double ramp_steps(const ScenarioEvent& event) {
  return std::clamp(std::ceil(event.over_seconds / kRampStepSeconds), kLeastRampSteps,
                    kMostRampSteps);
}

/// How far a value has gone at `seconds`: the middle of the small step that holds then.
double progress(const ScenarioEvent& event, double seconds) {
  if (event.over_seconds <= 0 || seconds >= event.at_seconds + event.over_seconds - kSameTime)
    return 1;
  const double steps = ramp_steps(event);
  const double gone = (seconds - event.at_seconds) / event.over_seconds * steps;
  return (std::floor(gone + 1e-6) + 0.5) / steps;
}

void change(ScenarioStage& stage, StageField field, double to, double share) {
  const auto towards = [&](double from) { return std::lerp(from, to, share); };
  const auto whole = [&](int from) {
    return static_cast<int>(std::lround(towards(static_cast<double>(from))));
  };
  switch (field) {
    case StageField::seconds:
      stage.seconds = towards(stage.seconds);
      break;
    case StageField::cv:
      stage.cv = towards(stage.cv);
      break;
    case StageField::keep:
      stage.keep = towards(stage.keep);
      break;
    case StageField::limit:
      stage.limit = stage.limit > 0 ? whole(stage.limit) : static_cast<int>(to);
      break;
    case StageField::batch:
      stage.batch = whole(stage.batch);
      break;
    case StageField::bytes_out:
      stage.bytes_out = towards(stage.bytes_out);
      break;
  }
}

int within_quota(int workers, double quota_cpus) {
  if (quota_cpus <= 0) return std::max(1, workers);
  return std::clamp(static_cast<int>(std::floor(quota_cpus + kSameTime)), 1, std::max(1, workers));
}

/// The cores of each process: nobody gets more than it can use, and what is left goes to those who
/// have least.
std::vector<double> fair_cores(const Conditions& now, double cores, bool strict) {
  const std::size_t count = now.processes.size();
  if (count == 1) return {cores};
  std::vector<double> needs;
  for (const ScenarioProcess& process : now.processes) {
    const Oracle alone = find_oracle(process, now.workers, cores, strict);
    needs.push_back((strict ? alone.whole_per_second : alone.shared_per_second) *
                    alone.cpu_seconds_per_item);
  }
  std::vector<double> given(count, 0.0);
  std::vector<bool> filled(count, false);
  double left = cores;
  for (std::size_t round = 0; round < count; ++round) {
    const auto hungry = static_cast<double>(std::count(filled.begin(), filled.end(), false));
    if (hungry == 0) break;
    const double share = left / hungry;
    bool some = false;
    for (std::size_t p = 0; p < count; ++p)
      if (!filled[p] && needs[p] <= share) {
        given[p] = needs[p];
        left -= needs[p];
        filled[p] = some = true;
      }
    if (some) continue;
    for (std::size_t p = 0; p < count; ++p)
      if (!filled[p]) given[p] = share;
    return given;
  }
  // Everybody has what it needs: the rest does no harm.
  for (double& own : given) own += left / static_cast<double>(count);
  return given;
}

}  // namespace

Timetable::Timetable(const Scenario& scenario, int workers, bool strict)
    : scenario_(scenario),
      workers_(workers),
      cores_(scenario.cores > 0 ? scenario.cores : workers),
      strict_(strict) {
  find_steps();
  find_stretches();
  find_oracles();
}

Conditions Timetable::at(double seconds) const {
  Conditions now;
  now.processes = scenario_.processes;
  int workers = workers_;
  for (const ScenarioEvent& event : scenario_.events) {
    if (seconds < event.at_seconds - kSameTime || seconds >= event.until_seconds - kSameTime)
      continue;
    ScenarioProcess& first = now.processes.front();
    if (event.stage >= 0)
      for (const auto& [field, to] : event.changes)
        change(first.stages[index(event.stage)], field, to, progress(event, seconds));
    if (event.cores_taken) now.cores_taken = *event.cores_taken;
    if (event.workers) workers = *event.workers;
    if (event.consumer) first.consumer = *event.consumer;
    if (event.source) first.source = *event.source;
  }
  now.workers = within_quota(workers, scenario_.quota_cpus);
  return now;
}

void Timetable::find_steps() {
  for (const ScenarioEvent& event : scenario_.events) {
    steps_.push_back(event.at_seconds);
    if (std::isfinite(event.until_seconds)) steps_.push_back(event.until_seconds);
    if (event.over_seconds <= 0) continue;
    const double steps = ramp_steps(event);
    for (double k = 1; k <= steps; ++k) {
      const double time = event.at_seconds + event.over_seconds * k / steps;
      if (time < event.until_seconds) steps_.push_back(time);
    }
  }
  std::sort(steps_.begin(), steps_.end());
  const double end = scenario_.duration_seconds;
  steps_.erase(std::remove_if(steps_.begin(), steps_.end(),
                              [&](double t) { return t <= kSameTime || t >= end - kSameTime; }),
               steps_.end());
  steps_.erase(std::unique(steps_.begin(), steps_.end(),
                           [](double a, double b) { return b - a <= kSameTime; }),
               steps_.end());
}

void Timetable::find_stretches() {
  struct Border {
    double seconds;
    bool by_event;
  };
  std::vector<Border> borders{{0, false}};
  for (const ScenarioEvent& event : scenario_.events) {
    borders.push_back({event.at_seconds, true});
    if (event.over_seconds > 0) borders.push_back({event.at_seconds + event.over_seconds, false});
    if (std::isfinite(event.until_seconds)) borders.push_back({event.until_seconds, true});
  }
  std::stable_sort(borders.begin(), borders.end(),
                   [](const Border& a, const Border& b) { return a.seconds < b.seconds; });
  const double end = scenario_.duration_seconds;
  for (const Border& border : borders) {
    if (border.seconds >= end - kSameTime) break;
    if (!stretches_.empty() && border.seconds - stretches_.back().begin_seconds <= kSameTime) {
      stretches_.back().by_event = stretches_.back().by_event || border.by_event;
      continue;
    }
    if (!stretches_.empty()) stretches_.back().end_seconds = border.seconds;
    Stretch& next = stretches_.emplace_back();
    next.begin_seconds = border.seconds;
    next.by_event = border.by_event;
  }
  stretches_.back().end_seconds = end;
  for (Stretch& stretch : stretches_) {
    const Conditions now = at(stretch.begin_seconds);
    const double middle = 0.5 * (stretch.begin_seconds + stretch.end_seconds);
    stretch.cores_taken = now.cores_taken;
    for (const ScenarioEvent& event : scenario_.events)
      stretch.ramping = stretch.ramping || (event.over_seconds > 0 && middle >= event.at_seconds &&
                                            middle < event.at_seconds + event.over_seconds &&
                                            middle < event.until_seconds);
    const double period = std::max(now.processes.front().consumer.period_seconds,
                                   now.processes.front().source.period_seconds);
    double steady = stretch.end_seconds - middle;
    if (period > 0 && steady >= period) steady = std::floor(steady / period + 1e-6) * period;
    stretch.steady_seconds = stretch.end_seconds - steady;
  }
}

double Timetable::cores_left(const Conditions& now) const {
  double left = cores_ - now.cores_taken;
  // Neighbours on every core leave what the kernel gives one thread beside them.
  if (now.cores_taken > 0) left = std::max(left, cores_ / (1.0 + now.cores_taken));
  if (scenario_.quota_cpus > 0) left = std::min(left, scenario_.quota_cpus);
  return left;
}

double Timetable::cores_left(double seconds) const { return cores_left(at(seconds)); }

void Timetable::find_oracles() {
  std::vector<double> times{0};
  times.insert(times.end(), steps_.begin(), steps_.end());
  for (const double time : times) {
    const Conditions now = at(time);
    const std::vector<double> cores = fair_cores(now, cores_left(now), strict_);
    OraclePiece& piece = oracles_.emplace_back();
    piece.from_seconds = time;
    for (std::size_t p = 0; p < now.processes.size(); ++p)
      piece.processes.push_back(find_oracle(now.processes[p], now.workers, cores[p], strict_));
  }
}

const OraclePiece& Timetable::oracle_at(double seconds) const {
  std::size_t i = 0;
  while (i + 1 < oracles_.size() && oracles_[i + 1].from_seconds <= seconds + kSameTime) ++i;
  return oracles_[i];
}

}  // namespace weir::detail
