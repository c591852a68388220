#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <weir/batch.hpp>
#include <weir/error.hpp>
#include <weir/export.hpp>
#include <weir/loader.hpp>
#include <weir/options.hpp>
#include <weir/parameters.hpp>
#include <weir/sample.hpp>
#include <weir/stream.hpp>

namespace weir {

/// An operator of a pipeline file, as it was written.
struct WrittenOperator {
  std::string op;     ///< the operator's name
  std::string stage;  ///< the name that stands for it in tables and tuned files
  Location location;
};

/// What `consumer:` says: a consumer to emulate, for programs that have none of their own.
struct ConsumerSettings {
  std::optional<std::chrono::nanoseconds> step_time;
};

/// When a run ends by the file, whichever comes first; `epochs` is in the options.
struct RunLength {
  std::optional<std::uint64_t> steps;
  std::optional<double> seconds;
};

/// A pipeline that a YAML file describes.
///
///     weir::Pipeline pipeline = weir::load_pipeline("resnet50.yaml", {{"data", "/photos"}});
///     weir::Loader<weir::Batch<weir::Sample>> loader = pipeline.start();
///     while (auto batch = loader.next()) train((*batch)["image"].data<float>());
///
/// Thread safety: a value; distinct objects are independent.
struct Pipeline {
  using Samples = Stream<Sample>;
  using Batches = Stream<Batch<Sample>>;

  std::string name;
  std::string file;
  std::variant<Samples, Batches> stream;
  Options options;
  ConsumerSettings consumer;
  RunLength length;
  std::vector<WrittenOperator> operators;
  std::map<std::string, Location> places;  ///< of the keys under `run:`

  [[nodiscard]] bool has_batches() const { return std::holds_alternative<Batches>(stream); }
  /// Starts the workers with the file's options, or with others. Throws Error, also where the file
  /// has no `batch`: then `std::get<Pipeline::Samples>(stream).start(options)` is what to call.
  [[nodiscard]] WEIR_EXPORT Loader<Batch<Sample>> start() const;
  [[nodiscard]] WEIR_EXPORT Loader<Batch<Sample>> start(const Options& other) const;
  /// `error`, which names a stage or an option, with its place in the file put in front; as it is
  /// where the file does not know it. start() does this by itself.
  [[nodiscard]] WEIR_EXPORT Error with_place(const Error& error) const;
};

/// Reads the pipeline file `path`. `variables` replace values of the file's `variables:`; a path
/// that begins with one of them is relative to the current folder, any other to the file's.
/// Operators from the first one in `stop_before` on are left out (a preview wants pictures, not
/// normalised floats).
///
/// Throws Error(usage) with `file:line:column`, what is allowed and the nearest right spelling, for
/// whatever is wrong in the file.
[[nodiscard]] WEIR_EXPORT Pipeline
load_pipeline(const std::string& path, const std::map<std::string, std::string>& variables = {},
              const std::vector<std::string>& stop_before = {});

/// The same from text; `path` is for messages and as the place that paths are relative to.
[[nodiscard]] WEIR_EXPORT Pipeline
parse_pipeline(const std::string& text, const std::string& path,
               const std::map<std::string, std::string>& variables = {},
               const std::vector<std::string>& stop_before = {});

}  // namespace weir
