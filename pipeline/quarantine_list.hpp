#pragma once

#include <string>
#include <vector>

#include <weir/export.hpp>

/// The list of bad samples: a line each of path, stage and reason, with tabs between. Written by
/// runs and by `weir scan`, and read again by `files: {quarantine: LIST}`.
namespace weir::detail {

/// One line whatever bytes the text has: line ends, tabs and backslashes are written with a
/// backslash.
[[nodiscard]] std::string one_line(const std::string& text);
[[nodiscard]] WEIR_EXPORT std::string quarantine_line(const std::string& path,
                                                      const std::string& stage,
                                                      const std::string& reason);

/// The paths of a list, absolute and without detours; those that are not are relative to the
/// current folder. A list that does not exist is empty. Throws Error(usage) with file and line for
/// what is no such list.
[[nodiscard]] std::vector<std::string> read_quarantine_list(const std::string& list);
/// A path in the form of those.
[[nodiscard]] WEIR_EXPORT std::string quarantine_key(const std::string& path);

}  // namespace weir::detail
