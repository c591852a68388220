#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <thread>

#include <weir/mutex.hpp>

#include "pipeline/operators/emulated_device.hpp"
#include "tuner/scenario.hpp"

namespace weir::detail {

/// What all stages of a live run share: who works, and whether it is over.
///
/// Thread safety: all members from any thread.
class LiveCrew {
 public:
  using Clock = std::chrono::steady_clock;

  explicit LiveCrew(int workers) : workers_(workers) {}

  void enter() WEIR_EXCLUDES(mutex_);
  void leave() { running_.fetch_sub(1, std::memory_order_relaxed); }
  /// Times at which more than the budget were at work.
  [[nodiscard]] std::uint64_t violations() const {
    return violations_.load(std::memory_order_relaxed);
  }
  /// Distinct threads that began something at `since` or later.
  [[nodiscard]] int used_since(Clock::time_point since) const WEIR_EXCLUDES(mutex_);

  void stop() { stopped_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] bool stopped() const { return stopped_.load(std::memory_order_relaxed); }

 private:
  const int workers_;
  // Counters and a flag; they order nothing.
  std::atomic<int> running_{0};
  std::atomic<std::uint64_t> violations_{0};
  std::atomic<bool> stopped_{false};
  mutable Mutex mutex_;
  std::map<std::thread::id, Clock::time_point> began_ WEIR_GUARDED_BY(mutex_);
};

/// A stage of a scenario on the live runtime: each service is a timed wait with an absolute
/// deadline, whatever kind it is, as long as the scenario's stage says for the number at work when
/// it begins.
///
/// Thread safety: all members from any thread.
class LiveStage {
 public:
  LiveStage(const ScenarioStage& stage, LiveCrew& crew, std::uint64_t seed);

  /// Holds for services that begin from now on.
  void set(const ScenarioStage& stage) WEIR_EXCLUDES(mutex_);
  /// One service, by the calling thread.
  void serve() WEIR_EXCLUDES(mutex_);
  /// Draws whether an item passes.
  [[nodiscard]] bool keeps() WEIR_EXCLUDES(mutex_);
  [[nodiscard]] std::size_t bytes_out() const WEIR_EXCLUDES(mutex_);
  [[nodiscard]] int split() const { return split_; }

  /// The time that services really took over what they should on average.
  [[nodiscard]] double stretch() const WEIR_EXCLUDES(mutex_);

 private:
  [[nodiscard]] double draw(const ScenarioStage& stage, int running, double& mean)
      WEIR_REQUIRES(mutex_);

  LiveCrew& crew_;
  const std::uint64_t seed_;
  const int split_;
  mutable Mutex mutex_;
  ScenarioStage stage_ WEIR_GUARDED_BY(mutex_);
  std::unique_ptr<EmulatedDevice> device_ WEIR_GUARDED_BY(mutex_);
  int running_ WEIR_GUARDED_BY(mutex_) = 0;
  std::uint64_t draws_ WEIR_GUARDED_BY(mutex_) = 0;
  double asked_seconds_ WEIR_GUARDED_BY(mutex_) = 0;
  double took_seconds_ WEIR_GUARDED_BY(mutex_) = 0;
};

}  // namespace weir::detail
