#include "src/progress.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "src/standard_output.hpp"

namespace weir::program {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kRedraw{100};
constexpr std::chrono::seconds kPlainLine{10};
/// Rates are taken over between one and two of these.
constexpr std::chrono::seconds kStretch{1};

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view{} : std::string_view{value};
}

/// By the first of the variables that is set, as the C library does.
bool speaks_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string_view value = variable(name);
    if (value.empty()) continue;
    return value.find("UTF-8") != std::string_view::npos ||
           value.find("utf8") != std::string_view::npos ||
           value.find("UTF8") != std::string_view::npos;
  }
  return false;
}

int terminal_width() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  const int columns = std::atoi(std::string(variable("COLUMNS")).c_str());
  return columns > 0 ? columns : 80;
}

}  // namespace

Progress::Progress(const detail::LoaderBase& loader, const ConsumerCounters& counters,
                   std::string name, const Ends& ends, ProgressMode mode,
                   std::function<std::string()> remark)
    : loader_(loader),
      counters_(counters),
      name_(std::move(name)),
      ends_(ends),
      remark_(std::move(remark)),
      began_(Clock::now()) {
  if (mode == ProgressMode::never) return;
  const bool terminal = ::isatty(STDERR_FILENO) == 1 && variable("TERM") != "dumb";
  line_ = terminal || mode == ProgressMode::always;
  unicode_ = line_ && speaks_utf8();
  colour_ = terminal && variable("NO_COLOR").empty();
  thread_ = std::thread([this] { run(); });
}

Progress::~Progress() {
  if (!thread_.joinable()) return;
  {
    MutexLock lock(mutex_);
    ending_ = true;
  }
  end_.notify_all();
  thread_.join();
  if (line_ && drawn_) write_notice("\r\x1b[K");
}

void Progress::run() {
  static_cast<void>(state());  // where the first stretch begins
  Clock::time_point next = Clock::now();
  while (true) {
    next += line_ ? std::chrono::duration_cast<Clock::duration>(kRedraw)
                  : std::chrono::duration_cast<Clock::duration>(kPlainLine);
    {
      MutexLock lock(mutex_);
      while (!ending_ && lock.wait_until(end_, next)) {
      }
      if (ending_) return;
    }
    draw();
    next = std::max(next, Clock::now() - kRedraw);
  }
}

void Progress::draw() {
  ProgressLook look{line_ ? terminal_width() - 1 : 200, unicode_, colour_};
  const std::string text = progress_text(state(), look);
  write_notice(line_ ? "\r" + text + "\x1b[K" : text + "\n");
  drawn_ = true;
}

ProgressState Progress::state() {
  const Clock::time_point now = Clock::now();
  Mark mark{now, counters_.items.load(std::memory_order_relaxed), loader_.telemetry()};
  ProgressState state;
  state.name = name_;
  state.batches = counters_.batches.load(std::memory_order_relaxed);
  state.total_batches = ends_.batches;
  state.total_is_bound = ends_.batches_are_bound;
  state.elapsed_seconds = std::chrono::duration<double>(now - began_).count();
  state.active = mark.snapshot.active;
  state.budget = mark.snapshot.budget;
  if (remark_) state.remark = remark_();

  if (ends_.batches && *ends_.batches > 0)
    state.done_share = static_cast<double>(state.batches) / static_cast<double>(*ends_.batches);
  if (ends_.seconds && *ends_.seconds > 0)
    state.done_share =
        std::max(state.done_share.value_or(0), state.elapsed_seconds / *ends_.seconds);
  if (state.done_share) {
    state.done_share = std::min(*state.done_share, 1.0);
    if (*state.done_share > 0)
      state.left_seconds = state.elapsed_seconds * (1 / *state.done_share - 1);
  }

  if (!older_) {
    older_ = std::move(mark);
    return state;
  }
  const Mark& from = *older_;
  const double seconds = std::chrono::duration<double>(now - from.time).count();
  const Snapshot& before = from.snapshot;
  const Snapshot& after = mark.snapshot;
  if (seconds > 0) {
    state.items_per_second = static_cast<double>(mark.items - from.items) / seconds;
    if (before.structure == after.structure && before.stages.size() == after.stages.size()) {
      for (std::size_t i = 0; i < after.stages.size(); ++i)
        state.workers.emplace_back(
            after.stages[i].name,
            (after.stages[i].running_seconds - before.stages[i].running_seconds) / seconds);
    }
    if (!before.loaders.empty() && before.loaders.size() == after.loaders.size()) {
      const ConsumerSnapshot& was = before.loaders.front().consumer;
      const ConsumerSnapshot& is = after.loaders.front().consumer;
      const double waited = is.wait_seconds - was.wait_seconds;
      state.wait_share = waited / seconds;
      // A wait under way belongs to a batch that has not come yet.
      const std::uint64_t came = std::max<std::uint64_t>(is.items - was.items, 1);
      state.gap_seconds = waited / static_cast<double>(came);
    }
  }
  if (!newer_ && now - from.time >= kStretch) newer_ = mark;
  if (newer_ && now - newer_->time >= kStretch) {
    older_ = std::exchange(newer_, std::nullopt);
  }
  return state;
}

}  // namespace weir::program
