#include "src/run_session.hpp"

#include <utility>
#include <variant>

#include "machine/precise_sleep.hpp"
#include "src/page_cache.hpp"
#include "src/progress.hpp"
#include "src/standard_output.hpp"
#include "src/whole_file.hpp"

namespace weir::program {
namespace {

using Clock = std::chrono::steady_clock;

Progress::Ends ends_of(const detail::LoaderBase& loader, const RunSettings& settings,
                       const Options& options) {
  Progress::Ends ends;
  ends.seconds = settings.seconds;
  ends.batches = settings.steps;
  if (!options.epochs) return ends;
  const detail::LoaderBase::EpochSize size = loader.batches_per_epoch();
  if (!size.batches) return ends;
  const std::uint64_t done = options.resume ? options.resume->delivered_in_epoch : 0;
  const std::uint64_t first = options.resume ? options.resume->epoch : 0;
  const std::uint64_t epochs = *options.epochs > first ? *options.epochs - first : 0;
  const std::uint64_t all = *size.batches * epochs;
  const std::uint64_t left = all > done ? all - done : 0;
  if (!ends.batches || left < *ends.batches) {
    ends.batches = left;
    ends.batches_are_bound = !size.exact;
  }
  return ends;
}

template <class T>
Loader<T> start(const Stream<T>& stream, const Pipeline& pipeline, const Options& options) {
  try {
    return stream.start(options);
  } catch (const Error& error) {
    throw pipeline.with_place(error);
  }
}

template <class T>
SessionEnd run_stream(const Stream<T>& stream, const RunSettings& settings, const Options& options,
                      SignalWatch& signals, const SessionHooks& hooks) {
  SessionEnd end;
  Loader<T> loader = start(stream, settings.pipeline, options);
  std::size_t said = 0;
  const auto say_remarks = [&] {
    const std::vector<std::string> remarks = loader.remarks();
    for (; said < remarks.size() && !settings.quiet; ++said)
      write_notice("weir: " + remarks[said] + "\n");
  };
  say_remarks();

  ConsumerPlan plan{settings.steps, settings.seconds, settings.step_time, nullptr};
  if (hooks.done) plan.done = [&] { return hooks.done(loader, end.window); };
  // A consumer stuck in next() past the end of its time is let go a little later.
  constexpr std::chrono::seconds kGrace{2};
  std::optional<Clock::time_point> deadline;
  constexpr double kMostSeconds = 1e9;
  if (settings.seconds && *settings.seconds < kMostSeconds)
    deadline = Clock::now() + kGrace +
               std::chrono::duration_cast<Clock::duration>(
                   std::chrono::duration<double>(*settings.seconds));

  ConsumerCounters counters;
  std::optional<Error> close_error;  // closing writes the tuned file, which can fail
  const auto close = [&] {
    try {
      loader.close();
    } catch (const Error& error) {
      close_error = error;
    }
  };
  {
    const WatchScope watching(signals, close, deadline);
    try {
      const Progress progress(
          loader, counters, settings.pipeline.name, ends_of(loader, settings, options),
          settings.quiet ? ProgressMode::never : settings.progress, hooks.remark);
      if (settings.step_time) static_cast<void>(use_smallest_timer_slack());
      end.window.begin(Clock::now());
      consume(loader, plan, signals, counters, end.window);
    } catch (const Error& error) {
      end.error = error;
    } catch (const std::exception& error) {
      end.error = Error(ErrorKind::data, settings.pipeline.name, error.what());
    }
    end.ended = Clock::now();
    if (!settings.save_position.empty()) {
      try {
        write_whole_file(settings.save_position, loader.position().text() + "\n");
      } catch (const Error& error) {
        if (!end.error) end.error = error;
      }
    }
  }
  close();
  say_remarks();
  if (!end.error) end.error = close_error;
  end.summary = loader.summary();
  return end;
}

}  // namespace

SessionEnd run_session(const RunSettings& settings, const Options& options, SignalWatch& signals,
                       const SessionHooks& hooks) {
  check_writable("--save-position", settings.save_position);
  check_writable("--emit", options.emit);
  if (settings.cold) {
    const DroppedPages dropped = drop_pages(settings.pipeline);
    if (!settings.quiet) write_notice("weir: " + to_text(dropped) + "\n");
  }
  return std::visit(
      [&](const auto& stream) { return run_stream(stream, settings, options, signals, hooks); },
      settings.pipeline.stream);
}

}  // namespace weir::program
