#include <weir/policy_settings.hpp>

#include <weir/error.hpp>
#include <weir/policy.hpp>

#include "policies/nearest_name.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>
#include <variant>

#include <fmt/format.h>

namespace weir {
namespace {

using Member = std::variant<double PolicySettings::*, int PolicySettings::*>;

struct SettingRow {
  SettingInfo info;
  Member member;
};

constexpr SettingKind kDuration = SettingKind::duration;
constexpr SettingKind kShare = SettingKind::share;
constexpr SettingKind kWhole = SettingKind::whole;
constexpr SettingKind kNumber = SettingKind::number;

// Defaults come from PolicySettings, so that they stand in one place.
SettingRow row(std::string_view name, SettingKind kind, double least, double most, Member member,
               std::string_view meaning) {
  const PolicySettings defaults;
  const double value =
      std::visit([&](auto field) { return static_cast<double>(defaults.*field); }, member);
  return {{name, kind, value, least, most, meaning}, member};
}

const std::vector<SettingRow>& setting_rows() {
  using S = PolicySettings;
  static const std::vector<SettingRow> kRows = {
      row("window", kDuration, 0.01, 10, &S::window_seconds,
          "time between two looks, if enough happens in it"),
      row("window_least", kDuration, 0.005, 10, &S::window_least_seconds,
          "shortest time between two looks; used in the ramp"),
      row("window_most", kDuration, 0.05, 60, &S::window_most_seconds,
          "longest time between two looks, and before a ramp step without enough items"),
      row("jitter", kShare, 0, 0.5, &S::jitter,
          "random part of a window, so that two controllers do not look in step"),
      row("window_completions", kWhole, 1, 10000, &S::window_completions,
          "items that the slowest stage that matters completes in a window"),
      row("alpha_fast", kShare, 0.01, 1, &S::alpha_fast,
          "weight of the newest window in the fast averages"),
      row("alpha_slow", kShare, 0.001, 1, &S::alpha_slow,
          "weight of the newest window in the slow averages"),
      row("trust_completions", kWhole, 1, 100000, &S::trust_completions,
          "items before a stage's service time is trusted"),
      row("trust_per_worker", kWhole, 0, 10000, &S::trust_per_worker,
          "the same for each worker that runs in the stage, if that is more"),
      row("trust_time", kDuration, 0, 60, &S::trust_seconds, "time before it is trusted"),
      row("matters", kShare, 0, 0.5, &S::matters,
          "a stage below this share of the sum of demands needs no trust"),
      row("drift_change", kShare, 0.01, 1, &S::drift_change,
          "least change of a cost that is taken for a drift"),
      row("drift_errors", kNumber, 1, 100, &S::drift_errors,
          "standard errors that such a change must exceed"),
      row("contention", kShare, 0.01, 1, &S::contention,
          "share of CPU time spent waiting for a CPU from which a window is contended"),
      row("contention_recover", kShare, 0, 1, &S::contention_recover,
          "share below which parked workers are tried again"),
      row("contention_switches", kNumber, 1, 1000, &S::contention_switches,
          "involuntary switches over their own baseline that count as contention where waits for a "
          "CPU are not counted"),
      row("contention_wait_most", kDuration, 1, 3600, &S::contention_wait_most_seconds,
          "longest time between two such tries, after tries that failed"),
      row("plateau", kShare, 0, 0.5, &S::plateau,
          "part of a stage's peak given up for fewer workers where its curve is flat"),
      row("ramp_gain", kShare, 0, 1, &S::ramp_gain,
          "gain of a ramp step below which the ramp ends"),
      row("dead_band", kShare, 0, 1, &S::dead_band, "predicted gain below which nothing is moved"),
      row("confirm", kWhole, 1, 100, &S::confirm, "consecutive windows that must predict the gain"),
      row("confirm_once", kShare, 0, 100, &S::confirm_once_gain,
          "predicted gain from which one window is enough"),
      row("verify", kShare, 0, 1, &S::verify_share,
          "share of the predicted gain that must come true"),
      row("verify_time", kDuration, 0.05, 60, &S::verify_seconds,
          "longest time to judge a move in"),
      row("failed_mark", kDuration, 0, 3600, &S::failed_mark_seconds,
          "time for which a move that failed is not tried again; doubles each time"),
      row("failed_mark_most", kDuration, 0, 36000, &S::failed_mark_most_seconds,
          "longest such time"),
      row("shrink_memory", kDuration, 0, 3600, &S::shrink_memory_seconds,
          "workers are parked only if none were needed for so long"),
      row("stay_slack", kNumber, 0, 1000, &S::stay_slack,
          "a worker stays in a stage with fewer than target + so many others"),
      row("settled_windows", kWhole, 1, 1000, &S::settled_windows,
          "windows without a wish to move before the state counts as settled"),
      row("probation_windows", kWhole, 1, 1000, &S::probation_windows,
          "windows in which a loaded allocation proves itself"),
      row("regret_windows", kWhole, 1, 1000, &S::regret_windows,
          "windows below the best verified settings before they are restored"),
      row("relearn_time", kDuration, 0.1, 600, &S::relearn_seconds,
          "longest wait for changed costs to be known"),
      row("strict_gain", kShare, 0, 1, &S::strict_gain,
          "whole workers: gain that is enough when costs are well known"),
      row("strict_error", kShare, 0, 1, &S::strict_error,
          "relative error up to which they count as that"),
      row("probe_time", kDuration, 0.5, 3600, &S::probe_seconds,
          "time between two probes of one worker more or less"),
      row("probe_windows", kWhole, 1, 100, &S::probe_windows,
          "windows with the probe and as many without it"),
      row("depth_evidence", kShare, 0, 1, &S::depth_evidence,
          "share of time that a queue must be empty and full, both, to be made deeper"),
      row("depth_loss", kShare, 0, 1, &S::depth_loss,
          "predicted loss by its depth from which that is worth its memory"),
      row("depth_time", kDuration, 0.1, 600, &S::depth_seconds,
          "time over which queues are watched before their depth changes"),
      row("memory_stop", kShare, 0.01, 1, &S::memory_stop,
          "share of the byte bound from which sources stop and queues grow no more"),
      row("memory_resume", kShare, 0.01, 1, &S::memory_resume,
          "share of the byte bound at which queues may grow again"),
      row("memory_halve", kShare, 0.01, 1, &S::memory_halve,
          "share of the byte bound from which queue depths are halved"),
      row("consumer_hold", kShare, 0, 1, &S::consumer_hold,
          "wait share up to which the consumer is the limit"),
      row("consumer_rearm", kShare, 0, 1, &S::consumer_rearm,
          "wait share above which workers are unparked again"),
      row("consumer_hold_time", kDuration, 0, 60, &S::consumer_hold_seconds,
          "how long the consumer must be the limit before it is so labelled"),
      row("release_margin", kNumber, 1, 10, &S::release_margin,
          "rate to be able to hold, over the consumer's"),
      row("start_workers", kWhole, 1, 1024, &S::start_workers,
          "workers of each stage at the start of MindSpore's rule, whose own default is 8"),
  };
  return kRows;
}

std::optional<double> plain_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
    return std::nullopt;
  return value;
}

std::optional<double> scaled_number(std::string_view text, std::string_view unit, double scale) {
  if (text.size() <= unit.size() || !text.ends_with(unit)) return std::nullopt;
  const std::optional<double> value = plain_number(text.substr(0, text.size() - unit.size()));
  return value ? std::optional<double>(*value * scale) : std::nullopt;
}

std::optional<double> parsed(SettingKind kind, std::string_view text) {
  switch (kind) {
    case SettingKind::duration: {
      // "ms" and "us" also end with "s", so they come first.
      constexpr std::pair<std::string_view, double> kUnits[] = {
          {"us", 1e-6}, {"ms", 1e-3}, {"min", 60.0}, {"s", 1.0}};
      for (const auto& [unit, scale] : kUnits)
        if (text.ends_with(unit)) return scaled_number(text, unit, scale);
      return std::nullopt;
    }
    case SettingKind::share:
      return text.ends_with('%') ? scaled_number(text, "%", 0.01) : plain_number(text);
    case SettingKind::whole: {
      const std::optional<double> value = plain_number(text);
      return value && *value == std::floor(*value) ? value : std::nullopt;
    }
    case SettingKind::number:
      return plain_number(text);
  }
  return std::nullopt;
}

std::string_view form(SettingKind kind) {
  switch (kind) {
    case SettingKind::duration:
      return "a duration with its unit (us, ms, s, min)";
    case SettingKind::share:
      return "a share, as 5% or 0.05";
    case SettingKind::whole:
      return "a whole number";
    case SettingKind::number:
      return "a number";
  }
  return "a number";
}

}  // namespace

