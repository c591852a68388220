#pragma once

#include <functional>
#include <optional>
#include <string>

#include <weir/error.hpp>
#include <weir/load_pipeline.hpp>
#include <weir/loader.hpp>
#include <weir/summary.hpp>

#include "src/consumer.hpp"
#include "src/run_settings.hpp"
#include "src/signal_watch.hpp"

namespace weir::program {

/// What happens around the consumer of one loader.
struct SessionHooks {
  /// Asked after every batch with the loader and the waits so far; true ends the session. Null:
  /// never.
  std::function<bool(const detail::LoaderBase& loader, WaitWindow& window)> done;
  /// A word at the end of the progress line. Null: none.
  std::function<std::string()> remark;
};

/// How a session ended.
struct SessionEnd {
  Summary summary;
  std::optional<Error> error;  ///< the data or a stage failed
  WaitWindow window;           ///< since the last WaitWindow::begin()
  std::chrono::steady_clock::time_point ended;
};

/// Starts the pipeline with `options`, consumes it until an end of `settings`, a signal or a
/// failure, saves the position where asked, closes and sums up. Throws Error for what is wrong
/// before the first batch is asked for.
[[nodiscard]] SessionEnd run_session(const RunSettings& settings, const Options& options,
                                     SignalWatch& signals, const SessionHooks& hooks = {});

}  // namespace weir::program
