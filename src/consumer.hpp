#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <type_traits>
#include <vector>

#include <weir/batch.hpp>
#include <weir/loader.hpp>

#include "src/signal_watch.hpp"

namespace weir::program {

/// When the consumer ends by itself, and what its step is.
struct ConsumerPlan {
  std::optional<std::uint64_t> steps;
  std::optional<double> seconds;
  std::optional<std::chrono::nanoseconds> step_time;
  /// Asked after every step; true ends the run. Null: never.
  std::function<bool()> done;
};

/// What the consumer counted. Written by the consumer alone, read by the progress line; atomic for
/// that reason.
struct ConsumerCounters {
  std::atomic<std::uint64_t> batches{0};
  std::atomic<std::uint64_t> items{0};
  std::atomic<std::uint64_t> epochs{0};
};

/// The consumer's waits over a stretch of a run; begin() starts it anew.
///
/// **Thread safety**: none; the consumer's.
class WaitWindow {
 public:
  using Clock = std::chrono::steady_clock;

  void begin(Clock::time_point now);
  void add(double wait_seconds, std::uint64_t items);
  [[nodiscard]] std::uint64_t batches() const { return waits_.size(); }
  [[nodiscard]] double seconds(Clock::time_point now) const;
  [[nodiscard]] double items_per_second(Clock::time_point now) const;
  [[nodiscard]] double mean_wait_seconds() const;
  [[nodiscard]] double median_wait_seconds() const;

 private:
  Clock::time_point began_{};
  std::uint64_t items_ = 0;
  std::vector<double> waits_;
};

/// Sleeps until `deadline`, looking every so often whether a signal asks to stop.
void sleep_step(std::chrono::steady_clock::time_point deadline, const SignalWatch& signals);

/// Takes values until the loader ends, the plan does, or a signal came; after each one it emulates
/// a step by sleeping to an absolute deadline. Throws what next() throws.
template <class T>
void consume(Loader<T>& loader, const ConsumerPlan& plan, const SignalWatch& signals,
             ConsumerCounters& counters, WaitWindow& window) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point began = Clock::now();
  bool ended_before = false;  // two ends in a row: nothing more comes
  std::uint64_t batches = 0;
  while (signals.signal() == 0) {
    const Clock::time_point asked = Clock::now();
    const std::optional<T> value = loader.next();
    const Clock::time_point got = Clock::now();
    if (!value) {
      if (ended_before || signals.signal() != 0) return;
      ended_before = true;
      counters.epochs.fetch_add(1, std::memory_order_relaxed);
      continue;
    }
    ended_before = false;
    std::uint64_t items = 1;
    if constexpr (std::is_base_of_v<BatchRows, T>) items = value->size();
    window.add(std::chrono::duration<double>(got - asked).count(), items);
    counters.items.fetch_add(items, std::memory_order_relaxed);
    counters.batches.fetch_add(1, std::memory_order_relaxed);
    ++batches;
    if (plan.step_time) sleep_step(got + *plan.step_time, signals);
    if (plan.steps && batches >= *plan.steps) return;
    if (plan.seconds &&
        std::chrono::duration<double>(Clock::now() - began).count() >= *plan.seconds)
      return;
    if (plan.done && plan.done()) return;
  }
}

}  // namespace weir::program
