#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace weir::detail {

/// How the times of one stage are spread around their mean.
enum class Spread { constant, lognormal, normal };

/// One stage of a scenario. Times are per item that enters; of a gathering stage (batch > 1) per
/// batch that it gives out.
struct ScenarioStage {
  enum class Kind {
    cpu,   ///< needs a core while it runs
    wait,  ///< holds a worker and no core
  };

  std::string name;
  Kind kind = Kind::cpu;
  double seconds = 1e-3;
  double cv = 0;  ///< standard deviation over the mean
  Spread spread = Spread::lognormal;
  double tail_probability = 0;  ///< share of items that take tail_factor times as long
  double tail_factor = 1;
  int limit = 0;          ///< a device takes so many at once, the others wait; 0: no device
  double contention = 0;  ///< universal scalability law: a
  double coherence = 0;   ///< b; with n running a service takes 1 + a(n-1) + b n(n-1) times as long
  int plateau = 0;        ///< no gain beyond so many running (a bandwidth); 0: none
  int slow_above = 0;  ///< with more than so many running each takes slow_factor as long; 0: never
  double slow_factor = 1;
  bool serial = false;
  double keep = 1;         ///< share of items that pass (a filter)
  int split = 1;           ///< items given out for one
  int batch = 1;           ///< items gathered into one
  double bytes_out = 0;    ///< of one item given out
  int fixed_workers = 0;   ///< set by hand, never tuned; 0: not set
  int hand_cap = 0;        ///< 0: none
  std::int64_t depth = 0;  ///< of the output queue, in its items; 0: by the rule of the runtime
};

/// A consumer or a source with a rate of its own. The mean rate is per_second; with a period it
/// comes in bursts: per_second / duty during the first `duty` of each period, nothing in the rest.
struct ScenarioFlow {
  double per_second = 0;  ///< 0: as fast as it comes
  double period_seconds = 0;
  double duty = 1;
};

/// What an event can change of a stage.
enum class StageField { seconds, cv, keep, limit, batch, bytes_out };

/// One change while a scenario runs.
struct ScenarioEvent {
  double at_seconds = 0;
  double until_seconds = std::numeric_limits<double>::infinity();  ///< then it is undone
  double over_seconds = 0;  ///< a stage's value goes there in a straight line for so long
  int stage = -1;           ///< of ScenarioProcess::stages; -1: none
  std::map<StageField, double> changes;
  std::optional<int> cores_taken;  ///< by busy neighbours, of the whole machine
  std::optional<int> workers;      ///< the budget N from now on
  std::optional<ScenarioFlow> consumer;
  std::optional<ScenarioFlow> source;
};

/// The line of stages of one process.
struct ScenarioProcess {
  std::string name;
  std::vector<ScenarioStage> stages;
  ScenarioFlow consumer;
  ScenarioFlow source;
  double memory_bytes = 0;  ///< bound; 0: none
  bool ordered = true;      ///< items leave in the order in which they came
};

/// Where the tuning begins.
struct ScenarioStart {
  enum class Kind { policy, even, optimum, one_stage, by_hand };
  Kind kind = Kind::policy;
  std::map<std::string, double> workers;  ///< by_hand: targets by stage
};

/// An emulated workload whose optimum is computed. Read from YAML by src/scenario_reader.
struct Scenario {
  std::string name;
  std::string file;          ///< where it was read from, for messages
  std::vector<int> workers;  ///< N; one run each
  int cores = 0;             ///< of the simulated machine; 0: as many as workers
  double quota_cpus = 0;     ///< of the container, per 100 ms; 0: none
  bool strict = false;
  ScenarioStart start;
  bool live = true;                        ///< timed waits can stand in for its stages
  std::vector<ScenarioProcess> processes;  ///< at least one; the events belong to the first
  std::vector<ScenarioEvent> events;       ///< ascending in at_seconds
  std::string tuned;                       ///< a tuned file to start from; empty: none
  double duration_seconds = 30;
  int repeats = 10;
  std::uint64_t seed = 1;
  std::map<std::string, double> must;  ///< bounds by name; see tuner/score.hpp for the names
  std::string must_label;              ///< empty: any
};

}  // namespace weir::detail
