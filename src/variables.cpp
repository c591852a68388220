#include "src/variables.hpp"

#include <charconv>
#include <cmath>
#include <filesystem>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include <weir/error.hpp>

#include "src/suggestion.hpp"
#include "src/yaml_reader.hpp"

namespace weir::detail {
namespace {

[[noreturn]] void refuse(const Location& place, const std::string& what) {
  throw Error(ErrorKind::usage, place.text(), what);
}

template <class Number>
std::optional<Number> whole_text_as(std::string_view text) {
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || stop != end || text.empty()) return std::nullopt;
  return number;
}

std::optional<double> special_number(std::string_view text) {
  bool negative = false;
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) {
    negative = text.front() == '-';
    text.remove_prefix(1);
  }
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (text == ".inf" || text == ".Inf" || text == ".INF") return negative ? -kInfinity : kInfinity;
  if (text == ".nan" || text == ".NaN" || text == ".NAN")
    return std::numeric_limits<double>::quiet_NaN();
  return std::nullopt;
}

/// std::from_chars also takes "inf", "nan" and their like, which YAML spells with a dot.
bool looks_like_a_number(std::string_view text) {
  for (const char c : text) {
    if (c >= '0' && c <= '9') return true;
    if (c != '+' && c != '-' && c != '.') return false;
  }
  return false;
}

const char* type_name(const Value& value) {
  constexpr const char* kNames[] = {"nothing",  "true or false", "a whole number",
                                    "a number", "a text",        "a list"};
  return kNames[value.data.index()];
}

/// What was given for a variable, as the type that the file's own value has.
Value given_value(const std::string& name, const std::string& text, const Value& written) {
  const Location place{"variable " + name, 0, 0};
  if (std::holds_alternative<std::string>(written.data)) return {text, place};
  Value value = std::holds_alternative<Value::List>(written.data)
                    ? Variables(nullptr, {}, place.file).value(read_yaml(text, place.file))
                    : scalar_value(text, true, place);
  const bool widens = std::holds_alternative<double>(written.data) &&
                      std::holds_alternative<std::int64_t>(value.data);
  const bool free = std::holds_alternative<std::monostate>(written.data);
  if (!widens && !free && value.data.index() != written.data.index())
    refuse(place, fmt::format("'{}' was given, must be {} like its value in {}", text,
                              type_name(written), written.location.text()));
  return value;
}

std::size_t skip_escape(std::string_view text, std::size_t at) {
  return at > 0 && text[at - 1] == '$' ? at + 2 : std::string_view::npos;
}

}  // namespace

Value scalar_value(std::string_view text, bool plain, const Location& location) {
  if (!plain) return {std::string(text), location};
  if (text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL")
    return {std::monostate{}, location};
  if (text == "true" || text == "True" || text == "TRUE") return {true, location};
  if (text == "false" || text == "False" || text == "FALSE") return {false, location};
  if (looks_like_a_number(text)) {
    if (const auto whole = whole_text_as<std::int64_t>(text)) return {*whole, location};
    if (const auto number = whole_text_as<double>(text)) return {*number, location};
  }
  if (const auto number = special_number(text)) return {*number, location};
  return {std::string(text), location};
}

Variables::Variables(const YamlNode* section, const std::map<std::string, std::string>& given,
                     const std::string& file) {
  if (section != nullptr && !section->is_nothing()) {
    if (section->kind != YamlNode::Kind::map)
      refuse(section->location, "variables: must be a map, as {data: photos, size: 224}");
    for (std::size_t i = 0; i < section->items.size(); ++i) {
      const YamlNode& node = section->items[i];
      if (node.kind == YamlNode::Kind::map)
        refuse(node.location, fmt::format("variables: '{}' must be a value or a list of values",
                                          section->keys[i].text));
      if (node.text.find("${") != std::string::npos)
        refuse(node.location, "variables: a variable cannot be made of others");
      // Written values hold no variables, and none is known yet.
      variables_[section->keys[i].text] = {value(node), node.text, false};
    }
  }
  for (const auto& [name, text] : given) {
    const auto found = variables_.find(name);
    if (found == variables_.end()) {
      std::vector<std::string> names;
      for (const auto& [known, variable] : variables_) names.push_back(known);
      throw Error(
          ErrorKind::usage, file,
          fmt::format("has no variable '{}' to set{}", name, suggestion(name, names, "It has")));
    }
    Variable& variable = found->second;
    variable = {given_value(name, text, variable.value), text, true};
  }
}

const Variables::Variable& Variables::find(std::string_view name, const Location& place) const {
  const auto found = variables_.find(name);
  if (found != variables_.end()) return found->second;
  std::vector<std::string> names;
  for (const auto& [known, variable] : variables_) names.push_back(known);
  refuse(place, fmt::format("unknown variable '{}'{}", name, suggestion(name, names, "Variables")));
}

Value Variables::scalar(const YamlNode& node) const {
  std::string_view text = node.text;
  if (text.find("${") == std::string_view::npos)
    return scalar_value(text, node.plain, node.location);
  std::string result;
  std::size_t copied = 0;
  for (std::size_t at = text.find("${"); at != std::string_view::npos; at = text.find("${", at)) {
    if (const std::size_t after = skip_escape(text, at); after != std::string_view::npos) {
      result += text.substr(copied, at - 1 - copied);
      result += "${";
      at = copied = after;
      continue;
    }
    const std::size_t end = text.find('}', at);
    if (end == std::string_view::npos)
      refuse(node.location, fmt::format("'{}': a '${{' without its '}}'", node.text));
    const std::string_view name = text.substr(at + 2, end - at - 2);
    const Variable& variable = find(name, node.location);
    if (at == 0 && end + 1 == text.size()) {
      Value value = variable.value;
      value.location = node.location;
      return value;
    }
    if (std::holds_alternative<Value::List>(variable.value.data))
      refuse(node.location, fmt::format("'{}' is a list and cannot stand inside a text", name));
    result += text.substr(copied, at - copied);
    result += variable.text;
    at = copied = end + 1;
  }
  result += text.substr(copied);
  return {std::move(result), node.location};
}

Value Variables::value(const YamlNode& node) const {
  switch (node.kind) {
    case YamlNode::Kind::scalar:
      return scalar(node);
    case YamlNode::Kind::map:
      refuse(node.location, "a value or a list is expected here, not a map");
    case YamlNode::Kind::list:
      break;
  }
  Value::List list;
  for (const YamlNode& item : node.items) list.push_back(value(item));
  return {std::move(list), node.location};
}

bool Variables::begins_with_given(const YamlNode& node) const {
  if (node.kind != YamlNode::Kind::scalar || !node.text.starts_with("${")) return false;
  const std::size_t end = node.text.find('}');
  if (end == std::string::npos) return false;
  const auto found = variables_.find(node.text.substr(2, end - 2));
  return found != variables_.end() && found->second.given;
}

std::string path_beside(const std::string& file, const std::string& path) {
  const std::filesystem::path written(path);
  if (written.is_absolute()) return path;
  return (std::filesystem::path(file).parent_path() / written).string();
}

}  // namespace weir::detail
