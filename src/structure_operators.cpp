#include "src/structure_operators.hpp"

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include <weir/batch_operator.hpp>
#include <weir/error.hpp>
#include <weir/mask_files.hpp>
#include <weir/step.hpp>

namespace weir::detail {
namespace {

using Role = StructureOperator::Role;

/// Calls `f` with the stream, whatever it is a stream of.
template <class F>
AnyStream on_any(const AnyStream& stream, F f) {
  return std::visit(
      [&](const auto& typed) -> AnyStream {
        if constexpr (std::is_same_v<std::decay_t<decltype(typed)>, std::monostate>)
          return typed;
        else
          return f(typed);
      },
      stream);
}

std::uint64_t count_of(const PipelineEntry& entry, std::string_view name) {
  return static_cast<std::uint64_t>(entry.parameters.integer(name));
}

AnyStream apply_read(const AnyStream& stream, const PipelineEntry& entry) {
  const auto* paths = std::get_if<Stream<Path>>(&stream);
  if (paths == nullptr) refuse_entry(entry, "needs paths: put it behind 'files' or 'list', once");
  if (entry.parameters.has("masks"))
    return paths->map("read", MaskedRead(entry.parameters.text("masks")), entry.options);
  return paths->read_samples(entry.options);
}

AnyStream apply_shuffle(const AnyStream& stream, const PipelineEntry& entry) {
  ShuffleOptions options;
  if (entry.parameters.has("buffer")) options.buffer = count_of(entry, "buffer");
  return on_any(stream, [&](const auto& typed) { return typed.shuffle(options); });
}

AnyStream apply_batch(const AnyStream& stream, const PipelineEntry& entry) {
  const auto* samples = std::get_if<Stream<Sample>>(&stream);
  if (samples == nullptr) {
    refuse_entry(entry, std::holds_alternative<Stream<Path>>(stream)
                            ? "needs samples: put 'read' before it"
                            : "the stream is already one of batches");
  }
  BatchOptions options;
  options.drop_remainder = entry.parameters.flag("drop_remainder");
  options.pad = entry.parameters.flag("pad");
  options.stage = entry.options;
  return samples->batch(count_of(entry, "size"), options);
}

AnyStream apply_repeat(const AnyStream& stream, const PipelineEntry& entry) {
  return on_any(stream, [&](const auto& typed) { return typed.repeat(count_of(entry, "times")); });
}

AnyStream apply_take(const AnyStream& stream, const PipelineEntry& entry) {
  return on_any(stream, [&](const auto& typed) { return typed.take(count_of(entry, "count")); });
}

AnyStream apply_skip(const AnyStream& stream, const PipelineEntry& entry) {
  return on_any(stream, [&](const auto& typed) { return typed.skip(count_of(entry, "count")); });
}

AnyStream apply_prefetch(const AnyStream& stream, const PipelineEntry& entry) {
  const bool batches = entry.parameters.has("batches");
  if (batches == entry.parameters.has("items"))
    refuse_entry(entry, "give either 'batches' or 'items'");
  const bool has_batches = std::holds_alternative<Stream<Batch<Sample>>>(stream);
  if (batches != has_batches)
    refuse_entry(entry, has_batches ? "the stream is one of batches here: give 'batches'"
                                    : "there are no batches here yet: give 'items', or put it "
                                      "behind 'batch'");
  const std::uint64_t depth = count_of(entry, batches ? "batches" : "items");
  return on_any(stream, [&](const auto& typed) { return typed.prefetch(depth); });
}

/// `auto`, the launcher's, or a number.
std::optional<int> rank_number(const PipelineEntry& entry, const std::string& name) {
  const std::string& text = entry.parameters.text(name);
  if (text == "auto") return std::nullopt;
  int number = 0;
  const char* const end = text.data() + text.size();
  if (std::from_chars(text.data(), end, number).ptr != end || number < 0)
    entry.parameters.reject(name, "must be auto or a whole number of at least 0");
  return number;
}

AnyStream apply_shard(const AnyStream& stream, const PipelineEntry& entry) {
  ShardOptions options;
  options.rank = rank_number(entry, "rank");
  options.world = rank_number(entry, "world");
  if (options.rank.has_value() != options.world.has_value())
    refuse_entry(entry, "give both 'rank' and 'world', or leave both to the launcher (auto)");
  if (options.rank && *options.rank >= *options.world)
    entry.parameters.reject("rank", fmt::format("must be below 'world', {}", *options.world));
  using Remainder = ShardPlace::Remainder;
  const std::string& remainder = entry.parameters.text("remainder");
  options.remainder = remainder == "drop"     ? Remainder::drop
                      : remainder == "uneven" ? Remainder::uneven
                                              : Remainder::pad;
  return on_any(stream, [&](const auto& typed) { return typed.shard(options); });
}

AnyStream apply_batch_operator(const AnyStream& stream, const PipelineEntry& entry) {
  const auto* batches = std::get_if<Stream<Batch<Sample>>>(&stream);
  if (batches == nullptr) refuse_entry(entry, "works on batches: put it behind 'batch'");
  const BatchOperatorSpec* spec = find_batch_operator(entry.op);
  return batches->map(entry.stage, spec->make(entry.parameters, entry.columns), entry.options);
}

ParameterSpec count_spec(const std::string& name, double low, const std::string& meaning) {
  ParameterSpec spec;
  spec.name = name;
  spec.type = ParameterType::integer;
  spec.low = low;
  spec.meaning = meaning;
  return spec;
}

ParameterSpec optional_count_spec(const std::string& name, const std::string& meaning) {
  ParameterSpec spec = count_spec(name, 1, meaning);
  spec.fallback = "none";
  return spec;
}

ParameterSpec flag_spec(const std::string& name, const std::string& meaning) {
  ParameterSpec spec;
  spec.name = name;
  spec.type = ParameterType::flag;
  spec.fallback = "false";
  spec.meaning = meaning;
  return spec;
}

ParameterSpec word_spec(const std::string& name, const std::string& fallback,
                        std::vector<std::string> choices, const std::string& meaning) {
  ParameterSpec spec;
  spec.name = name;
  spec.type = choices.empty() ? ParameterType::text : ParameterType::choice;
  spec.fallback = fallback;
  spec.choices = std::move(choices);
  spec.meaning = meaning;
  return spec;
}

std::vector<StructureOperator> make_table() {
  std::vector<StructureOperator> table = source_operators();
  table.push_back(filter_operator());
  table.push_back({"read",
                   "reads each file whole into the column image, the class number into label",
                   Role::stage,
                   {word_spec("masks", "none", {},
                              "folder of masks, relative to this file: the file called like the "
                              "image, with any extension, goes into the column mask")},
                   {"masks"},
                   apply_read});
  table.push_back({"shuffle",
                   "another order in every epoch, by the seed alone",
                   Role::shape,
                   {optional_count_spec("buffer",
                                        "shuffle in a buffer of so many items; none: the "
                                        "whole epoch, which needs a source with an index")},
                   {},
                   apply_shuffle});
  table.push_back({"batch",
                   "so many consecutive samples each",
                   Role::stage,
                   {count_spec("size", 1, "samples in a batch"),
                    flag_spec("drop_remainder", "leave out a last batch that is not full"),
                    flag_spec("pad", "pad samples of unequal shape with zeros to the largest")},
                   {},
                   apply_batch});
  table.push_back({"repeat",
                   "each epoch holds the stream so many times over",
                   Role::shape,
                   {count_spec("times", 1, "how often")},
                   {},
                   apply_repeat});
  table.push_back({"take",
                   "at most the first items of each epoch",
                   Role::shape,
                   {count_spec("count", 1, "how many")},
                   {},
                   apply_take});
  table.push_back({"skip",
                   "all but the first items of each epoch",
                   Role::shape,
                   {count_spec("count", 0, "how many are left out")},
                   {},
                   apply_skip});
  table.push_back(
      {"shard",
       "this rank's part of the stream, every world-th item",
       Role::shape,
       {word_spec("rank", "auto", {}, "this process's number; auto: the launcher's"),
        word_spec("world", "auto", {}, "how many processes; auto: the launcher's"),
        word_spec("remainder", "pad", {"pad", "drop", "uneven"},
                  "pad: items come twice so that ranks agree on the number of batches")},
       {},
       apply_shard});
  table.push_back({"prefetch",
                   "the depth of the queue here",
                   Role::shape,
                   {optional_count_spec("batches", "behind batch: batches held ready"),
                    optional_count_spec("items", "elsewhere: items held ready")},
                   {},
                   apply_prefetch});
  for (const BatchOperatorSpec& spec : batch_operator_table())
    table.push_back({spec.name,
                     spec.summary,
                     Role::stage,
                     spec.parameters,
                     {},
                     apply_batch_operator,
                     /*takes_columns=*/true});
  std::sort(table.begin(), table.end(),
            [](const auto& left, const auto& right) { return left.name < right.name; });
  return table;
}

}  // namespace

void refuse_entry(const PipelineEntry& entry, const std::string& what) {
  throw Error(ErrorKind::usage, entry.location.text(), entry.op + ": " + what);
}

AnyStream named(const AnyStream& stream, const PipelineEntry& entry) {
  return on_any(stream, [&](const auto& typed) {
    // Streams share their steps, so that a name is put on a copy of the last one.
    auto step = std::make_shared<Step>(*typed.step());
    step->name = entry.stage;
    step->written = entry.op;
    if (!entry.options.identity.empty()) step->options.identity = entry.options.identity;
    return std::decay_t<decltype(typed)>(std::move(step));
  });
}

std::span<const StructureOperator> structure_operators() {
  static const std::vector<StructureOperator> table = make_table();
  return table;
}

const StructureOperator* find_structure_operator(std::string_view name) {
  for (const StructureOperator& row : structure_operators())
    if (row.name == name) return &row;
  return nullptr;
}

}  // namespace weir::detail
