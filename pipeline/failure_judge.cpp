#include "pipeline/failure_judge.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <system_error>
#include <utility>

#include "pipeline/quarantine_list.hpp"

namespace weir::detail {
namespace {

/// A rate is judged from this many samples on, and at an epoch's end.
constexpr std::uint64_t kSamplesForRate = 1000;

std::string percent(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g %%", share * 100);
  return text;
}

}  // namespace

FailureJudge::FailureJudge(std::shared_ptr<const Source> source, std::string quarantine_path,
                           Policies policies)
    : source_(std::move(source)),
      quarantine_path_(std::move(quarantine_path)),
      policies_(std::move(policies)) {}

void FailureJudge::restore(const Position& position) {
  resumed_ = true;
  bad_ = position.bad;
  bad_in_epoch_ = position.bad_in_epoch;
  good_ = position.samples;
  good_in_epoch_ = position.good_in_epoch;
  Tally& run = tallies_[""];
  run.bad = bad_;
  run.bad_in_epoch = bad_in_epoch_;
  for (const Position::StageBad& own : position.stages_bad) {
    tallies_[own.stage].bad = own.bad;
    tallies_[own.stage].bad_in_epoch = own.bad_in_epoch;
    run.bad -= std::min(run.bad, own.bad);
    run.bad_in_epoch -= std::min(run.bad_in_epoch, own.bad_in_epoch);
  }
}

void FailureJudge::save(Position& position) const {
  position.bad = bad_;
  position.bad_in_epoch = bad_in_epoch_;
  position.good_in_epoch = good_in_epoch_;
  position.stages_bad.clear();
  for (const auto& [stage, tally] : tallies_)
    if (!stage.empty() && tally.bad > 0)
      position.stages_bad.push_back({stage, tally.bad, tally.bad_in_epoch});
}

void FailureJudge::restart_epoch() {
  good_in_epoch_ = 0;
  bad_in_epoch_ = 0;
  for (auto& [stage, tally] : tallies_) tally.bad_in_epoch = 0;
}

void FailureJudge::judge(const FailureNotes& notes) {
  for (const FailureNote& note : notes) {
    if (note.fatal) fail(note, note.reason);
    ++bad_;
    ++bad_in_epoch_;
    quarantine(note);
    Tally& tally = tallies_[note.own_policy ? note.stage : ""];
    ++tally.bad;
    ++tally.bad_in_epoch;
    tally.last = note;
    if (note.limit_count >= 0 && static_cast<double>(tally.bad) > note.limit_count)
      fail(note, note.reason + "; with it " + std::to_string(tally.bad) +
                     " samples are bad, allowed are " +
                     std::to_string(static_cast<std::uint64_t>(note.limit_count)));
    const std::uint64_t total = good_ + bad_;
    if (note.limit_rate >= 0 && total >= kSamplesForRate &&
        static_cast<double>(tally.bad) > note.limit_rate * static_cast<double>(total))
      fail(note, note.reason + "; with it " + std::to_string(tally.bad) + " of " +
                     std::to_string(total) + " samples are bad, allowed are " +
                     percent(note.limit_rate));
  }
}

void FailureJudge::end_epoch(std::uint64_t dropped) {
  const std::uint64_t good = good_in_epoch_ + dropped;
  const std::uint64_t total = good + bad_in_epoch_;
  for (const auto& [stage, tally] : tallies_) {
    if (tally.bad_in_epoch == 0) continue;
    if (good == 0)
      fail_epoch(stage, tally,
                 "no sample of this epoch is good (" + std::to_string(bad_in_epoch_) + " bad)");
    const auto policy = policies_.find(stage);
    const double rate = policy == policies_.end() ? -1 : policy->second.max_rate;
    if (rate >= 0 && static_cast<double>(tally.bad_in_epoch) > rate * static_cast<double>(total))
      fail_epoch(stage, tally,
                 std::to_string(tally.bad_in_epoch) + " of " + std::to_string(total) +
                     " samples of this epoch are bad, allowed are " + percent(rate));
  }
  restart_epoch();
}

void FailureJudge::fail_epoch(const std::string& stage, const Tally& tally,
                              const std::string& why) const {
  if (tally.last) fail(*tally.last, tally.last->reason + "; " + why);
  throw Error(ErrorKind::data, stage.empty() ? "on_bad_sample" : "stage '" + stage + "'", why);
}

void FailureJudge::fail(const FailureNote& note, const std::string& why) const {
  std::string text = "sample " + std::to_string(note.info.sample_id);
  const std::string described = one_line(source_->describe(note.info.sample_id));
  if (described != text) text += " (" + described + ")";
  text += ": " + why;
  ErrorKind kind = ErrorKind::data;
  try {
    if (note.exception) std::rethrow_exception(note.exception);
  } catch (const Error& error) {
    kind = error.kind();
    std::throw_with_nested(Error(kind, "stage '" + note.stage + "'", text));
  } catch (...) {
    std::throw_with_nested(Error(kind, "stage '" + note.stage + "'", text));
  }
  throw Error(kind, "stage '" + note.stage + "'", text);
}

void FailureJudge::quarantine(const FailureNote& note) {
  if (quarantine_path_.empty() || !quarantined_.insert(note.info.sample_id).second) return;
  if (!quarantine_file_.is_open())
    quarantine_file_.open(quarantine_path_, resumed_ ? std::ios::app : std::ios::trunc);
  quarantine_file_ << quarantine_line(source_->describe(note.info.sample_id), note.stage,
                                      note.reason)
                   << std::flush;
  if (!quarantine_file_)
    throw Error(ErrorKind::cannot, quarantine_path_,
                "write: " + std::generic_category().message(errno) +
                    "; the list of bad samples must not be lost: name a place that can be written");
  quarantine_written_ = quarantine_path_;
}

}  // namespace weir::detail
