#pragma once

#include <string>
#include <variant>
#include <vector>

#include <weir/batch.hpp>
#include <weir/file.hpp>
#include <weir/parameters.hpp>
#include <weir/sample.hpp>
#include <weir/stage_options.hpp>
#include <weir/stream.hpp>

namespace weir::detail {

/// One entry of the list `pipeline:`, checked: an operator, its parameters and what stands beside
/// it.
struct PipelineEntry {
  std::string op;     ///< the operator's name
  std::string stage;  ///< the stage's name, unique in the file
  Location location;
  Parameters parameters;
  StageOptions options;
  std::vector<std::string> columns;  ///< as written; empty: the operator's own choice
};

/// What a pipeline gives after so many entries.
using AnyStream = std::variant<std::monostate, Stream<Path>, Stream<Sample>, Stream<Batch<Sample>>>;

/// Throws Error(usage) at the entry.
[[noreturn]] void refuse_entry(const PipelineEntry& entry, const std::string& what);

}  // namespace weir::detail
