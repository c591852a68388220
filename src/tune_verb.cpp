#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "src/failure_report.hpp"
#include "src/quantity_text.hpp"
#include "src/run_session.hpp"
#include "src/run_settings.hpp"
#include "src/short_name.hpp"
#include "src/standard_output.hpp"
#include "src/summary_json.hpp"
#include "src/summary_table.hpp"
#include "src/text_table.hpp"
#include "src/verb.hpp"

namespace weir::program {
namespace {

using Clock = std::chrono::steady_clock;
using Json = nlohmann::ordered_json;

constexpr double kMostSeconds = 60;
/// The untuned start runs for this long, a tenth of the time at most, and is measured behind the
/// first part of it.
constexpr double kStartSeconds = 3;
constexpr double kFillShare = 0.4;
/// And what was found for as long, and at least so many batches.
constexpr double kAfterSeconds = 2;
constexpr std::uint64_t kAfterBatches = 20;
/// How often the loader is asked whether it has settled.
constexpr std::chrono::milliseconds kAsk{50};

/// One side of the comparison.
struct Measured {
  double seconds = 0;
  std::uint64_t batches = 0;
  double items_per_second = 0;
  double gap_mean = 0;
  double gap_median = 0;
  Summary summary;
};

Measured measured(const SessionEnd& end) {
  Measured side;
  side.seconds = end.window.seconds(end.ended);
  side.batches = end.window.batches();
  side.items_per_second = end.window.items_per_second(end.ended);
  side.gap_mean = end.window.mean_wait_seconds();
  side.gap_median = end.window.median_wait_seconds();
  side.summary = end.summary;
  return side;
}

std::string workers_text(const Summary& summary) {
  std::string text;
  for (const StageSummary& stage : summary.stages)
    text += fmt::format("{}{} {:.2f}/{:.2f}", text.empty() ? "" : ", ", short_name(stage.name),
                        stage.running_mean, stage.target);
  return text;
}

Json side_json(const Measured& side) {
  Json workers = Json::object();
  for (const StageSummary& stage : side.summary.stages)
    workers[stage.name] = {{"running_mean", stage.running_mean}, {"target", stage.target}};
  return {{"seconds", side.seconds},
          {"batches", side.batches},
          {"items_per_second", side.items_per_second},
          {"gap_ms", {{"mean", side.gap_mean * 1e3}, {"p50", side.gap_median * 1e3}}},
          {"active", side.summary.budget_active},
          {"stages", std::move(workers)}};
}

std::string comparison(const Measured& before, const Measured& after) {
  TextTable table({"", "items/s", "gap mean", "gap p50", "active", "workers (running/target)"},
                  {0, 5});
  for (const auto& [name, side] : {std::pair{"before", &before}, std::pair{"after", &after}})
    table.add({name, count_text(side->items_per_second), milliseconds_text(side->gap_mean),
               milliseconds_text(side->gap_median), fmt::format("{}", side->summary.budget_active),
               workers_text(side->summary)});
  return table.text();
}

/// What was gained, in words. The two sides are measured for seconds each, so that a percent is
/// noise.
std::string gain_text(double gain, const Measured& after) {
  constexpr double kNoise = 0.02;
  if (gain > kNoise) return fmt::format("gain {:+.1f} % against the untuned start", gain * 100);
  const std::string now = fmt::format("{} of {} workers stay awake", after.summary.budget_active,
                                      after.summary.budget_threads);
  if (gain >= -kNoise)
    return fmt::format("as fast as the untuned start ({:+.1f} %); {}", gain * 100, now);
  return fmt::format("{:.1f} % slower than the untuned start was; {}", -gain * 100, now);
}

/// The untuned start on the whole budget, once it has filled: what the tuning is held against.
SessionEnd run_start(const RunSettings& settings, double seconds, SignalWatch& signals) {
  RunSettings start = settings;
  Options options = settings.pipeline.options;
  options.autotune = false;
  options.policy.clear();
  options.tuned.clear();
  options.emit.clear();
  options.log.clear();
  options.epochs.reset();
  start.steps.reset();
  start.seconds = seconds;
  start.save_position.clear();
  // The pipeline fills in the first part.
  const Clock::time_point filled =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(
                         std::chrono::duration<double>(seconds * kFillShare));
  bool begun = false;
  SessionHooks hooks;
  hooks.remark = [] { return std::string("untuned"); };
  hooks.done = [&](const detail::LoaderBase&, WaitWindow& window) {
    const Clock::time_point now = Clock::now();
    if (!begun && now >= filled) {
      begun = true;
      window.begin(now);
    }
    return false;
  };
  return run_session(start, options, signals, hooks);
}

/// Until settled and then a little longer, so that what was found is measured by itself.
SessionEnd run_tuning(const RunSettings& settings, SignalWatch& signals) {
  std::optional<Clock::time_point> settled;
  Clock::time_point ask = Clock::now();
  SessionHooks hooks;
  hooks.remark = [] { return std::string("tuning"); };
  hooks.done = [&](const detail::LoaderBase& loader, WaitWindow& window) {
    const Clock::time_point now = Clock::now();
    if (now < ask) return false;
    ask = now + kAsk;
    // Settled without a file: nothing is verified yet, as where others use the CPUs.
    const TuningSummary tuning = loader.summary().tuning;
    if (!tuning.settled || tuning.emitted.empty()) {
      settled.reset();
    } else if (!settled) {
      settled = now;
      window.begin(now);
    }
    return settled && std::chrono::duration<double>(now - *settled).count() >= kAfterSeconds &&
           window.batches() >= kAfterBatches;
  };
  return run_session(settings, settings.pipeline.options, signals, hooks);
}

}  // namespace

int tune_verb(const CommandLine& line, SignalWatch& signals) {
  RunSettings settings = run_settings(line, "tune");
  Options& options = settings.pipeline.options;
  // Epochs repeat, unless the command line says how many.
  if (!line.has("--epochs")) options.epochs.reset();
  if (!line.has("--steps")) settings.steps.reset();
  if (!line.has("--seconds")) settings.seconds = kMostSeconds;
  if (options.emit.empty()) options.emit = settings.pipeline.name + ".tuned.yaml";

  const double start_seconds = std::min(kStartSeconds, *settings.seconds / 10);
  const SessionEnd start = run_start(settings, start_seconds, signals);
  if (start.error || signals.signal() != 0) {
    if (start.error) report_failure(*start.error, "tune");
    return exit_status(start.error, signals.signal());
  }
  settings.seconds = *settings.seconds - start_seconds;
  const SessionEnd end = run_tuning(settings, signals);
  if (end.error) report_failure(*end.error, "tune");

  const Measured before = measured(start);
  const Measured after = measured(end);
  const double gain =
      before.items_per_second > 0 ? after.items_per_second / before.items_per_second - 1 : 0;
  const TuningSummary& tuning = end.summary.tuning;
  if (settings.json) {
    Json document = {{"pipeline", end.summary.pipeline},
                     {"before", side_json(before)},
                     {"after", side_json(after)},
                     {"gain", gain},
                     {"settled", tuning.settled},
                     {"emitted", tuning.emitted.empty() ? Json(nullptr) : Json(tuning.emitted)},
                     {"run", summary_json(end.summary)}};
    if (end.error) document["error"] = error_json(*end.error);
    if (signals.signal() != 0) document["signal"] = signals.signal();
    write_output(document_text(document));
  } else {
    std::string text = summary_text(end.summary) + "\n" + comparison(before, after);
    text += gain_text(gain, after) + "\n";
    if (!tuning.emitted.empty())
      text += fmt::format("Start from it with: weir run {} --tuned {}\n", line.argument(),
                          tuning.emitted);
    write_output(text);
  }
  if (tuning.emitted.empty() && !end.error && signals.signal() == 0) {
    report_failure(
        Error(ErrorKind::cannot, options.emit,
              tuning.emit_remark.empty() ? "no tuned file was written" : tuning.emit_remark),
        "tune");
    return static_cast<int>(ErrorKind::cannot);
  }
  return exit_status(end.error, signals.signal());
}

}  // namespace weir::program
