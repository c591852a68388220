#include "tuner/replay.hpp"

#include <weir/error.hpp>
#include <weir/policy.hpp>
#include <weir/version.hpp>

#include "policies/observer.hpp"
#include "policies/plan.hpp"
#include "tuner/decision_log_reader.hpp"
#include "tuner/decision_record.hpp"

#include <memory>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace weir::detail {
namespace {

std::string text_of(const Decision& decision, const Observation& seen) {
  std::string text = decision_json(decision, stage_names(seen)).dump();
  if (decision.outcome) text += outcome_json(*decision.outcome).dump();
  return text;
}

std::string in_words(const Decision& decision, const Observation& seen) {
  std::string words =
      fmt::format("label {}; {}: {}", seen.label, name_of(decision.kind), decision.reason);
  if (decision.allocation)
    words += fmt::format("; towards {}", described(*decision.allocation, seen));
  words += fmt::format("; predicted gain {:+.2f} %", 100 * decision.predicted_gain);
  if (decision.outcome)
    words += fmt::format("; the move before is {}, it brought {:+.2f} %",
                         name_of(decision.outcome->verdict), 100 * decision.outcome->realised_gain);
  return words;
}

/// One part of a log: observer and policy as they were when it was recorded.
class Part {
 public:
  explicit Part(const LogHead& head)
      : settings_(make_settings(head.policy, head.settings)),
        start_(head.start),
        observer_(settings_, head.strict),
        policy_(make_policy(head.policy, head.strict, settings_)) {}

  struct Look {
    Observation seen;
    Decision decision;
  };
  [[nodiscard]] Look look(const LookInput& given) {
    Look result;
    if (std::exchange(first_, false)) {
      result.seen = observer_.begin(given.snapshot, given.current);
      result.decision = policy_->start(result.seen, start_);
    } else {
      result.seen = observer_.observe(given.snapshot, given.current, given.changed);
      result.decision = policy_->decide(result.seen);
    }
    return result;
  }

 private:
  const PolicySettings settings_;
  const std::optional<Allocation> start_;
  Observer observer_;
  const std::unique_ptr<Policy> policy_;
  bool first_ = true;
};

}  // namespace

std::string Replay::text() const {
  std::string text;
  if (!difference) {
    text = fmt::format("{} windows{} of policy {}{} replay to the same decisions\n", windows,
                       parts > 1 ? fmt::format(" in {} parts", parts) : "", policy,
                       strict ? " (strict)" : "");
  } else {
    text = fmt::format(
        "{} windows of policy {}{} are the same; the next one, {:.3f} s after the beginning (line "
        "{}), is not\n  recorded: {}\n  replayed: {}\n",
        windows, policy, strict ? " (strict)" : "", difference->seconds, difference->line,
        difference->recorded, difference->replayed);
  }
  for (const std::string& note : notes) text += "note: " + note + "\n";
  return text;
}

Replay replay_log(const std::string& path) {
  DecisionLogReader reader(path);
  Replay replay;
  std::optional<Part> part;
  std::optional<double> began;
  while (const std::optional<DecisionLogReader::Entry> entry = reader.next()) {
    if (const LogHead* const head = std::get_if<LogHead>(&*entry)) {
      if (replay.parts == 0 && !head->written_by.empty() && head->written_by != version())
        replay.notes.push_back(
            fmt::format("recorded by weir {}, replayed by weir {}", head->written_by, version()));
      ++replay.parts;
      replay.policy = head->policy;
      replay.strict = head->strict;
      part.emplace(*head);
      continue;
    }
    const LogWindow& window = std::get<LogWindow>(*entry);
    if (!window.given)
      throw Error(ErrorKind::usage, path,
                  "has nothing to replay: an earlier weir wrote it (weir_log: 1), without what the "
                  "tuner was given; weir explain can read it");
    if (!began) began = window.seen.time_seconds;
    const Part::Look now = part->look(*window.given);
    if (now.seen.label != window.seen.label ||
        text_of(now.decision, now.seen) != window.decision_text) {
      replay.difference = {window.line, window.seen.time_seconds - *began,
                           in_words(window.decision, window.seen),
                           in_words(now.decision, now.seen)};
      return replay;
    }
    ++replay.windows;
  }
  if (!reader.note().empty()) replay.notes.push_back(reader.note());
  if (replay.windows == 0)
    throw Error(ErrorKind::usage, path,
                "has nothing to replay: no window was written" +
                    (reader.note().empty() ? "" : "; " + reader.note()));
  return replay;
}

}  // namespace weir::detail
