// How long the controller thinks about one window of 50 stages on 256 workers: reading counters
// into estimates and label, the decision of `balance`, and the guard behind it. The pipeline is
// simulated, so that every phase comes up in seconds: the ramp, the jump, costs that change every
// few seconds, stages that get slower beyond a peak, the probes that look for it. The simulation
// does not count.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include <weir/policy.hpp>

#include "bench/support/rounds.hpp"
#include "policies/observer.hpp"
#include "tuner/guard.hpp"
#include "tuner/simulated_machine.hpp"
#include "tuner/simulated_plant.hpp"
#include "tuner/window_lengths.hpp"

namespace weir::detail {
namespace {

constexpr int kWorkers = 256;
constexpr int kStages = 50;
constexpr double kChangeSeconds = 10;  // from one change of costs to the next
constexpr double kMostMicroseconds = 1000;

double thread_cpu_microseconds() {
  std::timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e6 * static_cast<double>(now.tv_sec) + 1e-3 * static_cast<double>(now.tv_nsec);
}

/// Costs over a decade and a half, in no order; each seventh stage is a filter or has a peak.
ScenarioProcess line_of_many() {
  ScenarioProcess process;
  process.name = "train";
  for (int i = 0; i < kStages; ++i) {
    ScenarioStage& stage = process.stages.emplace_back();
    stage.name = "stage" + std::to_string(i);
    stage.seconds = 0.5e-3 * std::pow(10.0, 1.5 * ((i * 37) % kStages) / kStages);
    stage.cv = 0.3;
    if (i % 7 == 3) stage.keep = 0.8;
    if (i % 7 == 5) stage.coherence = 5e-3;
  }
  return process;
}

/// What each look took, in microseconds.
struct Times {
  std::vector<double> observe;
  std::vector<double> decide;
  std::vector<double> guard;
  std::vector<double> whole;
  int moves = 0;
};

/// One run, as the tuner drives its parts, without the log.
void run(bool strict, int seed, double seconds, Times& times) {
  SimulatedMachine machine(kWorkers, 0);
  SimulatedPlant& plant = machine.add(line_of_many(), kWorkers, static_cast<std::uint64_t>(seed));
  const PolicySettings settings;
  Observer observer(settings, strict);
  const std::unique_ptr<Policy> policy = make_policy("balance", strict, settings);
  Guard guard(0);
  WindowLengths lengths(settings, static_cast<std::uint64_t>(seed));

  Observation seen = observer.begin(plant.snapshot(), plant.allocation());
  guard.begin(seen);
  Decision decision = policy->start(seen, std::nullopt);
  Guard::Verdict verdict = guard.pass(decision, seen);
  double next_change = kChangeSeconds;
  int changes = 0;
  while (machine.now() < seconds) {
    if (verdict.allocation) (void)plant.apply(*verdict.allocation);
    const bool changed = verdict.allocation && decision.kind != MoveKind::depth;
    machine.advance_to(machine.now() + lengths.next(seen, decision.look_again_seconds, changed));
    if (machine.now() >= next_change) {
      next_change += kChangeSeconds;
      const int which = (7 * ++changes) % kStages;
      ScenarioStage costlier = plant.stage(which);
      costlier.seconds *= changes % 2 == 1 ? 3 : 0.4;
      plant.set_stage(which, costlier);
    }
    const Snapshot snapshot = plant.snapshot();
    const Allocation current = plant.allocation();
    const double begin = thread_cpu_microseconds();
    seen = observer.observe(snapshot, current, changed);
    const double observed = thread_cpu_microseconds();
    decision = policy->decide(seen);
    const double decided = thread_cpu_microseconds();
    guard.note(seen);
    verdict = guard.pass(decision, seen);
    const double passed = thread_cpu_microseconds();
    times.observe.push_back(observed - begin);
    times.decide.push_back(decided - observed);
    times.guard.push_back(passed - decided);
    times.whole.push_back(passed - begin);
  }
  times.moves += policy->standing().moves;
}

double quantile(std::vector<double> values, double share) {
  const auto at = static_cast<std::size_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(at), values.end());
  return values[at];
}

void print_row(const char* what, const std::vector<double>& values) {
  std::printf("  %-10s %8.1f %8.1f %8.1f\n", what, quantile(values, 0.5), quantile(values, 0.99),
              quantile(values, 1.0));
}

void measure(const char* what, bool strict, const weir::bench::Arguments& arguments) {
  Times times;
  const double seconds = arguments.quick ? 1 : 40;
  for (int round = 0; round < (arguments.quick ? 1 : arguments.rounds); ++round)
    run(strict, round + 1, seconds, times);
  std::printf("%s: %zu looks, %d moves; CPU time of the thread in us\n", what, times.whole.size(),
              times.moves);
  std::printf("  %-10s %8s %8s %8s\n", "", "median", "99 %", "most");
  print_row("observe", times.observe);
  print_row("decide", times.decide);
  print_row("guard", times.guard);
  print_row("together", times.whole);
  weir::bench::print_goal(std::string("the longest look in us, ") + what,
                          quantile(times.whole, 1.0), "at most", kMostMicroseconds);
}

}  // namespace
}  // namespace weir::detail

int main(int count, char** values) {
  const weir::bench::Arguments arguments = weir::bench::read_arguments(count, values);
  std::printf("%d workers, %d stages, policy balance\n", weir::detail::kWorkers,
              weir::detail::kStages);
  weir::detail::measure("shared", false, arguments);
  weir::detail::measure("strict", true, arguments);
  return 0;
}
