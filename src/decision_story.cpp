#include "src/decision_story.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <deque>
#include <functional>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "src/quantity_text.hpp"
#include "src/short_name.hpp"
#include "src/story_words.hpp"

namespace weir::program {
namespace {

using detail::LogHead;
using detail::LogWindow;

// A label holds when so many judged windows in a row have it, for so long.
constexpr int kLabelWindows = 3;
constexpr double kLabelSeconds = 0.3;
// Windows left out for less than this are only counted.
constexpr double kLeftOutSeconds = 1.0;
// These are part of every run.
constexpr const char* kAfterChange = "first window after a change";
// Of the little CPU time of a stage that sleeps more than this, the kernel always has much.
constexpr double kAsleepShare = 0.5;
// Targets are written with six digits.
constexpr double kSameTarget = 1e-3;
constexpr const char* kNothingYet = "nothing measured yet";

/// The means over the last seconds.
class RecentMeans {
 public:
  void clear() { windows_.clear(); }
  void add(const Observation& seen) {
    windows_.push_back(seen);
    seconds_ += seen.window_seconds;
    while (windows_.size() > 1 && seconds_ - windows_.front().window_seconds >= kRecentSeconds) {
      seconds_ -= windows_.front().window_seconds;
      windows_.pop_front();
    }
  }
  /// Of a figure that each loader (or stage) has in each window.
  [[nodiscard]] std::vector<double> of(
      std::size_t count,
      const std::function<double(const Observation&, std::size_t)>& figure) const {
    std::vector<double> means(count, 0.0);
    double seconds = 0;
    for (const Observation& seen : windows_) {
      seconds += seen.window_seconds;
      for (std::size_t i = 0; i < count; ++i) means[i] += seen.window_seconds * figure(seen, i);
    }
    for (double& mean : means) mean /= std::max(seconds, 1e-9);
    return means;
  }

 private:
  static constexpr double kRecentSeconds = 3.0;
  std::deque<Observation> windows_;
  double seconds_ = 0;
};

/// Takes the entries of a log one by one.
class Teller {
 public:
  void take(const LogHead& head);
  void take(const LogWindow& window);
  [[nodiscard]] Story end(const std::string& note);

 private:
  [[nodiscard]] double time_of(const LogWindow& window) const {
    return window.seen.time_seconds - *began_;
  }
  StoryEvent& add(double seconds, std::string kind, std::string text);
  void note_label(const LogWindow& window);
  void note_left_out(const LogWindow& window);
  void close_left_out(double seconds);
  void note_surroundings(const LogWindow& window);
  void note_host(const LogWindow& window);
  void note_outcome(const LogWindow& window);
  void note_decision(const LogWindow& window);
  [[nodiscard]] bool ends_probe(const Decision& decision) const;
  [[nodiscard]] std::string change_text(const LogWindow& window) const;
  [[nodiscard]] std::string failed_mark() const;
  [[nodiscard]] std::string costs_text(const LogWindow& window) const;

  Story story_;
  std::optional<double> began_;
  std::optional<LogHead> head_;
  std::optional<LogWindow> previous_;
  Allocation current_;  // in force, as far as it is known

  // The label that holds, and the one that may follow it.
  std::string label_;
  std::string next_label_;
  double next_since_ = 0;
  int next_windows_ = 0;

  // The present stretch of windows that are left out for one reason.
  std::string left_out_;
  double left_out_since_ = 0;
  std::size_t left_out_windows_ = 0;

