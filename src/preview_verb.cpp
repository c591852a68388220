#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <weir/error.hpp>
#include <weir/load_pipeline.hpp>
#include <weir/loader.hpp>

#include "src/contact_sheet.hpp"
#include "src/failure_report.hpp"
#include "src/standard_output.hpp"
#include "src/summary_json.hpp"
#include "src/verb.hpp"
#include "src/whole_file.hpp"

namespace weir::program {
namespace {

using Json = nlohmann::ordered_json;

/// The class's name, its number, or nothing.
std::string label_of(const Sample& sample, const std::vector<std::string>& classes) {
  const Tensor* label = sample.find("label");
  if (label == nullptr || label->dtype() != DType::i64 || label->shape().rank() != 0) return "";
  const std::int64_t number = *label->data<std::int64_t>();
  if (number >= 0 && static_cast<std::size_t>(number) < classes.size())
    return classes[static_cast<std::size_t>(number)];
  return fmt::format("{}", number);
}

Loader<Sample> start_samples(const Pipeline& pipeline) {
  try {
    return std::get<Pipeline::Samples>(pipeline.stream).start(pipeline.options);
  } catch (const Error& error) {
    throw pipeline.with_place(error);
  }
}

void check_picture(const Sample& sample, const Pipeline& pipeline) {
  const Tensor* image = sample.find("image");
  const bool drawn = image != nullptr && image->dtype() == DType::u8 && image->shape().rank() == 3;
  const std::int64_t channels = drawn ? image->shape()[2] : 0;
  if (channels == 1 || channels == 3 || channels == 4) return;
  throw Error(ErrorKind::usage, pipeline.operators.back().location.text(),
              image == nullptr
                  ? "preview: the samples have no column 'image'"
                  : fmt::format("preview: the column 'image' has shape {} here, not rows x columns "
                                "x channels; the pipeline needs 'decode'",
                                image->shape().text()));
}

}  // namespace

int preview_verb(const CommandLine& line, SignalWatch& signals) {
  // What turns pictures into numbers for a network shows nothing.
  const std::vector<std::string> stop_before{"to_float", "normalize", "hwc_to_chw", "one_hot",
                                             "batch"};
  constexpr std::uint64_t kMostPictures = 1024;
  const std::uint64_t count = line.count("--count", 1, kMostPictures).value_or(16);
  Pipeline pipeline = load_pipeline(line.argument(), variables_of(line), stop_before);
  const std::string path = line.text("--out").value_or(pipeline.name + ".preview.png");
  check_writable("--out", path);

  Options& options = pipeline.options;
  if (const auto chosen = line.choice("--image-path", {"auto", "plain"}))
    options.image_path = *chosen == 0 ? ImagePath::automatic : ImagePath::plain;
  if (const auto seed = line.count("--seed", 0, UINT64_MAX)) options.seed = *seed;
  options.epochs = 1;
  options.autotune = false;
  options.policy.clear();
  // A bad file should not hide the good ones; how many there were is said.
  options.on_bad_sample = BadSamplePolicy{BadSamplePolicy::Action::skip};
  options.quarantine.clear();

  std::vector<Picture> pictures;
  Json captions = Json::array();
  Loader<Sample> loader = start_samples(pipeline);
  {
    const WatchScope watching(signals, [&loader] { loader.close(); });
    const std::vector<std::string> classes = loader.classes();
    while (pictures.size() < count && signals.signal() == 0) {
      const std::optional<Sample> sample = loader.next();
      if (!sample) break;
      check_picture(*sample, pipeline);
      const Tensor& image = (*sample)["image"];
      const std::string label = label_of(*sample, classes);
      captions.push_back({{"label", label.empty() ? Json(nullptr) : Json(label)},
                          {"width", image.shape()[1]},
                          {"height", image.shape()[0]}});
      pictures.push_back({image.share(), fmt::format("{}{}{}x{}", label, label.empty() ? "" : "  ",
                                                     image.shape()[1], image.shape()[0])});
    }
  }
  loader.close();
  if (signals.signal() != 0) return exit_status(std::nullopt, signals.signal());
  if (pictures.empty()) throw Error(ErrorKind::data, pipeline.name, "no sample came to be shown");
  write_contact_sheet(pictures, path);

  const std::uint64_t bad = loader.summary().bad_count;
  if (line.has("--json")) {
    write_output(document_text({{"pipeline", pipeline.name},
                                {"sheet", path},
                                {"pictures", std::move(captions)},
                                {"bad_samples", bad}}));
  } else {
    write_output(fmt::format("{}: {} pictures{}\n", path, pictures.size(),
                             bad > 0 ? fmt::format("; {} bad samples passed over", bad) : ""));
  }
  return 0;
}

}  // namespace weir::program
