#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <weir/sources.hpp>

#include "src/photo_source.hpp"
#include "src/structure_operators.hpp"

namespace weir::detail {
namespace {

using Role = StructureOperator::Role;

std::string text_or_nothing(const Parameters& parameters, std::string_view name) {
  return parameters.has(name) ? parameters.text(name) : std::string();
}

AnyStream apply_files(const AnyStream&, const PipelineEntry& entry) {
  FilesOptions options;
  options.pattern = text_or_nothing(entry.parameters, "pattern");
  options.recursive = entry.parameters.flag("recursive");
  options.classes_file = text_or_nothing(entry.parameters, "classes");
  options.quarantine = text_or_nothing(entry.parameters, "quarantine");
  if (entry.parameters.text("labels") == "parent_folder") options.labels = Labels::parent_folder;
  if (!options.classes_file.empty() && options.labels == Labels::none)
    entry.parameters.reject("classes", "there are no classes without labels: parent_folder");
  return files(entry.parameters.text("root"), options);
}

AnyStream apply_list(const AnyStream&, const PipelineEntry& entry) {
  return list_file(entry.parameters.text("file"), text_or_nothing(entry.parameters, "classes"));
}

AnyStream apply_range(const AnyStream&, const PipelineEntry& entry) {
  const auto count = static_cast<std::uint64_t>(entry.parameters.integer("count"));
  return indexed("range", count, [](std::uint64_t index) {
    Tensor number(Shape{}, DType::i64);
    *number.data<std::int64_t>() = static_cast<std::int64_t>(index);
    Sample sample;
    sample.set("index", std::move(number));
    return sample;
  });
}

AnyStream apply_photos(const AnyStream&, const PipelineEntry& entry) {
  const Parameters& given = entry.parameters;
  PhotoSourceOptions options;
  options.count = static_cast<std::uint64_t>(given.integer("count"));
  options.width = static_cast<int>(given.integer("width"));
  options.height = static_cast<int>(given.integer("height"));
  options.quality = static_cast<int>(given.integer("quality"));
  options.classes = static_cast<int>(given.integer("classes"));
  options.seed = static_cast<std::uint64_t>(given.integer("seed"));
  options.bad_share = given.number("bad");
  return Stream<Sample>(
      source_step("photos", std::make_shared<PhotoSource>(options), entry.options.identity));
}

ParameterSpec text_spec(const std::string& name, const std::string& fallback,
                        const std::string& meaning) {
  ParameterSpec spec;
  spec.name = name;
  spec.type = ParameterType::text;
  spec.fallback = fallback;
  spec.meaning = meaning;
  return spec;
}

ParameterSpec integer_spec(const std::string& name, const std::string& fallback, double low,
                           double high, const std::string& meaning) {
  ParameterSpec spec = text_spec(name, fallback, meaning);
  spec.type = ParameterType::integer;
  spec.low = low;
  spec.high = high;
  return spec;
}

ParameterSpec labels_spec() {
  ParameterSpec spec = text_spec("labels", "none", "where the class comes from");
  spec.type = ParameterType::choice;
  spec.choices = {"none", "parent_folder"};
  return spec;
}

ParameterSpec recursive_spec() {
  ParameterSpec spec = text_spec("recursive", "true", "look into folders as well");
  spec.type = ParameterType::flag;
  return spec;
}

ParameterSpec bad_spec() {
  ParameterSpec spec = text_spec("bad", "0", "share of the photographs that are damaged");
  spec.type = ParameterType::share;
  spec.low = 0;
  spec.high = 1;
  return spec;
}

}  // namespace

std::vector<StructureOperator> source_operators() {
  constexpr double kUnlimited = 1e300;
  const ParameterSpec classes = text_spec(
      "classes", "none", "file of class names and numbers: read if it exists, else written");
  return {
      {"files",
       "the files below a folder, sorted",
       Role::source,
       {text_spec("root", "", "the folder, relative to this file"),
        text_spec("pattern", "none", "which names, as *.jpg or train/**/*.png; none: all"),
        labels_spec(), recursive_spec(), classes,
        text_spec("quarantine", "none",
                  "list of bad files to leave out, as weir scan and runs write it")},
       {"root", "classes", "quarantine"},
       apply_files},
      {"list",
       "the files that a list names, one path[,label] a line, in its order",
       Role::source,
       {text_spec("file", "", "the list, relative to this file"), classes},
       {"file", "classes"},
       apply_list},
      {"photos",
       "generated photographs as JPEG bytes, for tests",
       Role::source,
       {integer_spec("count", "1000", 1, kUnlimited, "how many"),
        integer_spec("width", "500", 8, 8192, "in pixels"),
        integer_spec("height", "375", 8, 8192, "in pixels"),
        integer_spec("quality", "92", 1, 100, "of the JPEG compression"),
        integer_spec("classes", "10", 1, 100000, "how many classes the labels have"),
        integer_spec("seed", "0", 0, kUnlimited, "other photographs"), bad_spec()},
       {},
       apply_photos},
      {"range",
       "numbers from 0 on, in the column index",
       Role::source,
       {integer_spec("count", "", 1, kUnlimited, "how many")},
       {},
       apply_range},
  };
}

}  // namespace weir::detail
