#pragma once

#include <functional>
#include <string>
#include <vector>

namespace weir::test {

/// What a run of the program left behind.
struct ProgramEnd {
  int status = -1;  ///< exit status; 128 + n where signal n killed it
  std::string out;
  std::string err;
};

/// Where standard output goes.
enum class Output {
  read,    ///< read to its end
  broken,  ///< a pipe that nobody reads
  full,    ///< /dev/full
  closed,  ///< no descriptor at all
};

/// Runs the program under test to its end.
[[nodiscard]] ProgramEnd run_program(const std::vector<std::string>& arguments,
                                     Output output = Output::read, const std::string& folder = "");

/// Runs another program to its end; `look` is called with the process's number every few
/// milliseconds meanwhile.
[[nodiscard]] ProgramEnd run_command(const std::string& program,
                                     const std::vector<std::string>& arguments,
                                     const std::function<void(int process)>& look = nullptr);

/// Runs it, waits until it has written something to standard error, sends the signals one after
/// another, and waits for its end.
[[nodiscard]] ProgramEnd interrupt_program(const std::vector<std::string>& arguments,
                                           const std::vector<int>& signals);

}  // namespace weir::test