std::string SettingInfo::text(double value) const {
  switch (kind) {
    case SettingKind::duration:
      if (value >= 60 && std::fmod(value, 60.0) == 0) return fmt::format("{:g}min", value / 60);
      return value >= 1 || value == 0 ? fmt::format("{:g}s", value)
                                      : fmt::format("{:g}ms", value * 1e3);
    case SettingKind::share:
      return fmt::format("{:g}%", value * 100);
    case SettingKind::whole:
    case SettingKind::number:
      break;
  }
  return fmt::format("{:g}", value);
}

const std::vector<SettingInfo>& settings() {
  static const std::vector<SettingInfo> kSettings = [] {
    std::vector<SettingInfo> all;
    for (const SettingRow& each : setting_rows()) all.push_back(each.info);
    return all;
  }();
  return kSettings;
}

PolicySettings make_settings(std::string_view policy,
                             const std::map<std::string, std::string>& values,
                             const std::string& where) {
  const std::vector<SettingInfo>& allowed = policy_info(policy, where).settings;
  PolicySettings result;
  for (const auto& entry : values) {
    const std::string& name = entry.first;
    const std::string& text = entry.second;
    const auto known = std::find_if(allowed.begin(), allowed.end(),
                                    [&](const SettingInfo& info) { return info.name == name; });
    if (known == allowed.end()) {
      std::vector<std::string_view> names;
      for (const SettingInfo& info : allowed) names.push_back(info.name);
      throw Error(ErrorKind::usage, where,
                  fmt::format("policy '{}' has no setting '{}'{} Known are: {}", policy, name,
                              detail::did_you_mean(name, names), detail::listed(names)));
    }
    const std::optional<double> value = parsed(known->kind, text);
    if (!value || *value < known->least || *value > known->most)
      throw Error(
          ErrorKind::usage, where,
          fmt::format("setting '{}' is '{}'; allowed is {} from {} to {}", name, text,
                      form(known->kind), known->text(known->least), known->text(known->most)));
    const auto& rows = setting_rows();
    const auto found = std::find_if(rows.begin(), rows.end(),
                                    [&](const SettingRow& each) { return each.info.name == name; });
    if (const auto* real = std::get_if<double PolicySettings::*>(&found->member))
      result.*(*real) = *value;
    else
      result.*std::get<int PolicySettings::*>(found->member) = static_cast<int>(*value);
  }
  if (result.window_least_seconds > result.window_most_seconds)
    throw Error(ErrorKind::usage, where,
                fmt::format("setting 'window_least' is above 'window_most' ({} s, {} s)",
                            result.window_least_seconds, result.window_most_seconds));
  return result;
}

}  // namespace weir
