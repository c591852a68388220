#include "src/story_text.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/quantity_text.hpp"
#include "src/short_name.hpp"
#include "src/story_words.hpp"
#include "src/text_table.hpp"

namespace weir::program {
namespace {

constexpr std::size_t kMostEvents = 30;
constexpr std::size_t kColumns = 100;
constexpr std::size_t kMostCorrections = 5;
constexpr std::size_t kLeastHints = 10;  // windows, and a quarter of all
constexpr int kNoCap = std::numeric_limits<int>::max();
// A run that is longer is told by the clock.
constexpr double kMostPlainSeconds = 1000;

std::string time_text(double seconds, double whole) {
  return whole < kMostPlainSeconds ? fmt::format("{:.1f} s", seconds) : clock_text(seconds);
}

std::string plural(std::size_t count, const std::string& one) {
  const std::string number = count < 10 ? fmt::format("{}", count) : count_text(double(count));
  return fmt::format("{} {}{}", number, one, count == 1 ? "" : "s");
}

/// `text` after `head`, broken into lines of kColumns that begin below the text.
std::string wrapped(const std::string& head, const std::string& text) {
  std::string out = head;
  std::size_t column = head.size();
  std::istringstream words(text);
  bool first = true;
  for (std::string word; words >> word; first = false) {
    if (!first && column + 1 + word.size() > kColumns) {
      out += "\n" + std::string(head.size(), ' ');
      column = head.size();
    } else if (!first) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
  }
  return out + "\n";
}

/// A kind of event as something that can be counted.
std::string noun_of(const std::string& kind) {
  static const std::map<std::string, std::string> kNouns = {
      {"limit", "change of the limit"},  {"left out", "pause"},
      {"relearn", "change of costs"},    {"rearm", "re-arming"},
      {"recover", "recovery"},           {"depth", "change of a queue"},
      {"guard", "dropped decision"},     {"by hand", "change by hand"},
      {"budget", "change of the budget"}};
  const auto found = kNouns.find(kind);
  return found == kNouns.end() ? kind : found->second;
}

std::string counted_noun(std::size_t count, const std::string& noun) {
  if (count == 1) return "1 " + noun;
  const std::size_t of = noun.find(" of ");  // "changes of the limit"
  const std::size_t by = noun.find(" by ");
  const std::size_t end = std::min({of, by, noun.size()});
  if (noun.ends_with("y") && noun != "by hand" && end == noun.size())
    return fmt::format("{} {}ies", count, noun.substr(0, noun.size() - 1));
  return fmt::format("{} {}s{}", count, noun.substr(0, end), noun.substr(end));
}

/// What happened in a stretch, counted: "3 moves, 4 changes of the limit; 1 of 3 was taken back".
StoryEvent counted(const std::vector<StoryEvent>& events) {
  std::map<std::string, std::size_t> kinds;
  std::size_t judged = 0;
  std::size_t taken_back = 0;
  for (const StoryEvent& event : events) {
    ++kinds[event.kind];
    if (!event.outcome) continue;
    ++judged;
    if (event.outcome->verdict == Outcome::Verdict::rolled_back) ++taken_back;
  }
  std::vector<std::string> parts;
  for (const auto& [kind, count] : kinds) parts.push_back(counted_noun(count, noun_of(kind)));
  StoryEvent sum;
  sum.seconds = events.front().seconds;
  sum.until_seconds = events.back().until_seconds;
  sum.kind = "...";
  sum.text = fmt::format("{}", fmt::join(parts, ", "));
  if (taken_back > 0)
    sum.text += fmt::format("; {} of {} that were judged {} taken back", taken_back, judged,
                            taken_back == 1 ? "was" : "were");
  else if (judged > 0)
    sum.text += "; whatever was judged was kept";
  return sum;
}

std::string head_text(const Story& story, const std::string& path) {
  std::vector<std::string> stages;
  for (const std::string& name : story.stage_names) stages.push_back(short_name(name));
  constexpr std::size_t kMostStages = 8;
  const std::size_t count = stages.size();
  if (count > kMostStages) {
    stages.resize(kMostStages);
    stages.push_back(fmt::format("and {} more", count - kMostStages));
  }
  std::string text =
      fmt::format("policy {}{}, {}, {}", story.policy, story.strict ? " (strict)" : "",
                  plural(static_cast<std::size_t>(story.budget), "worker"), plural(count, "stage"));
  if (count > 0) text += fmt::format(" ({})", fmt::join(stages, ", "));
  text += fmt::format("; {} in {}", time_text(story.seconds, story.seconds),
                      plural(story.windows, "window"));
  std::string all = path + "\n" + wrapped("", text);
  if (!story.settings.empty()) {
    std::vector<std::string> set;
    for (const auto& [name, value] : story.settings) set.push_back(name + " " + value);
    all += wrapped("", fmt::format("set by hand: {}", fmt::join(set, ", ")));
  }
  return all;
}

std::string events_text(const Story& story) {
  std::string text;
  std::size_t width = 0;
  const std::vector<StoryEvent> events = condensed(story.events, kMostEvents);
  for (const StoryEvent& event : events) width = std::max(width, event.kind.size());
  for (const StoryEvent& event : events) {
    const std::string when = time_text(event.seconds, story.seconds);
    text += wrapped(
        fmt::format("{:>9}  {:<{}}  ", when, event.kind, width),
        (event.kind == "..." ? "to " + time_text(event.until_seconds, story.seconds) + ": " : "") +
            event.text);
  }
  return text;
}

std::string stage_rows(const Story& story) {
  const detail::LogWindow& last = story.last_judged ? *story.last_judged : *story.last;
  TextTable table({"stage", "workers", "target", "an item takes", "items/s", "asleep", "starved",
                   "blocked", "queue empty", "full"});
  for (std::size_t i = 0; i < last.seen.stages.size(); ++i) {
    const StageObservation& stage = last.seen.stages[i];
    const bool known = i < story.allocation.stages.size();
    const int cap = known ? story.allocation.stages[i].cap : kNoCap;
    table.add({short_name(stage.name), fmt::format("{:.2f}", story.stage_running[i]),
               (known ? fmt::format("{:.2f}", story.allocation.stages[i].target) : "?") +
                   (stage.serial         ? " serial"
                    : cap < story.budget ? fmt::format("/{}", cap)
                                         : ""),
               stage.estimate.service_seconds > 0
                   ? microseconds_text(stage.estimate.service_seconds) +
                         (stage.estimate.trusted ? "" : "?")
                   : "?",
               count_text(story.stage_per_second[i]), share_text(story.stage_blocked[i]),
               share_text(stage.wait_input_share), share_text(stage.wait_output_share),
               share_text(stage.queue_empty_share), share_text(stage.queue_full_share)});
  }
  return table.text();
}

std::string shares_text(const Story& story) {
  std::vector<std::pair<double, std::string>> shares;
  for (const auto& [label, share] : story.label_shares) shares.emplace_back(share, label);
  std::sort(shares.rbegin(), shares.rend());
  std::vector<std::string> parts;
  for (const auto& [share, label] : shares)
    if (share >= 0.005 || parts.empty())
      parts.push_back(fmt::format("{} {:.0f} %", label, 100 * share));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string end_text(const Story& story) {
  const detail::LogWindow& end = *story.last;
  const detail::LogWindow& judged = story.last_judged ? *story.last_judged : end;
  std::string state = end.settled ? "settled" : fmt::format("not settled ({})", end.decision.phase);
  if (story.last_change_seconds)
    state +=
        fmt::format(", last change at {}", time_text(*story.last_change_seconds, story.seconds));
  state += fmt::format(", {} after the ramp; {} of {} workers awake",
                       plural(static_cast<std::size_t>(end.moves), "change"),
                       story.allocation.active, story.budget);
  if (judged.seen.bounds.needed_workers > 0)
    state += fmt::format(", {} needed", judged.seen.bounds.needed_workers);
  std::string text = wrapped("at the end  ", state);

  std::vector<std::string> rates;
  for (std::size_t i = 0; i < story.loader_per_second.size(); ++i)
    rates.push_back(fmt::format("{}{} a second handed over, the consumer waits {}",
                                story.loaders.size() > 1 ? story.loaders[i] + ": " : "",
                                count_text(story.loader_per_second[i]),
                                share_text(story.loader_wait_share[i])));
  std::string rate = fmt::format("{}", fmt::join(rates, "; "));
  const Bounds& bounds = judged.seen.bounds;
  if (bounds.shared_per_second > 0)
    rate += fmt::format("; by the model at most {}, or {} with whole workers",
                        count_text(bounds.shared_per_second), count_text(bounds.whole_per_second));
  text += wrapped("rate        ", rate);
  if (!story.label_shares.empty()) text += wrapped("limit       ", shares_text(story));
  const std::string host = host_in_words(story.host);
  if (!host.empty()) text += wrapped("host        ", host);
  text += wrapped("its reason  ", end.decision.reason);
  for (const auto& [what, windows] : story.hints)
    if (windows >= kLeastHints && 4 * windows >= story.judged)
      text += wrapped("hint        ", fmt::format("{} spends much time in the kernel, as with {}",
                                                  short_name(what.first), what.second));
  return text + "\n" + stage_rows(story);
}

std::string counts_text(const Story& story) {
  std::string left_out;
  for (const auto& [reason, count] : story.left_out)
    left_out += fmt::format("{}{} {}", left_out.empty() ? "" : ", ", count, reason);
  std::string text =
      wrapped("", fmt::format("{} of {} judged by{}", story.judged, plural(story.windows, "window"),
                              left_out.empty() ? "" : "; left out: " + left_out));
  std::size_t shown = 0;
  for (const auto& [correction, count] : story.corrections) {
    if (++shown > kMostCorrections) {
      text += fmt::format("guard: and {} others\n", story.corrections.size() - kMostCorrections);
      break;
    }
    text += wrapped("guard: ",
                    count > 1 ? fmt::format("{} ({} times)", correction, count) : correction);
  }
  return text;
}

}  // namespace

std::vector<StoryEvent> condensed(const std::vector<StoryEvent>& events, std::size_t most) {
  if (events.size() <= most) return events;
  const std::size_t head = most * 2 / 5;
  const std::size_t tail = most / 3;
  const std::size_t stretches = most - head - tail;
  std::vector<StoryEvent> short_story(events.begin(),
                                      events.begin() + static_cast<std::ptrdiff_t>(head));
  const double begin = events[head].seconds;
  const std::size_t end = events.size() - tail;
  const double length = std::max(events[end - 1].seconds - begin, 1e-9);
  std::vector<StoryEvent> stretch;
  std::size_t index = 0;
  for (std::size_t i = head; i < end; ++i) {
    const auto own =
        std::min(stretches - 1, static_cast<std::size_t>(static_cast<double>(stretches) *
                                                         (events[i].seconds - begin) / length));
    if (own != index && !stretch.empty()) {
      short_story.push_back(counted(stretch));
      stretch.clear();
    }
    index = own;
    stretch.push_back(events[i]);
  }
  if (!stretch.empty()) short_story.push_back(counted(stretch));
  short_story.insert(short_story.end(), events.begin() + static_cast<std::ptrdiff_t>(end),
                     events.end());
  return short_story;
}

std::string story_text(const Story& story, const std::string& path) {
  std::string text = head_text(story, path);
  if (story.last) {
    text += "\n" + events_text(story) + "\n" + end_text(story) + "\n" + counts_text(story);
  } else {
    text += "nothing was decided\n";
  }
  if (story.events.size() > kMostEvents)
    text += fmt::format("{} events are shown condensed; --json has each\n", story.events.size());
  for (const std::string& note : story.notes) text += wrapped("note: ", note);
  return text;
}

}  // namespace weir::program
