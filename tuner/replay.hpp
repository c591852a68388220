#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <weir/export.hpp>

namespace weir::detail {

/// What a decision log says when it is played again.
struct Replay {
  /// The first window that differs.
  struct Difference {
    std::size_t line = 0;  ///< of the log
    double seconds = 0;    ///< since its beginning
    std::string recorded;  ///< in words
    std::string replayed;
  };

  std::string policy;  ///< of the last part
  bool strict = false;
  std::size_t windows = 0;  ///< that were compared and are the same
  std::size_t parts = 0;    ///< stretches with stages of their own
  std::optional<Difference> difference;
  std::vector<std::string> notes;

  [[nodiscard]] bool same() const { return !difference; }
  [[nodiscard]] WEIR_EXPORT std::string text() const;
};

/// Gives what a decision log recorded to a new observer and a new policy, made as the log says, and
/// compares the label and the decision of every window with the recorded ones, to the six digits
/// that are written. Ends with the first difference: from there on the two live different lives.
///
/// Throws Error (usage) when the log cannot be read or has nothing to replay.
[[nodiscard]] WEIR_EXPORT Replay replay_log(const std::string& path);

}  // namespace weir::detail
