#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <weir/export.hpp>
#include <weir/host_figures.hpp>
#include <weir/observation.hpp>
#include <weir/policy.hpp>

#include "tuner/look_record.hpp"

namespace weir::detail {

/// The head of a log, and of each part of it with stages of its own.
struct LogHead {
  std::size_t line = 0;
  int version = 0;
  std::string written_by;  ///< version of weir; empty: not said
  std::string policy;
  bool strict = false;
  std::map<std::string, std::string> settings;  ///< that were set, as a user writes them
  std::uint64_t seed = 0;
  Observation first;                     ///< the loaders and the stages, with their log names
  std::optional<Allocation> start;       ///< that the policy was told to begin with
  std::vector<std::string> stage_names;  ///< as the log calls them
};

/// One window. Its figures are the rounded ones for people; what replay needs is in `given`.
struct LogWindow {
  std::size_t line = 0;
  Observation seen;
  HostFigures host;      ///< its contended_shares aside: `seen` says by whom
  std::string left_out;  ///< why it was not judged by; empty: it was
  Decision decision;
  bool applied = false;
  int moves = 0;         ///< so far
  bool settled = false;  ///< after this window
  std::vector<std::string> corrections;
  std::optional<LookInput> given;  ///< not in logs of version 1
  std::string decision_text;       ///< decision and outcome as written, to compare with
};

/// Reads a decision log, entry by entry: lines are long, and a run may have many.
///
/// Thread safety: none.
class WEIR_EXPORT DecisionLogReader {
 public:
  using Entry = std::variant<LogHead, LogWindow>;

  /// Throws Error (usage) when the file cannot be read, is empty, or begins with no head of a log,
  /// or with one of a later version.
  explicit DecisionLogReader(const std::string& path);

  /// Nothing at the end. Throws Error (usage) with file:line and what is wrong there. A last line
  /// that was cut off, as of a run that was killed, ends the log with a note.
  [[nodiscard]] std::optional<Entry> next();
  /// What is to be known about the log besides what it says; empty: nothing.
  [[nodiscard]] const std::string& note() const { return note_; }

 private:
  [[nodiscard]] Entry read_entry(const std::string& text);
  [[nodiscard]] std::string place() const;

  const std::string path_;
  std::ifstream file_;
  std::size_t line_ = 0;
  std::string note_;
  LogHead head_;  // of the part that is being read
  LookRecord looks_;
};

}  // namespace weir::detail
