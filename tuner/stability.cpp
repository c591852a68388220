#include "tuner/stability.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace weir::detail {
namespace {

constexpr double kQuietSeconds = 3;
constexpr double kQuietItems = 3 * 30;
constexpr double kMostQuiet = 0.25;  // of a stretch
constexpr double kMatters = 0.01;    // of the demand
constexpr double kProbeSeconds = 10;
constexpr double kParkingSeconds = 20;
constexpr double kTurnShare = 0.02;
constexpr double kTurnWorkers = 0.02;

struct Change {
  double seconds;
  MoveKind kind;
  bool parks;  // fewer workers are unparked than before
  const Allocation* to;
  const Allocation* from;
};

// The look at which a probe that begins with `begin` is over; 0: it is none.
std::size_t end_of_probe(const std::vector<TrialLook>& looks, std::size_t begin) {
  for (std::size_t i = begin; i < looks.size(); ++i) {
    if (looks[i].seconds - looks[begin].seconds > kProbeSeconds) return 0;
    if (!looks[i].changed) continue;
    if (looks[i].kind != MoveKind::probe) return 0;
    if (i > begin && same_workers(looks[i].allocation, looks[begin - 1].allocation)) return i;
  }
  return 0;
}

std::vector<Change> changes_of(const std::vector<TrialLook>& looks, int& probes) {
  std::vector<Change> changes;
  for (std::size_t i = 1; i < looks.size(); ++i) {
    if (!looks[i].changed) continue;
    if (const std::size_t end = end_of_probe(looks, i); end > 0) {
      ++probes;
      i = end;
      continue;
    }
    const Allocation& from = looks[i - 1].allocation;
    const Allocation& to = looks[i].allocation;
    changes.push_back({looks[i].seconds, looks[i].kind, to.active < from.active, &to, &from});
  }
  return changes;
}

double quiet_seconds(const Timetable& timetable, const Stretch& stretch) {
  const Oracle& oracle = timetable.oracle_at(stretch.begin_seconds).processes.front();
  const double rate = timetable.strict() ? oracle.whole_per_second : oracle.shared_per_second;
  double demand = 0;
  for (std::size_t i = 0; i < oracle.visits.size(); ++i)
    demand += oracle.visits[i] * oracle.service_seconds[i];
  double visits = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < oracle.visits.size(); ++i)
    if (oracle.visits[i] * oracle.service_seconds[i] >= kMatters * demand)
      visits = std::min(visits, oracle.visits[i]);
  const double known = rate > 0 ? kQuietItems / (rate * visits) : 0.0;
  return std::max(kQuietSeconds,
                  std::min(known, kMostQuiet * (stretch.end_seconds - stretch.begin_seconds)));
}

// The time of the last change of the burst that begins at or after `begin`; `at_once`: the burst
// has begun with `begin` itself. No later than `latest`.
double end_of_burst(const std::vector<Change>& changes, double begin, double latest, bool at_once,
                    double quiet) {
  double last = begin;
  bool begun = at_once;
  for (const Change& change : changes) {
    if (change.seconds <= begin) continue;
    if (change.seconds > latest) break;
    if (begun && change.seconds - last >= quiet) break;
    last = change.seconds;
    begun = true;
  }
  return last;
}

int unasked_moves(const std::vector<Change>& changes, const Timetable& timetable,
                  bool given_start) {
  int moves = 0;
  bool first = true;
  for (const Stretch& stretch : timetable.stretches()) {
    const double middle = 0.5 * (stretch.begin_seconds + stretch.end_seconds);
    const double excused = end_of_burst(changes, stretch.begin_seconds, middle,
                                        first && given_start, quiet_seconds(timetable, stretch));
    for (const Change& change : changes) {
      if (stretch.ramping || change.seconds <= excused || change.seconds >= stretch.end_seconds)
        continue;
      if (!first && change.parks && change.seconds < stretch.begin_seconds + kParkingSeconds)
        continue;
      ++moves;
    }
    first = false;
  }
  return moves;
}

int reversals(const std::vector<Change>& changes, const Timetable& timetable, double from) {
  int count = 0;
  for (const Stretch& stretch : timetable.stretches()) {
    if (stretch.ramping) continue;
    std::vector<int> ways;
    for (const Change& change : changes) {
      if (change.seconds <= from || change.seconds < stretch.begin_seconds ||
          change.seconds >= stretch.end_seconds ||
          change.to->stages.size() != change.from->stages.size())
        continue;
      ways.resize(change.to->stages.size(), 0);
      bool turned = false;
      for (std::size_t i = 0; i < ways.size(); ++i) {
        const double before = change.from->stages[i].target;
        const double step = change.to->stages[i].target - before;
        if (std::abs(step) <= std::max(kTurnWorkers, kTurnShare * before)) continue;
        const int way = step > 0 ? 1 : -1;
        turned = turned || ways[i] == -way;
        ways[i] = way;
      }
      if (turned) ++count;
    }
  }
  return count;
}

double longest_reaction(const std::vector<TrialLook>& looks, const Timetable& timetable) {
  double longest = 0;
  const std::vector<Stretch>& stretches = timetable.stretches();
  for (std::size_t s = 0; s < stretches.size(); ++s) {
    if (!stretches[s].by_event) continue;
    const double event = stretches[s].begin_seconds;
    double until = stretches[s].end_seconds;
    for (std::size_t next = s + 1; next < stretches.size() && !stretches[next].by_event; ++next)
      until = stretches[next].end_seconds;
    std::string label;
    double reaction = until - event;
    for (const TrialLook& look : looks) {
      if (look.seconds > until) break;
      if (look.seconds <= event) {
        if (look.valid) label = look.label;
      } else if (look.changed || (look.valid && look.label != label)) {
        reaction = look.seconds - event;
        break;
      }
    }
    longest = std::max(longest, reaction);
  }
  return longest;
}

}  // namespace

Stability judge_stability(const std::vector<TrialLook>& looks, const Timetable& timetable,
                          bool given_start) {
  Stability result;
  const std::vector<Change> changes = changes_of(looks, result.probes);
  const double end = timetable.duration_seconds();
  result.settle_seconds = end_of_burst(changes, 0, end, given_start,
                                       quiet_seconds(timetable, timetable.stretches().front()));
  result.moves =
      static_cast<int>(std::count_if(changes.begin(), changes.end(), [](const Change& c) {
        return c.kind != MoveKind::start && c.kind != MoveKind::ramp;
      }));
  result.moves_after_settling = unasked_moves(changes, timetable, given_start);
  const double calm =
      std::min(result.settle_seconds, 0.5 * timetable.stretches().front().end_seconds);
  result.reversals_per_minute =
      60.0 * reversals(changes, timetable, calm) / std::max(1e-9, end - calm);
  result.reaction_seconds = longest_reaction(looks, timetable);
  return result;
}

}  // namespace weir::detail
