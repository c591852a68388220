#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <optional>
#include <string>
#include <thread>

#include <weir/loader.hpp>
#include <weir/mutex.hpp>
#include <weir/telemetry.hpp>

#include "src/consumer.hpp"
#include "src/progress_line.hpp"
#include "src/run_settings.hpp"

namespace weir::program {

/// Shows on standard error how a run goes, while it lives: on a terminal a line that is rewritten
/// at most ten times a second, elsewhere a plain line every ten seconds.
///
/// **Thread safety**: construction and destruction belong to one thread. A thread of its own draws,
/// so that the line goes on while the consumer waits.
/// **Invariants**: after destruction the terminal's line is empty and the cursor at its beginning.
class Progress {
 public:
  struct Ends {
    std::optional<std::uint64_t> batches;
    bool batches_are_bound = false;
    std::optional<double> seconds;
  };
  /// `loader` and `counters` must live on. `remark` may be null.
  Progress(const detail::LoaderBase& loader, const ConsumerCounters& counters, std::string name,
           const Ends& ends, ProgressMode mode, std::function<std::string()> remark);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

 private:
  void run();
  void draw();
  [[nodiscard]] ProgressState state();

  // Set at construction.
  const detail::LoaderBase& loader_;
  const ConsumerCounters& counters_;
  std::string name_;
  Ends ends_;
  std::function<std::string()> remark_;
  bool line_ = false;  ///< rewrite one line; false: plain lines
  bool unicode_ = false;
  bool colour_ = false;
  std::chrono::steady_clock::time_point began_;

  // Owned by the drawing thread: the beginning of the stretch that rates are taken over.
  struct Mark {
    std::chrono::steady_clock::time_point time;
    std::uint64_t items = 0;
    Snapshot snapshot;
  };
  std::optional<Mark> older_;
  std::optional<Mark> newer_;
  bool drawn_ = false;

  Mutex mutex_;
  std::condition_variable end_;
  bool ending_ WEIR_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace weir::program
