#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include <weir/load_pipeline.hpp>

#include "src/command_line.hpp"

namespace weir::program {

enum class ProgressMode { automatic, always, never };

/// A pipeline file and a command line put together: what run, tune and check work from. The command
/// line wins over the file, key by key.
struct RunSettings {
  Pipeline pipeline;  ///< with the options of the command line in it
  std::optional<std::uint64_t> steps;
  std::optional<double> seconds;
  std::optional<std::chrono::nanoseconds> step_time;
  std::string save_position;
  bool cold = false;
  bool json = false;
  bool quiet = false;
  ProgressMode progress = ProgressMode::automatic;
};

/// Puts --workers, --oversubscribe, --memory, --inline and --pin into `options`, where they are
/// given. Throws Error(usage).
void take_machine(const CommandLine& line, Options& options);

/// Throws Error(usage) naming the option or the place in the file.
[[nodiscard]] RunSettings run_settings(const CommandLine& line, const std::string& verb);

}  // namespace weir::program
