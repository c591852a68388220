#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <weir/error.hpp>
#include <weir/loader.hpp>
#include <weir/sources.hpp>

#include "src/failure_report.hpp"
#include "src/progress.hpp"
#include "src/scan_plan.hpp"
#include "src/scan_report.hpp"
#include "src/standard_output.hpp"
#include "src/summary_json.hpp"
#include "src/verb.hpp"
#include "src/whole_file.hpp"

namespace weir::program {
namespace {

using Clock = std::chrono::steady_clock;

/// Two stages, so that files are asked of the kernel while the workers decode those before.
Stream<ScanEntry> stream_of(const ScanPlan& plan) {
  const std::shared_ptr<const FileIndex> files = plan.files;
  const ScanRules rules = plan.rules;
  return indexed("files", plan.count(), [](std::uint64_t file) { return file; })
      .map("open", [files](std::uint64_t file) { return find_file(files, file); })
      .map("look", [rules](FoundFile found) { return scan_file(std::move(found), rules); });
}

ProgressMode progress_of(const CommandLine& line) {
  if (line.has("--quiet")) return ProgressMode::never;
  const auto given = line.choice("--progress", {"auto", "always", "never"});
  return given ? static_cast<ProgressMode>(*given) : ProgressMode::automatic;
}

/// The list is written where something is bad; where nothing is, an old list would be wrong.
void write_quarantine(const std::string& path, const ScanReport& report) {
  if (report.bad() == 0 && !std::filesystem::exists(path)) return;
  write_whole_file(path, report.quarantine_text());
}

}  // namespace

int scan_verb(const CommandLine& line, SignalWatch& signals) {
  const ScanPlan plan = scan_plan(line);
  std::string quarantine = line.text("--quarantine").value_or(plan.name + ".quarantine.txt");
  if (quarantine == "none") quarantine.clear();
  check_writable("--quarantine", quarantine);

  ScanReport report(*plan.files, line.has("--all"));
  const Clock::time_point began = Clock::now();
  Loader<ScanEntry> loader = stream_of(plan).start(plan.options);
  {
    const WatchScope watching(signals, [&loader] { loader.close(); });
    ConsumerCounters counters;  // a batch of it is a file here
    std::atomic<std::uint64_t> bad_files{0};
    Progress::Ends ends;
    ends.batches = plan.count();
    const Progress progress(loader, counters, plan.name, ends, progress_of(line), [&bad_files] {
      const std::uint64_t bad = bad_files.load(std::memory_order_relaxed);
      return bad > 0 ? fmt::format("{} bad", bad) : std::string();
    });
    while (signals.signal() == 0) {
      std::optional<ScanEntry> entry = loader.next();
      if (!entry) break;
      if (entry->status == ScanStatus::bad) counters.epochs.fetch_add(1, std::memory_order_relaxed);
      report.add(std::move(*entry));
      counters.items.fetch_add(1, std::memory_order_relaxed);
      counters.batches.fetch_add(1, std::memory_order_relaxed);
    }
  }
  loader.close();
  const double seconds = std::chrono::duration<double>(Clock::now() - began).count();
  const bool whole = report.files() == plan.count();
  // Half a list would pass for a whole one.
  if (whole && !quarantine.empty()) write_quarantine(quarantine, report);
  report.end(seconds, plan.count(), whole && report.bad() > 0 ? quarantine : "");

  if (line.has("--json"))
    write_output(document_text(report.json()));
  else
    write_output(report.text(plan.name));
  if (signals.signal() != 0) return exit_status(std::nullopt, signals.signal());
  return report.bad() > 0 ? static_cast<int>(ErrorKind::data) : 0;
}

}  // namespace weir::program
