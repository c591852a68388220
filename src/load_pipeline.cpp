#include <weir/load_pipeline.hpp>

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include <weir/error.hpp>

#include "src/entry_reader.hpp"
#include "src/section_reader.hpp"
#include "src/structure_operators.hpp"
#include "src/variables.hpp"
#include "src/yaml_reader.hpp"

namespace weir {
namespace {

using detail::AnyStream;
using detail::EntryReader;
using detail::PipelineEntry;
using detail::StructureOperator;
using detail::Variables;
using detail::YamlNode;

[[noreturn]] void refuse(const Location& place, const std::string& what) {
  throw Error(ErrorKind::usage, place.text(), what);
}

void check_version(const YamlNode& root) {
  const YamlNode* version = root.find("weir");
  if (version == nullptr)
    refuse(root.location, "no 'weir: 1' at the head, so this is no pipeline file of weir");
  const Value value = detail::scalar_value(version->text, version->plain, version->location);
  const auto* number = std::get_if<std::int64_t>(&value.data);
  if (version->kind != YamlNode::Kind::scalar || number == nullptr || *number != 1)
    refuse(version->location,
           fmt::format("weir: '{}' is not a version that is known here; 1 is", version->text));
}

/// The name also names files, so it takes what file names take everywhere.
std::string pipeline_name(const YamlNode& root, const Variables& variables,
                          const std::string& file) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
  };
  const YamlNode* node = root.find("name");
  if (node == nullptr) {
    std::string stem = std::filesystem::path(file).stem().string();
    for (char& c : stem)
      if (!allowed(c)) c = '_';
    return stem.empty() ? "pipeline" : stem;
  }
  if (node->kind != YamlNode::Kind::scalar) refuse(node->location, "name: must be a text");
  const Value value = variables.value(*node);
  const auto* name = std::get_if<std::string>(&value.data);
  if (name == nullptr || name->empty() || name->size() > 100 || name->front() == '.' ||
      name->front() == '-' || !std::all_of(name->begin(), name->end(), allowed))
    refuse(node->location, "name: must be a text of letters, digits, '_', '-' and '.'");
  return *name;
}

std::uint64_t seed_of(const YamlNode& root, const Variables& variables) {
  const YamlNode* node = root.find("seed");
  if (node == nullptr) return 0;
  if (node->kind != YamlNode::Kind::scalar) refuse(node->location, "seed: must be a whole number");
  const Value value = variables.value(*node);
  const auto* number = std::get_if<std::int64_t>(&value.data);
  if (number == nullptr || *number < 0)
    refuse(node->location,
           fmt::format("seed: '{}', must be a whole number of at least 0", node->text));
  return static_cast<std::uint64_t>(*number);
}

AnyStream apply_sample_operator(const AnyStream& stream, const OperatorSpec& spec,
                                const PipelineEntry& entry) {
  const auto* samples = std::get_if<Stream<Sample>>(&stream);
  if (samples == nullptr) {
    refuse_entry(entry, std::holds_alternative<Stream<Path>>(stream)
                            ? "needs samples: put 'read' before it"
                            : "works on samples: put it before 'batch'");
  }
  return samples->map(entry.stage, spec.make(entry.parameters, entry.columns), entry.options);
}

AnyStream apply_entry(const AnyStream& stream, const EntryReader::Read& read) {
  const PipelineEntry& entry = read.entry;
  const bool begins = std::holds_alternative<std::monostate>(stream);
  const bool source =
      read.row.structure != nullptr && read.row.structure->role == StructureOperator::Role::source;
  if (begins && !source)
    refuse_entry(entry, "a pipeline begins with a source: files, list, range or photos");
  if (!begins && source)
    refuse_entry(entry, "a source stands at the beginning, and there is one already");
  try {
    if (read.row.sample != nullptr)
      return detail::named(apply_sample_operator(stream, *read.row.sample, entry), entry);
    return detail::named(read.row.structure->apply(stream, entry), entry);
  } catch (const Error& error) {
    // What the C++ interface finds wrong knows no place in the file.
    if (std::string(error.where()).starts_with(entry.location.file + ":")) throw;
    throw Error(error.kind(), entry.location.text(), entry.op + ": " + error.what());
  }
}

