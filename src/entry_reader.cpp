#include "src/entry_reader.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <weir/error.hpp>

#include "src/known_elsewhere.hpp"
#include "src/section_reader.hpp"
#include "src/suggestion.hpp"

namespace weir::detail {
namespace {

const std::vector<std::string> kStageKeys{"name",  "workers",       "cap",    "serial",
                                          "queue", "on_bad_sample", "columns"};
constexpr double kMostWorkers = 1024;

[[noreturn]] void refuse(const Location& place, const std::string& what) {
  throw Error(ErrorKind::usage, place.text(), what);
}

bool is_stage_key(std::string_view key) {
  return std::find(kStageKeys.begin(), kStageKeys.end(), key) != kStageKeys.end();
}

EntryReader::Row find_row(std::string_view name) {
  return {find_structure_operator(name), find_operator(name)};
}

std::vector<std::string> operator_names() {
  std::vector<std::string> names;
  for (const StructureOperator& row : structure_operators()) names.push_back(row.name);
  for (const OperatorSpec& row : operator_table()) names.push_back(row.name);
  std::sort(names.begin(), names.end());
  return names;
}

[[noreturn]] void refuse_operator(const YamlNode::Key& key) {
  if (planned_operator(key.text))
    refuse(key.location, fmt::format("the operator '{}' is not in this version", key.text));
  for (const auto& ours : {known_elsewhere(key.text), operator_elsewhere(key.text)})
    if (ours) refuse(key.location, fmt::format("unknown operator '{}'; {}", key.text, *ours));
  const std::vector<std::string> names = operator_names();
  refuse(key.location,
         fmt::format("unknown operator '{}'{}", key.text, suggestion(key.text, names, "Known")));
}

/// Which key of an entry is its operator.
std::size_t operator_key(const YamlNode& entry) {
  std::vector<std::size_t> others;
  std::optional<std::size_t> known;
  for (std::size_t i = 0; i < entry.keys.size(); ++i) {
    const std::string& key = entry.keys[i].text;
    if (is_stage_key(key)) continue;
    others.push_back(i);
    const EntryReader::Row row = find_row(key);
    if (row.structure == nullptr && row.sample == nullptr) continue;
    if (known)
      refuse(entry.keys[i].location,
             fmt::format("'{}' is a second operator in the entry of '{}'; begin each with '- '",
                         key, entry.keys[*known].text));
    known = i;
  }
  if (others.empty())
    refuse(entry.location,
           "no operator in this entry; it is written '- decode: {}', with stage "
           "keys beside it");
  if (!known) refuse_operator(entry.keys[others.front()]);
  for (const std::size_t i : others) {
    if (i == *known) continue;
    const YamlNode::Key& key = entry.keys[i];
    refuse(key.location,
           fmt::format("unknown key '{}' beside '{}'{}", key.text, entry.keys[*known].text,
                       key_suggestion(key.text, kStageKeys, "Allowed there")));
  }
  return *known;
}

std::string identity_text(const Value& value) {
  struct Visitor {
    std::string operator()(std::monostate) const { return "none"; }
    std::string operator()(bool flag) const { return flag ? "true" : "false"; }
    std::string operator()(std::int64_t number) const { return fmt::format("{}", number); }
    std::string operator()(double number) const { return fmt::format("{}", number); }
    std::string operator()(const std::string& text) const { return text; }
    std::string operator()(const Value::List& list) const {
      std::string text;
      for (const Value& one : list) text += (text.empty() ? "" : ",") + identity_text(one);
      return "[" + text + "]";
    }
  };
  return std::visit(Visitor{}, value.data);
}

/// What the stage does, for the structure hash: every parameter but paths, defaults included, so
/// that writing a default out changes nothing.
std::string identity_of(const EntryReader::Row& row, const std::string& op, const Written& written,
                        const std::vector<std::string>& columns) {
  std::string text = op;
  for (const ParameterSpec& spec : row.parameters()) {
    if (row.structure != nullptr &&
        std::find(row.structure->paths.begin(), row.structure->paths.end(), spec.name) !=
            row.structure->paths.end())
      continue;
    const auto found = written.find(spec.name);
    text += ";" + spec.name + "=" +
            (found == written.end() ? spec.fallback : identity_text(found->second));
  }
  if (!columns.empty()) text += fmt::format(";columns={}", fmt::join(columns, ","));
  return text;
}

ParameterSpec stage_spec(const std::string& name, ParameterType type, double high,
                         const std::string& meaning) {
  ParameterSpec spec;
  spec.name = name;
  spec.type = type;
  spec.fallback = type == ParameterType::flag ? "false" : "none";
  spec.low = 1;
  spec.high = high;
  spec.meaning = meaning;
  return spec;
}

std::vector<std::string> read_columns(const YamlNode& node, const Variables& variables) {
  const Value value = variables.value(node);
  const Value::List single{value};
  const auto* list = std::get_if<Value::List>(&value.data);
  std::vector<std::string> columns;
  for (const Value& one : list != nullptr ? *list : single) {
    const auto* name = std::get_if<std::string>(&one.data);
    if (name == nullptr || name->empty())
      refuse(one.location, "columns: must be a name or a list of names, as [image, mask]");
    if (std::find(columns.begin(), columns.end(), *name) != columns.end())
      refuse(one.location, fmt::format("columns: '{}' stands twice", *name));
    columns.push_back(*name);
  }
  if (columns.empty()) refuse(node.location, "columns: the list is empty");
  return columns;
}

}  // namespace

bool EntryReader::Row::has_stage() const {
  return structure == nullptr || structure->role == StructureOperator::Role::stage ||
         (structure->role == StructureOperator::Role::source && structure->paths.empty());
}

EntryReader::Read EntryReader::read(const YamlNode& node) {
  YamlNode entry = node;
  if (node.kind == YamlNode::Kind::scalar && !node.text.empty()) {
    // `- decode` is short for `- decode: {}`.
    entry = YamlNode{};
    entry.kind = YamlNode::Kind::map;
    entry.location = node.location;
    entry.keys.push_back({node.text, node.location});
    entry.items.emplace_back();
    entry.items.back().location = node.location;
  }
  if (entry.kind != YamlNode::Kind::map)
    refuse(node.location, "an entry is one operator with its parameters, as '- batch: {size: 32}'");

  const std::size_t at = operator_key(entry);
  const std::string op = entry.keys[at].text;
  const Row row = find_row(op);
  const Written written = parameters_of(row, entry.items[at], op);
  PipelineEntry made{op,
                     stage_name(entry, op),
                     entry.keys[at].location,
                     Parameters(op, row.parameters(), written, entry.keys[at].location),
                     {},
                     {}};
  read_stage_keys(row, entry, made);
  made.options.identity = identity_of(row, op, written, made.columns);
  return {row, std::move(made)};
}

Written EntryReader::parameters_of(const Row& row, const YamlNode& node, const std::string& op) {
  if (node.kind != YamlNode::Kind::map && !node.is_nothing()) {
    const std::vector<ParameterSpec>& specs = row.parameters();
    refuse(node.location, specs.empty()
                              ? fmt::format("{} takes no parameters: '{}: {{}}'", op, op)
                              : fmt::format("{} takes its parameters by name, as '{}: {{{}: ...}}'",
                                            op, op, specs.front().name));
  }
  for (const YamlNode::Key& key : node.keys) {
    const auto named = [&](const ParameterSpec& spec) { return spec.name == key.text; };
    if (std::any_of(row.parameters().begin(), row.parameters().end(), named)) continue;
    // These three have a parameter that means it, which Parameters names.
    if (op == "shuffle" || op == "batch" || op == "shard") continue;
    if (const auto ours = known_elsewhere(key.text))
      refuse(key.location, fmt::format("{}: unknown key '{}'; {}", op, key.text, *ours));
  }
  Written written = written_values(node, variables_, op);
  for (const YamlNode::Key& key : node.keys) {
    // An unknown key is named at its own place rather than at its value's.
    const auto named = [&](const ParameterSpec& spec) { return spec.name == key.text; };
    if (!std::any_of(row.parameters().begin(), row.parameters().end(), named))
      written[key.text].location = key.location;
  }
  if (row.structure != nullptr) {
    for (const std::string& path : row.structure->paths) {
      const auto found = written.find(path);
      if (found == written.end()) continue;
      auto* text = std::get_if<std::string>(&found->second.data);
      if (text == nullptr || text->empty() || variables_.begins_with_given(*node.find(path)))
        continue;
      *text = path_beside(file_, *text);
    }
  }
  return written;
}

std::string EntryReader::stage_name(const YamlNode& node, const std::string& op) {
  if (const YamlNode* written = node.find("name")) {
    const Value value = variables_.value(*written);
    const auto* name = std::get_if<std::string>(&value.data);
    const auto allowed = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
             c == '_' || c == '-' || c == '.';
    };
    if (name == nullptr || name->empty() || name->size() > 100 ||
        !std::all_of(name->begin(), name->end(), allowed))
      refuse(written->location, "name: must be a text of letters, digits, '_', '-' and '.'");
    const auto [found, fresh] = stages_.emplace(*name, written->location);
    if (!fresh)
      refuse(written->location, fmt::format("name: '{}' is already the name of the stage at {}",
                                            *name, found->second.text()));
    return *name;
  }
  std::string name = op;
  for (int number = 2; !stages_.emplace(name, node.location).second; ++number)
    name = fmt::format("{}_{}", op, number);
  return name;
}

