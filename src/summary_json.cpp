#include "src/summary_json.hpp"

#include <nlohmann/json.hpp>

namespace weir::program {
namespace {

using Json = nlohmann::ordered_json;

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json times_json(const TimeSummary& times, double scale) {
  return {{"mean", times.mean_seconds * scale},
          {"p50", times.p50_seconds * scale},
          {"p95", times.p95_seconds * scale},
          {"p99", times.p99_seconds * scale}};
}

Json stage_json(const StageSummary& stage) {
  Json names = Json::array();
  Json shares = Json::array();
  for (const OperatorSnapshot& one : stage.operators) {
    names.push_back(one.name);
    shares.push_back({{"name", one.name}, {"items", one.items}, {"seconds", one.seconds}});
  }
  return {{"name", stage.name},
          {"operators", std::move(names)},
          {"running_mean", stage.running_mean},
          {"target", stage.target},
          {"cap", stage.cap},
          {"serial", stage.serial},
          {"items", stage.items_in},
          {"items_out", stage.items_out},
          {"errors", stage.errors},
          {"items_per_second", stage.items_per_second},
          {"bytes_out", stage.bytes_out},
          {"service_time_us", times_json(stage.service_time, 1e6)},
          {"wait_input_share", stage.wait_input_share},
          {"wait_output_share", stage.wait_output_share},
          {"cpu_user_seconds", stage.cpu_user_seconds},
          {"cpu_system_seconds", stage.cpu_system_seconds},
          {"cpu_wait_share", stage.cpu_wait_share},
          {"blocked_share", stage.blocked_share},
          {"hint", text_or_null(stage.hint)},
          {"queue",
           {{"capacity", stage.queue_capacity_items},
            {"mean", stage.queue_mean_items},
            {"low", stage.queue_low_items},
            {"high", stage.queue_high_items},
            {"empty_share", stage.queue_empty_share},
            {"full_share", stage.queue_full_share}}},
          {"per_operator", std::move(shares)}};
}

/// Null without a controller, which nobody asked to look.
Json host_json(const TuningSummary& tuning) {
  if (!tuning.autotune) return nullptr;
  return {{"cpu_wait_share", tuning.cpu_wait_share},
          {"switches_per_cpu_second", tuning.switches_per_cpu_second},
          {"throttled_share", tuning.throttled_share},
          {"others_cores", tuning.others_cores},
          {"idle_cores", tuning.idle_cores},
          {"cpu_pressure", tuning.cpu_pressure},
          {"contended_shares", tuning.contended_shares}};
}

Json reading_json(const ReadingSnapshot& reading) {
  if (reading.files == 0) return nullptr;
  const auto known = [&](Json value) { return reading.source_known ? std::move(value) : Json(); };
  return {{"reader", to_string(reading.backend)},
          {"files", reading.files},
          {"bytes", reading.bytes},
          {"read_bytes", known(reading.disk_bytes)},
          {"hit_share", known(reading.hit_share())},
          {"disk_files", known(reading.disk_files)},
          {"late_files", reading.late_files},
          {"wait_seconds", reading.wait_seconds},
          {"window", reading.window_files},
          {"most_open_files", reading.most_open_files}};
}

}  // namespace

Json summary_json(const Summary& summary) {
  Json stages = Json::array();
  for (const StageSummary& stage : summary.stages) stages.push_back(stage_json(stage));
  const TuningSummary& tuning = summary.tuning;
  return {
      {"pipeline", summary.pipeline},
      {"items", summary.items},
      {"batches", summary.batches},
      {"epochs", summary.epochs},
      {"seconds", summary.seconds},
      {"first_batch_seconds", summary.first_batch_seconds},
      {"items_per_second", summary.items_per_second},
      {"digest", text_or_null(summary.digest)},
      {"set_digest", text_or_null(summary.set_digest)},
      {"budget",
       {{"threads", summary.budget_threads},
        {"active", summary.budget_active},
        {"source", summary.budget_source}}},
      {"peak_workers", summary.peak_workers},
      {"placement",
       {{"mode", summary.placement.mode},
        {"pinned", summary.placement.pinned},
        {"workers", summary.placement.workers},
        {"note", text_or_null(summary.placement.note)}}},
      {"reading", reading_json(summary.reading)},
      {"peak_bytes", summary.peak_bytes},
      {"memory_bound_bytes", summary.memory_bound_bytes},
      {"placed_rows", summary.placed_rows},
      {"copied_rows", summary.copied_rows},
      {"consumer",
       {{"steps", summary.batches},
        {"wait_seconds", summary.wait_seconds},
        {"wait_share", summary.wait_share},
        {"gap_ms", times_json(summary.gap, 1e3)},
        {"last_half_gap_ms", times_json(summary.last_half_gap, 1e3)},
        {"step_ms", {{"mean", summary.step_mean_seconds * 1e3}}}}},
      {"stages", std::move(stages)},
      {"tuning",
       {{"policy", tuning.policy},
        {"autotune", tuning.autotune},
        {"strict", tuning.strict},
        {"moves", tuning.moves},
        {"settled", tuning.settled},
        {"settle_seconds", tuning.settle_seconds},
        {"label", tuning.label},
        {"label_shares", tuning.label_shares},
        {"host", host_json(tuning)},
        {"active_mean", tuning.active_mean},
        {"last_half_active_mean", tuning.last_half_active_mean},
        {"needed_workers", tuning.needed_workers},
        {"emitted", text_or_null(tuning.emitted)},
        {"remark", text_or_null(tuning.emit_remark)}}},
      {"bad_samples",
       {{"count", summary.bad_count}, {"quarantine", text_or_null(summary.quarantine)}}},
  };
}

std::string document_text(const Json& document) {
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace weir::program
