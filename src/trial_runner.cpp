#include "src/trial_runner.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <thread>

#include <weir/mutex.hpp>

namespace weir::program {
namespace {

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
    detail::TrialOptions options = one.options;
    options.seed += entry.repeat;
    options.timeline = options.timeline && entry.repeat == 0;
    one.trials[entry.repeat] = run_(one.scenario, options);
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

}  // namespace weir::program
