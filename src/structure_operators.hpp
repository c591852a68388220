#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <weir/export.hpp>
#include <weir/parameters.hpp>

#include "src/pipeline_entry.hpp"

namespace weir::detail {

/// One row of the table of operators that shape the stream rather than the sample.
struct StructureOperator {
  enum class Role {
    source,  ///< begins a pipeline; a source of files has no stage of its own
    stage,   ///< work that the controller allots workers to
    shape,   ///< order and number of items; no work, so no stage keys
  };

  std::string name;
  std::string summary;
  Role role;
  std::vector<ParameterSpec> parameters;
  std::vector<std::string> paths;  ///< parameters that are paths, relative to the file
  AnyStream (*apply)(const AnyStream& stream, const PipelineEntry& entry);
  bool takes_columns = false;  ///< `columns` may stand beside it
};

/// Sorted by name.
[[nodiscard]] WEIR_EXPORT std::span<const StructureOperator> structure_operators();
[[nodiscard]] const StructureOperator* find_structure_operator(std::string_view name);

/// The rows that several sources add.
[[nodiscard]] std::vector<StructureOperator> source_operators();
[[nodiscard]] StructureOperator filter_operator();

/// `stream` with the last step named and written as `entry` says.
[[nodiscard]] AnyStream named(const AnyStream& stream, const PipelineEntry& entry);

}  // namespace weir::detail
