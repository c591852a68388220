#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <weir/host_figures.hpp>
#include <weir/policy.hpp>

#include "tuner/decision_log_reader.hpp"

namespace weir::program {

/// One thing that happened, in words. Times are in seconds since the log's beginning.
struct StoryEvent {
  double seconds = 0;
  double until_seconds = 0;  ///< of what lasts; otherwise as `seconds`
  std::string kind;          ///< a move's, or limit, left out, budget, by hand, loaders, guard
  std::string text;
  double predicted_gain = 0;       ///< 0: nothing was predicted
  std::optional<Outcome> outcome;  ///< of a move that was judged
};

/// What a decision log tells, put together.
struct Story {
  // From the heads.
  int version = 0;
  std::string written_by;
  std::string policy;
  bool strict = false;
  std::map<std::string, std::string> settings;
  std::vector<std::string> loaders;  ///< of the last part
  int budget = 0;

  std::vector<StoryEvent> events;

  // Counts.
  double seconds = 0;
  std::size_t windows = 0;
  std::size_t judged = 0;
  std::map<std::string, std::size_t> left_out;     ///< windows by reason
  std::map<std::string, double> label_shares;      ///< of the judged time
  std::map<std::string, std::size_t> corrections;  ///< of the guard
  /// Judged windows by stage and by what its time in the kernel went to.
  std::map<std::pair<std::string, std::string>, std::size_t> hints;

  // The last window, and the one before it that was judged; none: nothing was written.
  std::optional<detail::LogWindow> last;
  std::optional<detail::LogWindow> last_judged;
  std::optional<double> last_change_seconds;
  // Means of the last seconds: one window is noisy where items are large.
  std::vector<double> loader_per_second;
  std::vector<double> loader_wait_share;
  std::vector<double> stage_per_second;
  std::vector<double> stage_running;
  std::vector<double> stage_blocked;  ///< share of its workers' time, off the CPUs by itself
  HostFigures host;                   ///< over all windows; its figures by stage stand above
  Allocation allocation;              ///< in force at the end, as far as it is known
  std::vector<std::string> stage_names;
  std::vector<std::string> notes;
};

/// Reads a log to its end. Throws Error (usage) with the place where it is no log.
[[nodiscard]] Story tell_story(detail::DecisionLogReader& log);

}  // namespace weir::program
