#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <weir/batch_operator.hpp>
#include <weir/error.hpp>
#include <weir/parameters.hpp>
#include <weir/sample_operator.hpp>

#include "src/known_elsewhere.hpp"
#include "src/standard_output.hpp"
#include "src/structure_operators.hpp"
#include "src/suggestion.hpp"
#include "src/summary_json.hpp"
#include "src/text_table.hpp"
#include "src/verb.hpp"

namespace weir::program {
namespace {

using Json = nlohmann::ordered_json;

struct Row {
  std::string name;
  std::string summary;
  std::string kind;
  std::span<const ParameterSpec> parameters;
};

std::vector<Row> all_rows() {
  using Role = detail::StructureOperator::Role;
  std::vector<Row> rows;
  for (const detail::StructureOperator& row : detail::structure_operators())
    rows.push_back({row.name, row.summary,
                    row.role == Role::source                   ? "source"
                    : find_batch_operator(row.name) != nullptr ? "batch"
                    : row.role == Role::stage                  ? "stage"
                                                               : "shape",
                    row.parameters});
  for (const OperatorSpec& row : operator_table())
    rows.push_back({row.name, row.summary, "sample", row.parameters});
  std::sort(rows.begin(), rows.end(),
            [](const Row& left, const Row& right) { return left.name < right.name; });
  return rows;
}

const char* type_name(ParameterType type) {
  switch (type) {
    case ParameterType::flag:
      return "true or false";
    case ParameterType::integer:
      return "whole number";
    case ParameterType::number:
      return "number";
    case ParameterType::range:
      return "two numbers";
    case ParameterType::numbers:
      return "numbers";
    case ParameterType::text:
      return "text";
    case ParameterType::choice:
      return "choice";
    case ParameterType::duration:
      return "duration";
    case ParameterType::size:
      return "size";
    case ParameterType::share:
      return "share";
  }
  return "";
}

bool has_limits(const ParameterSpec& spec) {
  return spec.type != ParameterType::flag && spec.type != ParameterType::text &&
         spec.type != ParameterType::choice;
}

constexpr double kNoLimit = 1e300;

std::string allowed_text(const ParameterSpec& spec) {
  if (spec.type == ParameterType::choice) return fmt::format("{}", fmt::join(spec.choices, ", "));
  if (!has_limits(spec)) return "";
  const bool low = spec.low > -kNoLimit;
  const bool high = spec.high < kNoLimit;
  if (low && high) return fmt::format("{:.10g} to {:.10g}", spec.low, spec.high);
  if (low) return fmt::format("from {:.10g}", spec.low);
  if (high) return fmt::format("to {:.10g}", spec.high);
  return "";
}

Json parameter_json(const ParameterSpec& spec) {
  Json json = {{"name", spec.name},
               {"type", type_name(spec.type)},
               {"required", spec.fallback.empty()},
               {"default", spec.fallback.empty() ? Json(nullptr) : Json(spec.fallback)}};
  if (spec.type == ParameterType::choice) json["choices"] = spec.choices;
  if (has_limits(spec) && spec.low > -kNoLimit) json["low"] = spec.low;
  if (has_limits(spec) && spec.high < kNoLimit) json["high"] = spec.high;
  json["meaning"] = spec.meaning;
  return json;
}

Json row_json(const Row& row) {
  Json parameters = Json::array();
  for (const ParameterSpec& spec : row.parameters) parameters.push_back(parameter_json(spec));
  return {{"name", row.name},
          {"kind", row.kind},
          {"summary", row.summary},
          {"parameters", std::move(parameters)}};
}

std::string row_text(const Row& row) {
  std::string text = row.name + ": " + row.summary + "\n";
  if (row.parameters.empty()) return text + "It takes no parameters.\n";
  text += "\n";
  std::size_t name_width = 0;
  std::size_t type_width = 0;
  std::size_t default_width = 0;
  for (const ParameterSpec& spec : row.parameters) {
    name_width = std::max(name_width, spec.name.size());
    type_width = std::max(type_width, std::string(type_name(spec.type)).size());
    default_width = std::max(default_width, std::max<std::size_t>(spec.fallback.size() + 2, 8));
  }
  for (const ParameterSpec& spec : row.parameters) {
    const std::string allowed = allowed_text(spec);
    text +=
        fmt::format("  {:<{}}  {:<{}}  {:<{}}  {}{}\n", spec.name, name_width, type_name(spec.type),
                    type_width, spec.fallback.empty() ? "required" : "= " + spec.fallback,
                    default_width, spec.meaning, allowed.empty() ? "" : " (" + allowed + ")");
  }
  return text;
}

}  // namespace

int operators_verb(const CommandLine& line, SignalWatch&) {
  const std::vector<Row> rows = all_rows();
  const std::string& name = line.argument();
  if (name.empty()) {
    if (line.has("--json")) {
      Json document = Json::array();
      for (const Row& row : rows) document.push_back(row_json(row));
      write_output(document_text(document));
      return 0;
    }
    std::string text;
    std::size_t width = 0;
    for (const Row& row : rows) width = std::max(width, row.name.size());
    for (const Row& row : rows)
      text += fmt::format("{:<{}}  {:<6}  {}\n", row.name, width, row.kind, row.summary);
    text += "\nweir operators NAME shows parameters, ranges and defaults.\n";
    write_output(text);
    return 0;
  }
  std::vector<std::string> names;
  for (const Row& row : rows) {
    names.push_back(row.name);
    if (row.name != name) continue;
    write_output(line.has("--json") ? document_text(row_json(row)) : row_text(row));
    return 0;
  }
  if (detail::planned_operator(name)) throw Error(ErrorKind::usage, name, "not in this version");
  if (const auto ours = detail::operator_elsewhere(name))
    throw Error(ErrorKind::usage, "", fmt::format("no operator '{}'; {}", name, *ours));
  throw Error(ErrorKind::usage, "",
              fmt::format("no operator '{}'{}", name, detail::suggestion(name, names, "Known")));
}

}  // namespace weir::program
