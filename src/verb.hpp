#pragma once

#include <span>
#include <string>
#include <string_view>

#include "src/command_line.hpp"
#include "src/signal_watch.hpp"

namespace weir::program {

/// One verb of the program. Growing is a source file and a line in the table.
struct Verb {
  std::string name;
  std::string summary;
  ArgumentSpec argument;
  /// Returns the exit status; throws Error.
  int (*run)(const CommandLine& line, SignalWatch& signals);
  std::string examples = {};  ///< at the end of its help
};

[[nodiscard]] std::span<const Verb> verbs();
[[nodiscard]] const Verb* find_verb(std::string_view name);
/// A verb of the plan that this version does not have yet.
[[nodiscard]] bool planned_verb(std::string_view name);

[[nodiscard]] int run_verb(const CommandLine& line, SignalWatch& signals);
[[nodiscard]] int tune_verb(const CommandLine& line, SignalWatch& signals);
[[nodiscard]] int check_verb(const CommandLine& line, SignalWatch& signals);
[[nodiscard]] int preview_verb(const CommandLine& line, SignalWatch& signals);
[[nodiscard]] int scan_verb(const CommandLine& line, SignalWatch& signals);
[[nodiscard]] int explain_verb(const CommandLine& line, SignalWatch& signals);
[[nodiscard]] int operators_verb(const CommandLine& line, SignalWatch& signals);
[[nodiscard]] int policies_verb(const CommandLine& line, SignalWatch& signals);
[[nodiscard]] int sim_verb(const CommandLine& line, SignalWatch& signals);
[[nodiscard]] int machine_verb(const CommandLine& line, SignalWatch& signals);

}  // namespace weir::program
