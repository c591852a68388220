#include "src/trial_runner.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <thread>
#include <utility>

#include <weir/mutex.hpp>

namespace weir::program {
namespace {

detail::TrialOptions options_of(const TrialCase& one, std::size_t repeat) {
  detail::TrialOptions options = one.options;
  options.seed += repeat;
  if (repeat == 0) return options;
  options.timeline = false;
  options.log_path.clear();
  return options;
}

/// The trials of all cases as one list, handed out one by one.
///
/// **Thread safety**: work() may be called from several threads at once.
/// **Invariants**: each trial is run by one thread, which alone writes its result and failure.
class TrialList {
 public:
  TrialList(std::vector<TrialCase>& cases, const RunTrial& run, const TrialProgress& progress)
      : cases_(cases), run_(run), progress_(progress) {
    for (std::size_t i = 0; i < cases.size(); ++i) {
      cases[i].trials.resize(static_cast<std::size_t>(cases[i].repeats));
      for (std::size_t repeat = 0; repeat < cases[i].trials.size(); ++repeat)
        entries_.push_back({i, repeat});
    }
    failures_.resize(entries_.size());
  }

  void work() {
    while (!failed_.load(std::memory_order_relaxed)) {
      const std::size_t next = next_.fetch_add(1, std::memory_order_relaxed);
      if (next >= entries_.size()) return;
      try {
        run_one(entries_[next]);
      } catch (...) {
        failures_[next] = std::current_exception();
        failed_.store(true, std::memory_order_relaxed);
      }
    }
  }

  /// Requires: every thread that works has ended.
  void throw_first_failure() const {
    for (const std::exception_ptr& failure : failures_)
      if (failure) std::rethrow_exception(failure);
  }
  [[nodiscard]] std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    std::size_t at;  ///< of cases_
    std::size_t repeat;
  };

  void run_one(const Entry& entry) {
    TrialCase& one = cases_[entry.at];
    one.trials[entry.repeat] = run_(one.scenario, options_of(one, entry.repeat));
    if (!progress_) return;
    MutexLock lock(mutex_);
    ++done_;
    progress_(done_, static_cast<int>(entries_.size()), one);
  }

  // Set at construction.
  std::vector<TrialCase>& cases_;
  const RunTrial& run_;
  const TrialProgress& progress_;
  std::vector<Entry> entries_;

  std::vector<std::exception_ptr> failures_;  ///< each written by the thread that ran the trial
  // Atomic because every thread takes from it.
  std::atomic<std::size_t> next_{0};
  std::atomic<bool> failed_{false};

  Mutex mutex_;
  int done_ WEIR_GUARDED_BY(mutex_) = 0;
};

}  // namespace

double simulated_per_second(const TrialCase& live) {
  std::vector<double> rates;
  for (const detail::Trial& trial : live.trials) rates.push_back(trial.simulated_per_second);
  std::nth_element(rates.begin(), rates.begin() + static_cast<std::ptrdiff_t>(rates.size() / 2),
                   rates.end());
  return rates[rates.size() / 2];
}

void run_trials(std::vector<TrialCase>& cases, const RunTrial& run, int threads,
                const TrialProgress& progress) {
  TrialList list(cases, run, progress);
  const std::size_t most = std::min(list.size(), static_cast<std::size_t>(std::max(threads, 1)));
  {
    std::vector<std::jthread> others;
    for (std::size_t i = 1; i < most; ++i) others.emplace_back([&list] { list.work(); });
    list.work();
  }
  list.throw_first_failure();
}

void run_live_trials(std::vector<TrialCase>& cases, const RunTrial& run,
                     const TrialProgress& progress,
                     const std::function<void(const TrialCase&, const Error&)>& skipped) {
  int all = 0;
  for (const TrialCase& one : cases) all += one.repeats;
  int done = 0;
  std::vector<TrialCase> possible;
  for (TrialCase& one : cases) {
    try {
      for (int repeat = 0; repeat < one.repeats; ++repeat) {
        if (progress) progress(done + repeat, all, one);
        one.trials.push_back(run(one.scenario, options_of(one, static_cast<std::size_t>(repeat))));
      }
      possible.push_back(std::move(one));
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::cannot) throw;
      skipped(one, error);
    }
    done += one.repeats;
  }
  cases = std::move(possible);
}

}  // namespace weir::program
