#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include <weir/export.hpp>
#include <weir/mutex.hpp>

namespace weir::detail {

/// The one control thread of the process: an event loop with a timer a task. It starts with the
/// first task and is joined with the last.
///
/// Thread safety: all functions may be called from any thread but the control thread.
/// Invariants: 1. steps never run at the same time; 2. after remove() has returned the step is not
/// running and never runs again.
class WEIR_EXPORT Control {
 public:
  /// Returns the seconds until it wants to run again; negative: never.
  using Step = std::function<double()>;

  [[nodiscard]] static Control& instance();

  /// Runs `step` on the control thread, the first time at once. It must not throw.
  [[nodiscard]] std::uint64_t add(Step step) WEIR_EXCLUDES(mutex_);
  void remove(std::uint64_t task) WEIR_EXCLUDES(mutex_);

 private:
  class Loop;  // the event loop and its thread; the library behind it stays in the source

  Control();
  ~Control();

  Mutex mutex_;
  std::unique_ptr<Loop> loop_ WEIR_GUARDED_BY(mutex_);
  std::uint64_t tasks_ WEIR_GUARDED_BY(mutex_) = 0;
  std::uint64_t last_task_ WEIR_GUARDED_BY(mutex_) = 0;
};

}  // namespace weir::detail
