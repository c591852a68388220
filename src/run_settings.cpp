#include "src/run_settings.hpp"

#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <sstream>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include <weir/error.hpp>
#include <weir/policy.hpp>
#include <weir/position.hpp>

namespace weir::program {
namespace {

constexpr std::uint64_t kMostWorkers = 1024;

[[noreturn]] void refuse(const std::string& where, const std::string& what) {
  throw Error(ErrorKind::usage, where, what);
}

void take_data(const CommandLine& line, Options& options) {
  if (const auto seed = line.count("--seed", 0, UINT64_MAX)) options.seed = *seed;
  if (const auto order = line.choice("--order", {"input", "any"}))
    options.order = *order == 0 ? Order::input : Order::any;
  if (const auto fuse = line.choice("--fuse", {"auto", "all", "off"}))
    options.fuse = *fuse == 0 ? Fuse::automatic : *fuse == 1 ? Fuse::all : Fuse::off;
  if (const auto path = line.choice("--image-path", {"auto", "plain"}))
    options.image_path = *path == 0 ? ImagePath::automatic : ImagePath::plain;
  constexpr Reader kReaders[] = {Reader::automatic, Reader::pread, Reader::io_uring};
  if (const auto reader = line.choice("--reader", {"auto", "pread", "io_uring"}))
    options.reader = kReaders[*reader];
  if (line.has("--digest")) options.digest = true;
}

void take_tuning(const CommandLine& line, const std::string& verb, Options& options) {
  if (line.has("--autotune") || verb == "tune") options.autotune = true;
  if (line.has("--strict")) options.strict = true;
  if (const auto policy = line.text("--policy")) {
    std::vector<std::string> names;
    for (const PolicyInfo& info : policies()) names.emplace_back(info.name);
    static_cast<void>(line.choice("--policy", names));
    if (!options.autotune)
      refuse("--policy", "is for the controller, which is off; add --autotune, or use weir tune");
    options.policy = *policy;
  }
  // Without the controller the start's own policy holds: share, or even where strict.
  if (!options.autotune) options.policy.clear();
  if (const auto file = line.text("--tuned")) options.tuned = *file;
  if (const auto mismatch = line.choice("--tuned-mismatch", {"refuse", "ignore"}))
    options.tuned_mismatch = *mismatch == 0 ? TunedMismatch::refuse : TunedMismatch::ignore;
  if (const auto file = line.text("--emit")) options.emit = *file;
  if (const auto file = line.text("--log")) options.log = *file;
  if (options.run_inline && options.autotune)
    refuse("--inline", "runs on one thread, so there is nothing to tune; leave --autotune out");
}

Position saved_position(const std::string& path) {
  errno = 0;
  std::ifstream stream(path);
  if (!stream) refuse(path, std::string("cannot be read: ") + std::strerror(errno));
  std::stringstream text;
  text << stream.rdbuf();
  try {
    return Position::parse(text.str());
  } catch (const Error& error) {
    refuse(path, error.what());
  }
}

/// True when a bad sample may be passed over somewhere.
bool tolerates_bad_samples(const Pipeline& pipeline) {
  using Action = BadSamplePolicy::Action;
  if (pipeline.options.on_bad_sample.action != Action::fail) return true;
  const auto step = std::visit([](const auto& stream) { return stream.step(); }, pipeline.stream);
  for (const detail::Step* at = step.get(); at != nullptr; at = at->previous.get())
    if (at->options.on_bad_sample && at->options.on_bad_sample->action != Action::fail) return true;
  return false;
}

}  // namespace

void take_machine(const CommandLine& line, Options& options) {
  if (line.has("--workers")) {
    options.workers = std::nullopt;
    if (line.text("--workers") != "auto") {
      // Read by hand so that "auto" stands among what is allowed.
      const std::string text = *line.text("--workers");
      const bool digits = !text.empty() && text.size() < 10 &&
                          text.find_first_not_of("0123456789") == std::string::npos;
      const std::uint64_t workers = digits ? std::stoull(text) : 0;
      if (workers < 1 || workers > kMostWorkers)
        line.reject("--workers", fmt::format("auto or a whole number from 1 to {}", kMostWorkers));
      options.workers = static_cast<int>(workers);
    }
  }
  if (line.has("--oversubscribe")) options.oversubscribe = true;
  if (const auto memory = line.text("--memory")) {
    options.memory_bytes = std::nullopt;
    if (*memory != "auto") {
      options.memory_bytes = parse_size_bytes(*memory);
      if (options.memory_bytes.value_or(0) == 0)
        line.reject("--memory", "auto or a size, as 512MiB or 2GiB");
    }
  }
  if (line.has("--inline")) options.run_inline = true;
  constexpr PlacementMode kModes[] = {PlacementMode::none, PlacementMode::cache_domain,
                                      PlacementMode::core, PlacementMode::node};
  if (const auto mode = line.choice("--pin", {"none", "cache_domain", "core", "node"}))
    options.pin = kModes[*mode];
}

RunSettings run_settings(const CommandLine& line, const std::string& verb) {
  RunSettings settings{load_pipeline(line.argument(), variables_of(line)), {}, {}, {}, {}};
  Pipeline& pipeline = settings.pipeline;
  Options& options = pipeline.options;
  take_machine(line, options);
  for (const char* key : {"workers", "memory", "order", "pin"})
    if (line.has(std::string("--") + key)) pipeline.places[key] = {std::string("--") + key, 0, 0};
  take_data(line, options);
  take_tuning(line, verb, options);

  const auto epochs = line.count("--epochs", 1, std::numeric_limits<std::int32_t>::max());
  if (epochs) options.epochs = static_cast<std::uint32_t>(*epochs);
  settings.steps = line.count("--steps", 1, UINT64_MAX);
  if (!settings.steps) settings.steps = pipeline.length.steps;
  settings.seconds = line.seconds("--seconds");
  if (!settings.seconds) settings.seconds = pipeline.length.seconds;
  settings.step_time = pipeline.consumer.step_time;
  if (const auto step = line.duration("--step-time"))
    settings.step_time =
        std::chrono::nanoseconds(static_cast<std::int64_t>(std::llround(*step * 1e9)));

  if (const auto file = line.text("--resume")) options.resume = saved_position(*file);
  settings.save_position = line.text("--save-position").value_or("");
  if (!settings.save_position.empty() && options.order == Order::any)
    refuse("--save-position", "needs order: input; with any there is no position to go on from");
  if (verb == "run" && !options.epochs && !settings.steps && !settings.seconds)
    options.epochs = options.resume ? options.resume->epoch + 1 : 1;

  if (const auto file = line.text("--quarantine")) {
    options.quarantine = *file == "none" ? "" : *file;
  } else if (options.quarantine.empty() && tolerates_bad_samples(pipeline)) {
    options.quarantine = pipeline.name + ".quarantine.txt";
  }
  settings.cold = line.has("--cold");
  settings.json = line.has("--json");
  settings.quiet = line.has("--quiet");
  if (const auto progress = line.choice("--progress", {"auto", "always", "never"}))
    settings.progress = static_cast<ProgressMode>(*progress);
  return settings;
}

}  // namespace weir::program
