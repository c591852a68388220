#pragma once

#include <memory>
#include <string>

#include <weir/file_index.hpp>
#include <weir/options.hpp>

#include "src/command_line.hpp"
#include "src/scan_entry.hpp"

namespace weir::program {

/// What a scan goes through, and how: a folder with the defaults of `decode`, or the files of a
/// pipeline as its own `decode` would take them.
struct ScanPlan {
  std::string name;
  std::shared_ptr<const FileIndex> files;
  ScanRules rules;
  Options options;  ///< of the loader that does the work

  /// Those too that a quarantine list leaves out of runs: they may have been mended.
  [[nodiscard]] std::uint64_t count() const { return files->size() + files->left_out(); }
};

/// Throws Error(usage) naming the option, the folder or the place in the file.
[[nodiscard]] ScanPlan scan_plan(const CommandLine& line);

}  // namespace weir::program
