#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <thread>
#include <utility>

#include <weir/mutex.hpp>

namespace weir::program {

/// Turns SIGINT, SIGTERM and SIGHUP into calls. They are blocked in every thread and taken by one
/// thread of its own, so that what is called may lock and wait, which a signal handler may not.
///
/// The first signal calls what watch() was given; without that there is nothing to stop, and the
/// program ends at once with 128 + n. A second signal ends it in any case.
///
/// **Thread safety**: watch() and unwatch() belong to one thread, signal() to any. Made before any
/// other thread, since threads inherit what is blocked.
/// **Invariants**: what watch() was given runs at most once, and not after unwatch() has returned.
class SignalWatch {
 public:
  SignalWatch();
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

  /// `stop` is called at the first signal or at `deadline`, on a thread of its own: it may take its
  /// time, and the second signal must be seen meanwhile.
  void watch(std::function<void()> stop,
             std::optional<std::chrono::steady_clock::time_point> deadline = {});
  void unwatch();

  /// Number of the first signal; 0: none came.
  [[nodiscard]] int signal() const { return signal_.load(std::memory_order_relaxed); }

 private:
  void run();
  void take_signal(int number);
  void call_stop();
  [[nodiscard]] int milliseconds_left() const;

  // Set at construction.
  int signals_ = -1;  ///< signalfd
  int wake_ = -1;     ///< eventfd: look at the state anew
  // Atomic because the consumer asks after every batch.
  std::atomic<int> signal_{0};

  mutable Mutex mutex_;
  std::function<void()> stop_ WEIR_GUARDED_BY(mutex_);
  std::optional<std::chrono::steady_clock::time_point> deadline_ WEIR_GUARDED_BY(mutex_);
  std::thread stopping_ WEIR_GUARDED_BY(mutex_);
  bool watching_ WEIR_GUARDED_BY(mutex_) = false;
  bool ending_ WEIR_GUARDED_BY(mutex_) = false;

  std::thread thread_;
};

/// Watches while it lives: declared behind what the call uses, it ends before that goes.
class WatchScope {
 public:
  WatchScope(SignalWatch& signals, std::function<void()> stop,
             std::optional<std::chrono::steady_clock::time_point> deadline = {})
      : signals_(signals) {
    signals_.watch(std::move(stop), deadline);
  }
  ~WatchScope() { signals_.unwatch(); }
  WatchScope(const WatchScope&) = delete;
  WatchScope& operator=(const WatchScope&) = delete;

 private:
  SignalWatch& signals_;
};

}  // namespace weir::program
