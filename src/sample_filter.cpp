#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <weir/context.hpp>
#include <weir/error.hpp>
#include <weir/sample.hpp>

#include "src/structure_operators.hpp"

namespace weir::detail {
namespace {

/// Which samples stay. Every condition that is set must hold.
struct SampleFilter {
  std::optional<double> keep;
  std::vector<std::int32_t> labels;
  std::int64_t least_side = 0;
  std::string column = "image";

  bool operator()(const Sample& sample, Context& context) const {
    if (!labels.empty() && std::find(labels.begin(), labels.end(), context.label()) == labels.end())
      return false;
    if (least_side > 0) {
      const Shape& shape = sample[column].shape();
      if (shape.rank() != 3)
        throw Error(ErrorKind::usage, "filter",
                    "min_size: column '" + column + "' has shape " + shape.text() +
                        ", needed are rows x columns x channels; put the filter behind 'decode' "
                        "and before 'hwc_to_chw'");
      if (std::min(shape[0], shape[1]) < least_side) return false;
    }
    return !keep || context.random().chance(*keep);
  }
};

AnyStream apply_filter(const AnyStream& stream, const PipelineEntry& entry) {
  const auto* samples = std::get_if<Stream<Sample>>(&stream);
  if (samples == nullptr)
    refuse_entry(entry, std::holds_alternative<Stream<Path>>(stream)
                            ? "needs samples: put 'read' before it"
                            : "works on samples: put it before 'batch'");
  const Parameters& given = entry.parameters;
  SampleFilter filter;
  if (given.has("keep")) filter.keep = given.number("keep");
  if (given.has("label"))
    for (const double number : given.numbers("label")) {
      if (number != static_cast<double>(static_cast<std::int32_t>(number)))
        given.reject("label", "class numbers are whole");
      filter.labels.push_back(static_cast<std::int32_t>(number));
    }
  if (given.has("min_size")) filter.least_side = given.integer("min_size");
  if (!filter.keep && filter.labels.empty() && filter.least_side == 0)
    refuse_entry(entry, "says nothing to choose by; give keep, label or min_size");
  if (entry.columns.size() > 1) refuse_entry(entry, "looks at one column");
  if (!entry.columns.empty()) filter.column = entry.columns.front();
  return samples->filter(entry.stage, std::move(filter), entry.options);
}

}  // namespace

StructureOperator filter_operator() {
  ParameterSpec keep;
  keep.name = "keep";
  keep.type = ParameterType::share;
  keep.fallback = "none";
  keep.low = 0;
  keep.high = 1;
  keep.meaning = "keep this share of the samples, drawn by seed, epoch and sample";
  ParameterSpec label;
  label.name = "label";
  label.type = ParameterType::numbers;
  label.fallback = "none";
  label.low = 0;
  label.high = 2147483647;
  label.meaning = "keep the samples of these class numbers";
  ParameterSpec min_size;
  min_size.name = "min_size";
  min_size.type = ParameterType::integer;
  min_size.fallback = "none";
  min_size.low = 1;
  min_size.meaning = "keep images whose shorter side has at least so many pixels";
  return {"filter",
          "keeps the samples that meet every condition given",
          StructureOperator::Role::stage,
          {keep, label, min_size},
          {},
          apply_filter,
          /*takes_columns=*/true};
}

}  // namespace weir::detail