void build_stream(const YamlNode& root, const Variables& variables,
                  const std::vector<std::string>& stop_before, Pipeline& pipeline) {
  const YamlNode* list = root.find("pipeline");
  if (list == nullptr) refuse(root.location, "'pipeline:', the list of operators, is missing");
  if (list->kind != YamlNode::Kind::list || list->items.empty())
    refuse(list->location, "pipeline: must be a list of operators, each begun with '- '");
  EntryReader reader(variables, pipeline.file);
  AnyStream stream;
  for (const YamlNode& node : list->items) {
    const EntryReader::Read read = reader.read(node);
    if (std::find(stop_before.begin(), stop_before.end(), read.entry.op) != stop_before.end())
      break;
    stream = apply_entry(stream, read);
    pipeline.operators.push_back({read.entry.op, read.entry.stage, read.entry.location});
  }
  if (const auto* batches = std::get_if<Pipeline::Batches>(&stream)) {
    pipeline.stream = *batches;
  } else if (const auto* samples = std::get_if<Pipeline::Samples>(&stream)) {
    pipeline.stream = *samples;
  } else {
    refuse(list->location, "the pipeline ends with paths; put 'read' behind the source");
  }
}

/// An empty stream to begin with; every way out of parse_pipeline replaces it or throws.
Pipeline empty_pipeline(const std::string& path) {
  return Pipeline{{}, path, Pipeline::Samples(nullptr), {}, {}, {}, {}, {}};
}

}  // namespace

Pipeline parse_pipeline(const std::string& text, const std::string& path,
                        const std::map<std::string, std::string>& variables,
                        const std::vector<std::string>& stop_before) {
  static const std::vector<std::string> keys{"weir",     "name", "variables", "seed",  "pipeline",
                                             "consumer", "run",  "device",    "tuning"};
  const YamlNode root = detail::read_yaml(text, path);
  if (root.kind != YamlNode::Kind::map)
    refuse(root.location, "must be a map of keys that begins with 'weir: 1'");
  check_version(root);
  detail::check_keys(root, "a pipeline file", keys);
  const Variables known(root.find("variables"), variables, path);

  Pipeline pipeline = empty_pipeline(path);
  pipeline.name = pipeline_name(root, known, path);
  pipeline.options.name = pipeline.name;
  pipeline.options.seed = seed_of(root, known);
  if (const YamlNode* node = root.find("run")) detail::read_run(*node, known, pipeline);
  if (const YamlNode* node = root.find("consumer")) detail::read_consumer(*node, known, pipeline);
  if (const YamlNode* node = root.find("tuning")) detail::read_tuning(*node, known, pipeline);
  if (const YamlNode* node = root.find("device")) detail::read_device(*node, known);
  build_stream(root, known, stop_before, pipeline);
  return pipeline;
}

Pipeline load_pipeline(const std::string& path, const std::map<std::string, std::string>& variables,
                       const std::vector<std::string>& stop_before) {
  return parse_pipeline(detail::read_yaml_text(path, "a pipeline file"), path, variables,
                        stop_before);
}

Loader<Batch<Sample>> Pipeline::start() const { return start(options); }

Loader<Batch<Sample>> Pipeline::start(const Options& other) const {
  const auto* batches = std::get_if<Batches>(&stream);
  if (batches == nullptr)
    throw Error(ErrorKind::usage, file,
                "has no 'batch', so there are no batches to start; add one, or start the samples: "
                "std::get<weir::Pipeline::Samples>(pipeline.stream).start(options)");
  try {
    return batches->start(other);
  } catch (const Error& error) {
    throw with_place(error);
  }
}

Error Pipeline::with_place(const Error& error) const {
  std::string place;
  for (const WrittenOperator& written : operators)
    if (written.stage == error.where()) place = written.location.text();
  if (const auto found = places.find(error.where()); place.empty() && found != places.end())
    place = found->second.text();
  return place.empty() ? error : Error(error.kind(), place, error.what());
}

}  // namespace weir
