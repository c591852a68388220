#include <weir/summary.hpp>

#include <algorithm>
#include <limits>
#include <ostream>

#include <fmt/format.h>

namespace weir {
namespace {

std::string worker_cap(int cap) {
  return cap == std::numeric_limits<int>::max() ? std::string("-") : std::to_string(cap);
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const Summary& summary) {
  std::size_t width = 5;
  for (const StageSummary& stage : summary.stages) width = std::max(width, stage.name.size());
  out << fmt::format("{}: {} samples in {} batches, {:.2f} s, {:.1f} samples/s\n", summary.pipeline,
                     summary.items, summary.batches, summary.seconds, summary.items_per_second);
  out << fmt::format(
      "consumer waited {:.1f} % of the time; gap mean {:.2f} ms, median {:.2f} ms, p95 {:.2f} ms\n",
      summary.wait_share * 100, summary.gap.mean_seconds * 1e3, summary.gap.p50_seconds * 1e3,
      summary.gap.p95_seconds * 1e3);
  out << fmt::format("{:<{}}  {:>7} {:>7} {:>4} {:>10} {:>10} {:>8} {:>8} {:>6}\n", "stage", width,
                     "workers", "target", "cap", "items/s", "ms/item", "starved", "blocked",
                     "queue");
  for (const StageSummary& stage : summary.stages)
    out << fmt::format(
        "{:<{}}  {:>7.2f} {:>7.2f} {:>4} {:>10.1f} {:>10.3f} {:>7.1f}% {:>7.1f}% {:>6.1f}\n",
        stage.name, width, stage.running_mean, stage.target, worker_cap(stage.cap),
        stage.items_per_second, stage.service_time.mean_seconds * 1e3, stage.wait_input_share * 100,
        stage.wait_output_share * 100, stage.queue_mean_items);
  out << fmt::format("budget {} threads ({}), {} active; memory peak {:.1f} MiB of {:.1f} MiB\n",
                     summary.budget_threads, summary.budget_source, summary.budget_active,
                     static_cast<double>(summary.peak_bytes) / 1048576.0,
                     static_cast<double>(summary.memory_bound_bytes) / 1048576.0);
  if (summary.tuning.autotune)
    out << fmt::format("tuning: {}, {} moves, {}\n", summary.tuning.label, summary.tuning.moves,
                       summary.tuning.settled
                           ? fmt::format("settled after {:.2f} s", summary.tuning.settle_seconds)
                           : std::string("not settled"));
  if (!summary.tuning.emitted.empty())
    out << fmt::format("tuned file: {}\n", summary.tuning.emitted);
  if (!summary.tuning.emit_remark.empty()) out << summary.tuning.emit_remark << '\n';
  if (summary.bad_count > 0)
    out << fmt::format("bad samples: {}{}\n", summary.bad_count,
                       summary.quarantine.empty() ? "" : ", listed in " + summary.quarantine);
  if (!summary.digest.empty())
    out << fmt::format("digest {}  set {}\n", summary.digest, summary.set_digest);
  return out;
}

}  // namespace weir
