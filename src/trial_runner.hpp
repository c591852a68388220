#pragma once

#include <functional>
#include <vector>

#include <weir/error.hpp>

#include "tuner/scenario.hpp"
#include "tuner/simulation.hpp"

namespace weir::program {

/// One scenario with one budget and one policy, and what its repeats came to.
struct TrialCase {
  detail::Scenario scenario;
  detail::TrialOptions options;
  int repeats = 1;
  std::vector<detail::Trial> trials;  ///< by repeat, once run
};

/// Live: the median of what the simulator gives with the waits that really happened.
[[nodiscard]] double simulated_per_second(const TrialCase& live);

using RunTrial = std::function<detail::Trial(const detail::Scenario&, const detail::TrialOptions&)>;
/// So many of all trials are done; one of this case is the latest.
using TrialProgress = std::function<void(int done, int all, const TrialCase& latest)>;

/// Runs every repeat of every case, `threads` at a time. Repeat r has the seed of its case plus r;
/// only the first one keeps a timeline and a log. What comes out does not depend on the number of
/// threads. The first failure in the order of the cases is thrown, once what was begun has ended.
/// `run` is called from several threads; `progress`, which may be null, from one at a time.
void run_trials(std::vector<TrialCase>& cases, const RunTrial& run, int threads,
                const TrialProgress& progress);

/// The same one after another, for runs that need the machine for themselves; `progress` is told
/// before each. A case that is not possible here is given to `skipped` and taken out of `cases`.
void run_live_trials(std::vector<TrialCase>& cases, const RunTrial& run,
                     const TrialProgress& progress,
                     const std::function<void(const TrialCase&, const Error&)>& skipped);

}  // namespace weir::program