void EntryReader::read_stage_keys(const Row& row, const YamlNode& node,
                                  PipelineEntry& entry) const {
  static const std::vector<ParameterSpec> specs{
      stage_spec("workers", ParameterType::integer, kMostWorkers, "workers of this stage"),
      stage_spec("cap", ParameterType::integer, kMostWorkers, "most workers at once"),
      stage_spec("serial", ParameterType::flag, 1, "one worker at a time, in order"),
      stage_spec("queue", ParameterType::integer, 1e9, "depth of the queue behind, in items")};
  Written written;
  for (std::size_t i = 0; i < node.keys.size(); ++i) {
    const std::string& key = node.keys[i].text;
    if (!is_stage_key(key) || key == "name") continue;
    if (!row.has_stage())
      refuse(node.keys[i].location,
             fmt::format("'{}' is no stage with work of its own, so '{}' cannot stand beside it",
                         entry.op, key));
    if (key == "columns") {
      if (row.structure != nullptr && !row.structure->takes_columns)
        refuse(node.keys[i].location,
               fmt::format("'{}' acts on whole samples, not on columns", entry.op));
      entry.columns = read_columns(node.items[i], variables_);
    } else if (key == "on_bad_sample") {
      entry.options.on_bad_sample = read_bad_sample_policy(node.items[i], variables_);
    } else if (node.items[i].kind == YamlNode::Kind::map) {
      refuse(node.items[i].location, fmt::format("'{}' is a value, not a map", key));
    } else {
      written.emplace(key, variables_.value(node.items[i]));
    }
  }
  const Parameters given(entry.op, specs, written, entry.location);
  const auto whole = [&](const char* name) {
    return given.has(name) ? given.integer(name) : std::int64_t{0};
  };
  entry.options.workers = static_cast<int>(whole("workers"));
  entry.options.cap = static_cast<int>(whole("cap"));
  entry.options.serial = given.flag("serial");
  entry.options.queue = whole("queue");
  if (entry.options.workers > 0 && entry.options.cap > 0)
    given.reject("cap", "'workers' beside it already is the cap; keep one of the two");
  if (entry.options.serial && (entry.options.workers > 1 || entry.options.cap > 1))
    given.reject("serial", "a serial stage has one worker; leave the other key out");
}

}  // namespace weir::detail
