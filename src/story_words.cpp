#include "src/story_words.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/quantity_text.hpp"
#include "src/short_name.hpp"

namespace weir::program {
namespace {

constexpr double kLeastChange = 0.1;  // of a worker; less is what a sharing pool does by itself
constexpr std::size_t kMostStages = 4;
constexpr double kLeastShare = 0.01;  // of a figure of the host that is worth a word
constexpr double kLeastCores = 0.1;
constexpr int kNoCap = std::numeric_limits<int>::max();

/// Whole numbers as such, others with one digit.
std::string workers_text(double workers) {
  const double whole = std::round(workers);
  return std::abs(workers - whole) < 0.05 ? fmt::format("{:.0f}", whole)
                                          : fmt::format("{:.1f}", workers);
}

std::string amount_text(double workers) {
  const std::string amount = workers_text(workers);
  return amount + (amount == "1" ? " worker" : " workers");
}

/// One stage and how many workers it has more.
struct Shift {
  std::size_t stage = 0;
  double by = 0;
};

std::vector<Shift> shifts(const Allocation& before, const Allocation& after) {
  std::vector<Shift> all;
  for (std::size_t i = 0; i < after.stages.size(); ++i) {
    const double by = after.stages[i].target - before.stages[i].target;
    if (std::abs(by) >= kLeastChange) all.push_back({i, by});
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Shift& a, const Shift& b) { return std::abs(a.by) > std::abs(b.by); });
  return all;
}

std::string shifts_in_words(const std::vector<Shift>& shifts, const Allocation& before,
                            const Allocation& after, const std::vector<std::string>& stages) {
  const auto name = [&](const Shift& shift) { return short_name(stages[shift.stage]); };
  if (shifts.size() == 2 && std::abs(shifts[0].by + shifts[1].by) < kLeastChange) {
    const bool first_gains = shifts[0].by > 0;
    return fmt::format("{} from {} to {}", amount_text(std::abs(shifts[0].by)),
                       name(shifts[first_gains ? 1 : 0]), name(shifts[first_gains ? 0 : 1]));
  }
  std::vector<std::string> parts;
  for (const Shift& shift : shifts) {
    if (parts.size() == kMostStages && shifts.size() > kMostStages + 1) {
      parts.push_back(fmt::format("and {} more", shifts.size() - kMostStages));
      break;
    }
    parts.push_back(fmt::format("{} {} to {}", name(shift),
                                workers_text(before.stages[shift.stage].target),
                                workers_text(after.stages[shift.stage].target)));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string caps_in_words(const Allocation& before, const Allocation& after,
                          const std::vector<std::string>& stages, int budget) {
  std::string text;
  for (std::size_t i = 0; i < after.stages.size(); ++i) {
    // A cap at or above the budget is none.
    const int was = before.stages[i].cap >= budget ? kNoCap : before.stages[i].cap;
    const int is = after.stages[i].cap >= budget ? kNoCap : after.stages[i].cap;
    if (was == is) continue;
    if (!text.empty()) text += ", ";
    text += is == kNoCap ? fmt::format("{} no longer capped", short_name(stages[i]))
                         : fmt::format("{} capped at {}", short_name(stages[i]), is);
  }
  return text;
}

std::string depths_in_words(const Allocation& before, const Allocation& after,
                            const std::vector<std::string>& stages) {
  std::string text;
  for (std::size_t i = 0; i < after.stages.size(); ++i) {
    const std::int64_t is = after.stages[i].depth_items;
    if (is == before.stages[i].depth_items) continue;
    if (!text.empty()) text += ", ";
    text += is > 0 ? fmt::format("queue behind {} {} items deep", short_name(stages[i]), is)
                   : fmt::format("queue behind {} as deep as by the rule", short_name(stages[i]));
  }
  return text;
}

}  // namespace

std::string label_in_words(const std::string& label) {
  const std::size_t colon = label.find(':');
  const std::string kind = label.substr(0, colon);
  const std::string stage = colon == std::string::npos ? "" : short_name(label.substr(colon + 1));
  if (kind == "stage") return fmt::format("{} is the limit", stage);
  if (kind == "serial") return fmt::format("{}, a serial stage, is the limit", stage);
  if (kind == "device") return fmt::format("the device of {} is the limit", stage);
  if (kind == "consumer") return "the consumer is the limit";
  if (kind == "source") return "the source is the limit";
  if (kind == "memory") return "the memory bound is the limit";
  if (kind == "contended") return "workers wait for CPUs";
  if (kind == "none") return "nothing is clearly the limit";
  return "label " + label;
}

std::string contention_in_words(const Observation& seen) {
  if (seen.contended_by == "others")
    return seen.host.others_cores > 0
               ? fmt::format(", others use {:.1f} of them", seen.host.others_cores)
               : ", others use them";
  if (seen.contended_by == "quota")
    return fmt::format(", the quota of the container stops them ({} of its periods)",
                       share_text(seen.host.throttled_share));
  if (seen.contended_by == "own") return ", more of them run than there are CPUs";
  return "";
}

std::string host_in_words(const HostFigures& host) {
  std::vector<std::string> parts;
  for (const auto& [by, share] : host.contended_shares)
    if (share >= kLeastShare)
      parts.push_back(fmt::format("contended by {} {:.0f} % of the time",
                                  by == "own"     ? "own workers"
                                  : by == "quota" ? "the quota"
                                                  : by,
                                  100 * share));
  if (host.cpu_wait_share >= kLeastShare)
    parts.push_back(fmt::format("workers waited for a CPU {} of the time they wanted one",
                                share_text(host.cpu_wait_share)));
  if (host.throttled_share >= kLeastShare)
    parts.push_back(fmt::format("the quota stopped them in {} of its periods",
                                share_text(host.throttled_share)));
  if (host.others_cores >= kLeastCores)
    parts.push_back(fmt::format("other processes used {:.1f} CPUs", host.others_cores));
  if (parts.empty()) return {};
  parts.push_back(fmt::format("{:.0f} forced switches a CPU second", host.switches_per_cpu_second));
  if (host.idle_cores >= kLeastCores)
    parts.push_back(fmt::format("{:.1f} CPUs idle", host.idle_cores));
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::string change_in_words(const Allocation& before, const Allocation& after,
                            const std::vector<std::string>& stages, int budget) {
  std::vector<std::string> parts;
  const bool comparable =
      before.stages.size() == after.stages.size() && after.stages.size() == stages.size();
  if (comparable) {
    const std::vector<Shift> moved = shifts(before, after);
    if (!moved.empty()) parts.push_back(shifts_in_words(moved, before, after, stages));
    parts.push_back(caps_in_words(before, after, stages, budget));
    parts.push_back(depths_in_words(before, after, stages));
  }
  if (before.active != after.active || !comparable)
    parts.push_back(fmt::format("{} of {} workers awake", after.active, budget));
  if (!after.strict && std::isinf(after.stay_slack) && !std::isinf(before.stay_slack))
    parts.emplace_back("workers share freely");
  std::erase(parts, "");
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::string bare_reason(const Decision& decision, const std::vector<std::string>& stages) {
  const std::string& reason = decision.reason;
  // What the move before brought is said where it is told.
  const std::size_t back = reason.rfind(": back to ");
  if (decision.kind == MoveKind::rollback && back != std::string::npos)
    return reason.substr(back + 2);
  if (!decision.allocation || stages.empty() || !reason.ends_with(" workers")) return reason;
  const std::size_t spelled = reason.find(": " + stages.front() + " ");
  const std::string bare = reason.substr(0, spelled);  // all of it where nothing is spelled out
  return bare.ends_with(" predicted") ? "" : bare;
}

std::string gain_text(double gain) {
  const double percent = 100 * gain;
  // Anything that rounds to nothing has no sign.
  if (std::abs(percent) < 0.05) return "0 %";
  return fmt::format("{:+.{}f} %", percent, std::abs(percent) < 9.95 ? 1 : 0);
}

std::string outcome_in_words(const Outcome& outcome) {
  using Verdict = Outcome::Verdict;
  const bool rolled_back = outcome.verdict == Verdict::rolled_back;
  const char* const verdict = rolled_back                             ? "taken back"
                              : outcome.verdict == Verdict::undecided ? "kept, though not certain"
                                                                      : "kept";
  // With nothing to compare with, nothing was realised.
  const bool compared = outcome.realised_gain != 0 || outcome.standard_error != 0;
  if (!compared) return rolled_back ? verdict : "kept, as there is nothing to compare with";
  const std::string got =
      fmt::format("{}{}", gain_text(outcome.realised_gain),
                  outcome.standard_error >= 0.005
                      ? fmt::format(" (give or take {:.0f})", 100 * outcome.standard_error)
                      : "");
  if (outcome.predicted_gain == 0) return fmt::format("the rate changed by {}: {}", got, verdict);
  return fmt::format("predicted {}, got {}: {}", gain_text(outcome.predicted_gain), got, verdict);
}

}  // namespace weir::program
