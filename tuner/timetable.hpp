#pragma once

#include <vector>

#include <weir/export.hpp>

#include "tuner/oracle.hpp"
#include "tuner/scenario.hpp"

namespace weir::detail {

/// What holds at one time of a scenario.
struct Conditions {
  std::vector<ScenarioProcess> processes;  ///< with the values of that time
  int workers = 1;                         ///< N, within the quota
  int cores_taken = 0;
};

/// A part of a scenario in which nothing happens, or in which values go their way to others.
struct Stretch {
  double begin_seconds = 0;
  double end_seconds = 0;
  /// Its last half is the steady part; with a bursty consumer or source whole periods of it, where
  /// one fits.
  double steady_seconds = 0;
  bool by_event = false;  ///< an event begins or is undone at its begin, and not `over` ends
  bool ramping = false;   ///< a value changes all the time
  int cores_taken = 0;
};

/// What can be reached from one time on, until the next piece begins.
struct OraclePiece {
  double from_seconds = 0;
  std::vector<Oracle> processes;  ///< each with its fair share of the cores
};

/// A scenario over time: what holds when, and the best that can be reached meanwhile.
///
/// Algorithm: all is constant between two times of steps(); a value on its way (`over`) goes in
/// small steps, each at the middle of what it stands for. Processes share the cores so that the
/// least fed one gets the most it can use (max-min).
///
/// Thread safety: immutable.
class WEIR_EXPORT Timetable {
 public:
  /// `workers` as asked for; a quota below it reduces it to whole CPUs, as the thread budget does.
  Timetable(const Scenario& scenario, int workers, bool strict);

  /// At `seconds` and until the next step; an event at exactly that time holds.
  [[nodiscard]] Conditions at(double seconds) const;
  /// All times at which at() changes, ascending, the first after 0.
  [[nodiscard]] const std::vector<double>& steps() const { return steps_; }
  [[nodiscard]] const std::vector<Stretch>& stretches() const { return stretches_; }
  [[nodiscard]] const std::vector<OraclePiece>& oracles() const { return oracles_; }
  [[nodiscard]] const OraclePiece& oracle_at(double seconds) const;
  [[nodiscard]] double duration_seconds() const { return scenario_.duration_seconds; }
  [[nodiscard]] int cores() const { return cores_; }
  /// CPUs left to all processes together.
  [[nodiscard]] double cores_left(double seconds) const;
  [[nodiscard]] bool strict() const { return strict_; }

 private:
  void find_steps();
  void find_stretches();
  void find_oracles();
  [[nodiscard]] double cores_left(const Conditions& now) const;

  const Scenario scenario_;
  const int workers_;
  const int cores_;
  const bool strict_;
  std::vector<double> steps_;
  std::vector<Stretch> stretches_;
  std::vector<OraclePiece> oracles_;
};

}  // namespace weir::detail
