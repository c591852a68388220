#include "src/summary_table.hpp"

#include <limits>

#include <fmt/format.h>

#include "src/quantity_text.hpp"
#include "src/short_name.hpp"
#include "src/text_table.hpp"

namespace weir::program {
namespace {

std::string plural(std::uint64_t count, const char* one, const char* several) {
  return fmt::format("{} {}",
                     count < 10 ? fmt::format("{}", count) : count_text(static_cast<double>(count)),
                     count == 1 ? one : several);
}

std::string stage_rows(const Summary& summary) {
  TextTable table({"stage", "workers", "target", "items/s", "service", "p95", "starved", "blocked",
                   "queue", "CPU", "bytes out"});
  for (const StageSummary& stage : summary.stages) {
    const bool capped = stage.cap > 0 && stage.cap < std::numeric_limits<int>::max();
    table.add({short_name(stage.name), fmt::format("{:.2f}", stage.running_mean),
               fmt::format("{:.2f}{}", stage.target,
                           stage.serial ? " serial"
                           : capped     ? fmt::format("/{}", stage.cap)
                                        : ""),
               count_text(stage.items_per_second),
               microseconds_text(stage.service_time.mean_seconds),
               microseconds_text(stage.service_time.p95_seconds),
               share_text(stage.wait_input_share), share_text(stage.wait_output_share),
               fmt::format("{:.1f}/{}", stage.queue_mean_items, stage.queue_capacity_items),
               fmt::format("{:.1f} s", stage.cpu_user_seconds + stage.cpu_system_seconds),
               bytes_text(stage.bytes_out)});
  }
  return table.text();
}

std::string reading_line(const ReadingSnapshot& reading) {
  std::string text =
      fmt::format("reading: {} of {} by {}", bytes_text(reading.bytes),
                  plural(reading.files, "file", "files"), to_string(reading.backend));
  text += reading.source_known
              ? fmt::format(", {} from the page cache", share_text(reading.hit_share()))
              : std::string(", from disk or page cache: the kernel does not say");
  if (reading.late_files > 0)
    text += fmt::format("; {} late, {:.1f} s waited", plural(reading.late_files, "file", "files"),
                        reading.wait_seconds);
  return text + fmt::format("; {} ahead\n", plural(reading.window_files, "file", "files"));
}

/// The label of the end, and how much of the time windows had it.
std::string label_text(const TuningSummary& tuning) {
  const auto share = tuning.label_shares.find(tuning.label);
  if (share == tuning.label_shares.end()) return tuning.label;
  return fmt::format("{} ({:.0f} % of the time)", tuning.label, 100 * share->second);
}

/// Who took the CPUs; empty while that is not worth a line.
std::string host_text(const TuningSummary& tuning) {
  if (tuning.contended_shares.empty()) return {};
  std::string by;
  for (const auto& [who, share] : tuning.contended_shares)
    by += fmt::format("{}{} {:.0f} % of the time", by.empty() ? "" : ", ", who, 100 * share);
  return fmt::format("CPUs: taken by {}; workers waited for one {} of the time they wanted it\n",
                     by, share_text(tuning.cpu_wait_share));
}

}  // namespace

std::string summary_text(const Summary& summary) {
  std::string text = fmt::format(
      "{}: {} in {}, {}; {:.2f} s, {} items/s, first batch after {}\n", summary.pipeline,
      plural(summary.items, "item", "items"), plural(summary.batches, "batch", "batches"),
      plural(summary.epochs, "epoch", "epochs"), summary.seconds,
      count_text(summary.items_per_second), milliseconds_text(summary.first_batch_seconds));
  text += fmt::format(
      "consumer: gap mean {}, p50 {}, p95 {}, p99 {}; step {}; waits {}\n",
      milliseconds_text(summary.gap.mean_seconds), milliseconds_text(summary.gap.p50_seconds),
      milliseconds_text(summary.gap.p95_seconds), milliseconds_text(summary.gap.p99_seconds),
      milliseconds_text(summary.step_mean_seconds), share_text(summary.wait_share));
  text +=
      fmt::format("machine: {} ({}), {} active, peak {}; memory peak {} of {}\n",
                  plural(static_cast<std::uint64_t>(summary.budget_threads), "worker", "workers"),
                  summary.budget_source, summary.budget_active, summary.peak_workers,
                  bytes_text(summary.peak_bytes), bytes_text(summary.memory_bound_bytes));
  if (summary.reading.files > 0) text += reading_line(summary.reading);
  const TuningSummary& tuning = summary.tuning;
  if (tuning.autotune) {
    text +=
        fmt::format("tuning: {}{}, {}, {}; label {}; {:.1f} workers unparked, {} needed\n",
                    tuning.policy, tuning.strict ? " (strict)" : "",
                    plural(static_cast<std::uint64_t>(tuning.moves), "move", "moves"),
                    tuning.settled ? fmt::format("settled after {:.1f} s", tuning.settle_seconds)
                                   : "not settled",
                    label_text(tuning), tuning.active_mean,
                    tuning.needed_workers > 0 ? fmt::format("{}", tuning.needed_workers) : "?");
  }
  text += host_text(tuning);
  if (!tuning.emitted.empty()) text += "tuned file: " + tuning.emitted + "\n";
  if (!tuning.emit_remark.empty()) text += tuning.emit_remark + "\n";
  if (!summary.digest.empty()) text += "digest: " + summary.digest + "\n";
  if (!summary.set_digest.empty()) text += "set digest: " + summary.set_digest + "\n";
  if (summary.bad_count > 0) {
    text += plural(summary.bad_count, "bad sample", "bad samples");
    text += summary.quarantine.empty() ? "\n" : ", listed in " + summary.quarantine + "\n";
  }
  return text + "\n" + stage_rows(summary);
}

}  // namespace weir::program
