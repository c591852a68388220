#pragma once

#include <string_view>

namespace weir::program {

/// Thrown when nobody reads standard output any more (`| head`): the program ends quietly.
struct OutputClosed {};

/// Opens /dev/null for those of the descriptors 0, 1 and 2 that the caller closed, so that no file
/// opened later gets their number; makes writes to a closed pipe fail rather than kill.
void guard_standard_streams();

/// Writes results. Throws OutputClosed, or Error(cannot) with the system's reason (a full disk).
void write_output(std::string_view text);
/// Writes what is not a result; a failure is not worth a word.
void write_notice(std::string_view text);

}  // namespace weir::program
