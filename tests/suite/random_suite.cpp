#include "tests/suite/random_suite.hpp"

#include <atomic>
#include <exception>
#include <limits>
#include <mutex>
#include <numeric>
#include <thread>

#include <fmt/format.h>

#include "tests/support/random_scenarios.hpp"

namespace weir::test {

double SuiteCase::of_start() const {
  return measures.start_per_second > 0 ? measures.steady_per_second / measures.start_per_second
                                       : std::numeric_limits<double>::infinity();
}

std::string SuiteCase::text() const {
  std::string text =
      fmt::format("N={} k={}", scenario.workers.front(), scenario.processes.front().stages.size());
  for (const detail::ScenarioStage& stage : scenario.processes.front().stages) {
    if (stage.serial) text += fmt::format(" serial {} {:.3g}s", stage.name, stage.seconds);
    if (stage.limit > 0)
      text += fmt::format(" limit {} {}x{:.3g}s", stage.name, stage.limit, stage.seconds);
    if (stage.coherence > 0)
      text += fmt::format(" retrograde {} {:.3g}s b={:.2g}", stage.name, stage.seconds,
                          stage.coherence);
  }
  return text;
}

std::vector<SuiteCase> run_suite(const SuiteRequest& request) {
  std::vector<int> indexes = request.indexes;
  if (indexes.empty()) {
    indexes.resize(kRandomPipelines);
    std::iota(indexes.begin(), indexes.end(), 0);
  }
  std::vector<SuiteCase> cases(indexes.size());
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::exception_ptr failure;
  const auto work = [&] {
    for (std::size_t i = next++; i < cases.size(); i = next++) {
      SuiteCase& own = cases[i];
      try {
        own.index = indexes[i];
        own.scenario = random_scenario(request.seed, own.index);
        own.scenario.start.kind = request.start;
        own.scenario.duration_seconds *= request.longer;
        detail::TrialOptions options = request.options;
        options.workers = own.scenario.workers.front();
        options.seed = own.scenario.seed;
        own.measures = detail::simulate(own.scenario, options).measures;
      } catch (...) {
        const std::lock_guard lock(mutex);
        failure = std::current_exception();
      }
    }
  };
  std::vector<std::thread> threads;
  for (unsigned i = 1; i < std::max(1U, std::thread::hardware_concurrency()); ++i)
    threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  if (failure) std::rethrow_exception(failure);
  return cases;
}

}  // namespace weir::test
