#include "src/scan_plan.hpp"

#include <filesystem>
#include <variant>

#include <weir/error.hpp>
#include <weir/load_pipeline.hpp>
#include <weir/operators.hpp>

#include "pipeline/operators/image_link.hpp"
#include "src/run_settings.hpp"

namespace weir::program {
namespace {

/// How an operator decodes; null: it does not.
const detail::DecodeRules* rules_of(const SampleOperator* op) {
  const auto* link = dynamic_cast<const detail::ImageLink*>(op);
  return link == nullptr ? nullptr : link->decode_rules();
}

std::string name_of_folder(const std::string& folder) {
  const std::filesystem::path path = std::filesystem::absolute(folder).lexically_normal();
  const std::string name = (path.has_filename() ? path : path.parent_path()).filename().string();
  return name.empty() ? "root" : name;
}

ScanPlan plan_of_folder(const std::string& folder) {
  ScanPlan plan;
  plan.name = name_of_folder(folder);
  plan.files = std::make_shared<const FileIndex>(FileIndex::list(folder, {}));
  const SampleMap decode = weir::decode();
  plan.rules.decode = *rules_of(&decode.op());
  // Whether 16 bits are right is for a pipeline to say; the file is sound.
  plan.rules.decode.depth = Depth::keep;
  return plan;
}

/// The listing behind a source; null where it has none.
std::shared_ptr<const FileIndex> listing_of(const detail::Source& source) {
  if (&source.type() != &detail::slot_type<Path>() || source.size().value_or(0) == 0)
    return nullptr;
  detail::Slot<Path> slot;
  source.make(0, &slot);
  return slot.value().index();
}

ScanPlan plan_of_pipeline(const CommandLine& line) {
  const Pipeline pipeline = load_pipeline(line.argument(), variables_of(line));
  const auto last = std::visit([](const auto& stream) { return stream.step(); }, pipeline.stream);
  const detail::DecodeRules* rules = nullptr;
  const detail::Step* step = last.get();
  for (;; step = step->previous.get()) {
    if (const auto* own = rules_of(step->sample_operator.get())) rules = own;
    if (step->previous == nullptr) break;
  }
  ScanPlan plan;
  plan.name = pipeline.name;
  plan.files = listing_of(*step->source);
  if (plan.files == nullptr)
    throw Error(ErrorKind::usage, pipeline.operators.front().location.text(),
                pipeline.operators.front().op + ": no files to scan; that takes 'files' or 'list'");
  if (rules == nullptr)
    throw Error(ErrorKind::usage, pipeline.file,
                "has no 'decode', so nothing says what a good file is; scan the folder instead");
  plan.rules.decode = *rules;
  plan.options.workers = pipeline.options.workers;
  plan.options.oversubscribe = pipeline.options.oversubscribe;
  plan.options.reserve = pipeline.options.reserve;
  plan.options.memory_bytes = pipeline.options.memory_bytes;
  plan.options.pin = pipeline.options.pin;
  return plan;
}

}  // namespace

ScanPlan scan_plan(const CommandLine& line) {
  std::error_code unknown;
  const bool folder = std::filesystem::is_directory(line.argument(), unknown);
  if (folder && (line.has("--set") || line.has("--data")))
    throw Error(ErrorKind::usage, line.has("--set") ? "--set" : "--data",
                "is for a pipeline file, and " + line.argument() + " is a folder");
  ScanPlan plan = folder ? plan_of_folder(line.argument()) : plan_of_pipeline(line);
  plan.rules.quick = line.has("--quick");
  plan.rules.content = line.has("--duplicates");
  plan.options.name = plan.name;
  plan.options.epochs = 1;
  take_machine(line, plan.options);
  return plan;
}

}  // namespace weir::program