  RecentMeans recent_;
  double host_seconds_ = 0;           // of the windows in story_.host, which holds their integrals
  std::optional<std::size_t> ramp_;   // the event of the ramp under way
  std::optional<std::size_t> probe_;  // and of a probe
  Allocation before_probe_;
};

StoryEvent& Teller::add(double seconds, std::string kind, std::string text) {
  StoryEvent& event = story_.events.emplace_back();
  event.seconds = event.until_seconds = std::max(0.0, seconds);
  event.kind = std::move(kind);
  event.text = std::move(text);
  return event;
}

void Teller::take(const LogHead& head) {
  const bool first = !head_;
  if (!began_) began_ = head.first.time_seconds;
  if (first) {
    story_.version = head.version;
    story_.written_by = head.written_by;
  } else {
    close_left_out(head.first.time_seconds - *began_);
    add(head.first.time_seconds - *began_, "loaders",
        fmt::format("loaders came or went, there are {}: everything starts over",
                    head.first.loaders.size()));
  }
  story_.policy = head.policy;
  story_.strict = head.strict;
  story_.settings = head.settings;
  story_.budget = head.first.budget;
  story_.stage_names = head.stage_names;
  story_.loaders.clear();
  for (const LoaderObservation& loader : head.first.loaders) story_.loaders.push_back(loader.name);
  head_ = head;
  previous_.reset();
  recent_.clear();
  current_ = {};
  label_.clear();
  next_label_.clear();
  next_windows_ = 0;
  ramp_.reset();
  probe_.reset();
}

void Teller::note_label(const LogWindow& window) {
  const std::string& label = window.seen.label;
  const double seconds = time_of(window);
  if (label != next_label_) {
    next_label_ = label;
    next_since_ = std::max(0.0, seconds - window.seen.window_seconds);
    next_windows_ = 0;
  }
  ++next_windows_;
  if (label == label_ || next_windows_ < kLabelWindows || seconds - next_since_ < kLabelSeconds)
    return;
  label_ = label;
  std::string text = label_in_words(label);
  if (label == "consumer") {
    double wait = 0;
    for (const LoaderObservation& loader : window.seen.loaders)
      wait = std::max(wait, loader.wait_share);
    text += fmt::format(", it waits {}", share_text(wait));
  }
  if (label == "contended") text += contention_in_words(window.seen);
  if (window.seen.active < window.seen.budget)
    text += fmt::format("; {} of {} workers parked", window.seen.budget - window.seen.active,
                        window.seen.budget);
  add(next_since_, "limit", std::move(text));
}

void Teller::close_left_out(double seconds) {
  const bool lasted = seconds - left_out_since_ >= kLeftOutSeconds;
  if (!left_out_.empty() && left_out_ != kAfterChange && left_out_ != kNothingYet && lasted) {
    StoryEvent& event = add(left_out_since_, "left out",
                            fmt::format("{}: {} windows in {:.1f} s are not judged by", left_out_,
                                        left_out_windows_, seconds - left_out_since_));
    event.until_seconds = seconds;
  }
  left_out_.clear();
  left_out_windows_ = 0;
}

void Teller::note_left_out(const LogWindow& window) {
  const double begin = std::max(0.0, time_of(window) - window.seen.window_seconds);
  if (window.left_out != left_out_) {
    close_left_out(begin);
    left_out_ = window.left_out;
    left_out_since_ = begin;
  }
  if (!window.left_out.empty()) ++left_out_windows_;
}

/// What others did: the budget, and allocations set by hand.
void Teller::note_surroundings(const LogWindow& window) {
  if (previous_ && previous_->seen.budget != window.seen.budget)
    add(time_of(window), "budget",
        fmt::format("there are {} workers now, not {}", window.seen.budget,
                    previous_->seen.budget));
  const Allocation before = current_;
  if (window.given) current_ = window.given->current;
  if (!window.seen.by_hand) return;
  const std::string change =
      change_in_words(before, current_, head_->stage_names, window.seen.budget);
  add(time_of(window), "by hand",
      "somebody else set the workers" + (change.empty() ? "" : ": " + change));
}

void Teller::note_host(const LogWindow& window) {
  const double seconds = window.seen.window_seconds;
  HostFigures& sum = story_.host;
  sum.cpu_wait_share += seconds * window.host.cpu_wait_share;
  sum.switches_per_cpu_second += seconds * window.host.switches_per_cpu_second;
  sum.throttled_share += seconds * window.host.throttled_share;
  sum.others_cores += seconds * window.host.others_cores;
  sum.idle_cores += seconds * window.host.idle_cores;
  sum.cpu_pressure += seconds * window.host.cpu_pressure;
  if (!window.seen.contended_by.empty()) sum.contended_shares[window.seen.contended_by] += seconds;
  host_seconds_ += seconds;
}

void Teller::note_outcome(const LogWindow& window) {
  if (!window.decision.outcome) return;
  const Outcome& outcome = *window.decision.outcome;
  const auto move =
      std::find_if(story_.events.rbegin(), story_.events.rend(),
                   [&](const StoryEvent& event) { return event.kind == name_of(outcome.kind); });
  StoryEvent& event = move != story_.events.rend() && !move->outcome
                          ? *move
                          : add(time_of(window), "outcome", "the move before this log");
  event.outcome = outcome;
  event.until_seconds = time_of(window);
  event.text += "; " + outcome_in_words(outcome);
}

/// How long a failed move is not tried again; empty: the policy knows no such thing.
std::string Teller::failed_mark() const {
  for (const SettingInfo& setting : policy_info(head_->policy).settings)
    if (setting.name == "failed_mark")
      return fmt::format("{:g} s",
                         make_settings(head_->policy, head_->settings).failed_mark_seconds);
  return "";
}

/// "decode (4.1 ms to 8.3 ms an item)"
std::string Teller::costs_text(const LogWindow& window) const {
  std::string text;
  for (std::size_t i = 0; i < window.seen.stages.size(); ++i) {
    const StageObservation& stage = window.seen.stages[i];
    if (!stage.drifted) continue;
    if (!text.empty()) text += ", ";
    text += short_name(stage.name);
    const double before = previous_ ? previous_->seen.stages[i].estimate.service_seconds : 0.0;
    if (before > 0 && stage.service_seconds > 0)
      text += fmt::format(" ({} to {} an item)", microseconds_text(before),
                          microseconds_text(stage.service_seconds));
  }
  return text;
}

bool Teller::ends_probe(const Decision& decision) const {
  if (!probe_ || decision.kind != MoveKind::probe) return false;
  const std::vector<StageAllocation>& before = before_probe_.stages;
  const std::vector<StageAllocation>& after = decision.allocation->stages;
  return std::equal(before.begin(), before.end(), after.begin(), after.end(),
                    [](const StageAllocation& a, const StageAllocation& b) {
                      return std::abs(a.target - b.target) < kSameTarget;
                    });
}

std::string Teller::change_text(const LogWindow& window) const {
  const Decision& decision = window.decision;
  // These say all of it themselves.
  if (decision.kind == MoveKind::start || decision.kind == MoveKind::depth) return decision.reason;
  const std::string change =
      change_in_words(current_, *decision.allocation, head_->stage_names, window.seen.budget);
  std::string text = bare_reason(decision, head_->stage_names);
  if (decision.kind == MoveKind::relearn) {
    const std::string costs = costs_text(window);
    if (!costs.empty()) text = "costs changed: " + costs;
  }
  if (!change.empty()) text += (text.empty() ? "" : ": ") + change;
  if (decision.outcome && decision.outcome->verdict == Outcome::Verdict::rolled_back) {
    const std::string pause = failed_mark();
    if (!pause.empty()) text += "; not tried again for at least " + pause;
  }
  return text;
}

void Teller::note_decision(const LogWindow& window) {
  for (const std::string& correction : window.corrections) ++story_.corrections[correction];
  const Decision& decision = window.decision;
  if (!decision.allocation) return;
  const double seconds = time_of(window);
  const std::string kind(name_of(decision.kind));
  if (!window.applied) {
    add(seconds, "guard",
        fmt::format("a {} was not applied: {}", kind,
                    window.corrections.empty() ? "no reason given" : window.corrections.back()));
    return;
  }
  if (decision.kind != MoveKind::probe && decision.kind != MoveKind::depth)
    story_.last_change_seconds = seconds;
  if (ends_probe(decision)) {
    StoryEvent& probe = story_.events[*probe_];
    probe.until_seconds = seconds;
    probe.text += fmt::format("; ended after {:.1f} s", seconds - probe.seconds);
    probe_.reset();
  } else if (decision.kind == MoveKind::ramp) {
    if (ramp_) {
      story_.events[*ramp_].text += fmt::format(", {}", decision.allocation->active);
      story_.events[*ramp_].until_seconds = seconds;
    } else {
      ramp_ = story_.events.size();
      add(seconds, kind,
          fmt::format("while it pays, more workers awake: {}", decision.allocation->active));
    }
  } else {
    ramp_.reset();
    probe_.reset();
    if (decision.kind == MoveKind::probe) {
      probe_ = story_.events.size();
      before_probe_ = current_;
    }
    StoryEvent& event = add(seconds, kind, change_text(window));
    event.predicted_gain = decision.predicted_gain;
    if (!window.corrections.empty())
      event.text += fmt::format(" (guard: {}{})", window.corrections.front(),
                                window.corrections.size() > 1
                                    ? fmt::format(" and {} more", window.corrections.size() - 1)
                                    : "");
  }
  current_ = *decision.allocation;
}

void Teller::take(const LogWindow& window) {
  ++story_.windows;
  story_.seconds = time_of(window);
  story_.budget = window.seen.budget;
  recent_.add(window.seen);
  note_surroundings(window);
  note_host(window);
  note_left_out(window);
  if (window.left_out.empty() && window.seen.valid) {
    ++story_.judged;
    story_.label_shares[window.seen.label] += window.seen.window_seconds;
    for (const StageObservation& stage : window.seen.stages)
      if (!stage.hint.empty() && stage.running_mean > 0 && stage.blocked_share < kAsleepShare)
        ++story_.hints[{stage.name, stage.hint}];
    // What limits a step of the ramp is what the ramp is about.
    if (window.decision.phase != "ramp") note_label(window);
    story_.last_judged = window;
  } else {
    ++story_.left_out[window.left_out];
  }
  note_outcome(window);
  note_decision(window);
  previous_ = window;
}

Story Teller::end(const std::string& note) {
  close_left_out(story_.seconds);
  for (StoryEvent& event : story_.events)
    if ((event.kind == "jump" || event.kind == "move") && event.predicted_gain != 0 &&
        !event.outcome)
      event.text += fmt::format("; predicted {}, not judged", gain_text(event.predicted_gain));
  double judged = 0;
  for (const auto& [label, seconds] : story_.label_shares) judged += seconds;
  for (auto& [label, seconds] : story_.label_shares) seconds /= std::max(judged, 1e-9);
  for (double* integral : {&story_.host.cpu_wait_share, &story_.host.switches_per_cpu_second,
                           &story_.host.throttled_share, &story_.host.others_cores,
                           &story_.host.idle_cores, &story_.host.cpu_pressure})
    *integral /= std::max(host_seconds_, 1e-9);
  for (auto& [by, seconds] : story_.host.contended_shares) seconds /= std::max(host_seconds_, 1e-9);
  if (!note.empty()) story_.notes.push_back(note);
  if (previous_) {
    const std::size_t loaders = previous_->seen.loaders.size();
    const std::size_t stages = previous_->seen.stages.size();
    story_.loader_per_second = recent_.of(loaders, [](const Observation& seen, std::size_t i) {
      return seen.loaders[i].items_per_second;
    });
    story_.loader_wait_share = recent_.of(
        loaders, [](const Observation& seen, std::size_t i) { return seen.loaders[i].wait_share; });
    story_.stage_per_second = recent_.of(stages, [](const Observation& seen, std::size_t i) {
      return seen.stages[i].items_per_second;
    });
    story_.stage_running = recent_.of(
        stages, [](const Observation& seen, std::size_t i) { return seen.stages[i].running_mean; });
    story_.stage_blocked = recent_.of(stages, [](const Observation& seen, std::size_t i) {
      return seen.stages[i].blocked_share;
    });
  }
  story_.last = std::move(previous_);
  story_.allocation = current_;
  std::stable_sort(story_.events.begin(), story_.events.end(),
                   [](const StoryEvent& a, const StoryEvent& b) { return a.seconds < b.seconds; });
  return std::move(story_);
}

}  // namespace

Story tell_story(detail::DecisionLogReader& log) {
  Teller teller;
  while (const std::optional<detail::DecisionLogReader::Entry> entry = log.next())
    std::visit([&](const auto& each) { teller.take(each); }, *entry);
  return teller.end(log.note());
}

}  // namespace weir::program
