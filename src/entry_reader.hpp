#pragma once

#include <map>
#include <string>
#include <vector>

#include <weir/parameters.hpp>
#include <weir/sample_operator.hpp>

#include "src/pipeline_entry.hpp"
#include "src/section_reader.hpp"
#include "src/structure_operators.hpp"
#include "src/variables.hpp"
#include "src/yaml_node.hpp"

namespace weir::detail {

/// Reads the entries of `pipeline:` one after another: which operator each is, its parameters, and
/// the stage keys beside it.
///
/// **Thread safety**: none.
class EntryReader {
 public:
  EntryReader(const Variables& variables, std::string file)
      : variables_(variables), file_(std::move(file)) {}

  struct Row {
    const StructureOperator* structure = nullptr;  ///< one of the two
    const OperatorSpec* sample = nullptr;
    [[nodiscard]] const std::vector<ParameterSpec>& parameters() const {
      return structure != nullptr ? structure->parameters : sample->parameters;
    }
    /// Work of its own, which the controller allots workers to.
    [[nodiscard]] bool has_stage() const;
  };
  struct Read {
    Row row;
    PipelineEntry entry;
  };

  /// Throws Error(usage) with the place of whatever is wrong.
  [[nodiscard]] Read read(const YamlNode& node);

 private:
  [[nodiscard]] std::string stage_name(const YamlNode& node, const std::string& op);
  [[nodiscard]] Written parameters_of(const Row& row, const YamlNode& node, const std::string& op);
  void read_stage_keys(const Row& row, const YamlNode& node, PipelineEntry& entry) const;

  const Variables& variables_;
  std::string file_;
  std::map<std::string, Location, std::less<>> stages_;  ///< names in use
};

}  // namespace weir::detail
