// Every built-in operator gives the same bytes for any number of workers and after a resume, and
// stands in the table of docs/operators.md.
#include <fstream>
#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <weir/batch_operators.hpp>
#include <weir/load_pipeline.hpp>
#include <weir/operators.hpp>

#include "src/structure_operators.hpp"
#include "tests/pipeline/loader_run.hpp"

namespace weir::test {
namespace {

/// What an operator is run with.
struct Run {
  std::string written;    ///< as in a pipeline file
  bool on_files = false;  ///< takes the bytes of a file
};

/// Each operator with parameters that make it draw, cut or change something.
const std::map<std::string, Run>& runs() {
  static const std::map<std::string, Run> all{
      {"adjust_brightness", {"{factor: 1.4, probability: 0.5}"}},
      {"adjust_contrast", {"{factor: 1.4, probability: 0.5}"}},
      {"adjust_hue", {"{turn: 0.2, probability: 0.5}"}},
      {"adjust_saturation", {"{factor: 1.4, probability: 0.5}"}},
      {"adjust_sharpness", {"{factor: 2, probability: 0.5}"}},
      {"autocontrast", {"{cutoff: 2%, probability: 0.5}"}},
      {"center_crop", {"{size: 24}"}},
      {"color_jitter", {"{brightness: 0.4, contrast: 0.4, saturation: 0.4, hue: 0.1}"}},
      {"convert_dtype", {"{dtype: u16}"}},
      {"cutmix", {"{classes: 4}"}},
      {"cutout", {"{length: 8}"}},
      {"decode", {"{}", true}},
      {"emulate", {"{cpu: 1us}"}},
      {"equalize", {"{probability: 0.5}"}},
      {"gaussian_blur", {"{kernel_size: 5}"}},
      {"hwc_to_chw", {"{}"}},
      {"invert", {"{probability: 0.5}"}},
      {"label_map", {"{to: [3, 2, 1, 0]}"}},
      {"mixup", {"{classes: 4}"}},
      {"mixup_or_cutmix", {"{classes: 4}"}},
      {"normalize", {"{mean: 0.5, std: 0.25}"}},
      {"one_hot", {"{classes: 4, smoothing: 10%}"}},
      {"pad", {"{padding: 3}"}},
      {"pad_to_size", {"{size: 48, offset: [1, 2]}"}},
      {"posterize", {"{bits: 3, probability: 0.5}"}},
      {"rand_augment", {"{}"}},
      {"random_crop", {"{size: 24}"}},
      {"random_crop_decode_resize", {"{size: 24}", true}},
      {"random_erasing", {"{}"}},
      {"random_grayscale", {"{probability: 0.5}"}},
      {"random_horizontal_flip", {"{}"}},
      {"random_resized_crop", {"{size: 24}"}},
      {"random_rotation", {"{degrees: 40, interpolation: linear}"}},
      {"random_vertical_flip", {"{}"}},
      {"resize", {"{size: 24}"}},
      {"solarize", {"{probability: 0.5}"}},
      {"to_float", {"{}"}},
      {"trivial_augment_wide", {"{}"}}};
  return all;
}

bool on_batches(const std::string& name) { return find_batch_operator(name) != nullptr; }

Pipeline pipeline_with(const std::string& name) {
  const Run& run = runs().at(name);
  const std::string entry = "  - " + name + ": " + run.written + "\n";
  std::string text =
      "weir: 1\nseed: 11\npipeline:\n  - photos: {count: 24, width: 40, height: 36, classes: 4}\n"
      "  - shuffle: {}\n";
  if (!run.on_files) text += "  - decode: {}\n";
  if (!on_batches(name)) text += entry;
  text += "  - batch: {size: 4}\n";
  if (on_batches(name)) text += entry;
  return parse_pipeline(text, "operator_runs.yaml");
}

Options options_for(const Pipeline& pipeline, int count) {
  Options options = workers(count);
  options.seed = pipeline.options.seed;
  options.epochs = 2;
  options.digest = true;
  return options;
}

class EveryOperator : public testing::TestWithParam<std::string> {};

TEST_P(EveryOperator, GivesTheSameBytesForAnyWorkersAndAfterAResume) {
  const Pipeline pipeline = pipeline_with(GetParam());
  std::string digest;
  Position position;
  for (const int count : {1, 2, 8}) {
    Loader<Batch<Sample>> loader = pipeline.start(options_for(pipeline, count));
    int delivered = 0;
    for (std::uint32_t epoch = 0; epoch < 2; ++epoch)
      for (const Batch<Sample>& batch : loader.epoch(epoch)) {
        ASSERT_EQ(batch.size(), 4U);
        if (++delivered == 8) position = loader.position();
      }
    ASSERT_EQ(delivered, 12);
    const std::string own = loader.summary().digest;
    if (digest.empty()) digest = own;
    EXPECT_EQ(own, digest) << count << " workers";
  }
  Options options = options_for(pipeline, 8);
  options.resume = Position::parse(position.text());
  Loader<Batch<Sample>> loader = pipeline.start(options);
  for (std::uint32_t epoch = position.epoch; epoch < 2; ++epoch)
    for (const Batch<Sample>& batch : loader.epoch(epoch)) ASSERT_EQ(batch.size(), 4U);
  EXPECT_EQ(loader.summary().digest, digest) << "resumed";
}

std::vector<std::string> operator_names() {
  std::vector<std::string> names;
  for (const OperatorSpec& spec : operator_table()) names.push_back(spec.name);
  for (const BatchOperatorSpec& spec : batch_operator_table()) names.push_back(spec.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Operators, EveryOperator, testing::ValuesIn(operator_names()),
                         [](const auto& name) { return name.param; });

TEST(OperatorPages, HaveARowForEveryOperatorAndNoOther) {
  std::set<std::string> built_in;
  for (const OperatorSpec& spec : operator_table()) built_in.insert(spec.name);
  for (const detail::StructureOperator& row : detail::structure_operators())
    built_in.insert(row.name);
  std::ifstream stream(std::string(WEIR_TEST_SOURCE_DIR) + "/docs/operators.md");
  ASSERT_TRUE(stream);
  std::set<std::string> rows;
  for (std::string line; std::getline(stream, line);) {
    // The first cell of a row names ours, several where they share a row.
    if (!line.starts_with("| `")) continue;
    std::string cell = line.substr(1, line.find('|', 1) - 1);
    for (std::size_t begin = cell.find('`'); begin != std::string::npos;) {
      const std::size_t end = cell.find('`', begin + 1);
      rows.insert(cell.substr(begin + 1, end - begin - 1));
      begin = cell.find('`', end + 1);
    }
  }
  EXPECT_EQ(rows, built_in);
}

}  // namespace
}  // namespace weir::test
