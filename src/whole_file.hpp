#pragma once

#include <string>

namespace weir::program {

/// Writes `text` to `path` whole or not at all: a temporary file beside it, synced and renamed.
/// Throws Error(cannot) with the path and the system's reason.
void write_whole_file(const std::string& path, const std::string& text);

/// Throws Error(cannot) when `path` could not be written: better told before a long run than after.
void check_writable(const std::string& option, const std::string& path);

}  // namespace weir::program
