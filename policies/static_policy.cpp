#include "policies/static_policy.hpp"

#include "policies/allotment.hpp"

namespace weir::detail {

StaticPolicy::StaticPolicy(Choice choice, bool strict, const PolicySettings& settings)
    : choice_(choice), strict_(strict), settings_(settings), verified_(settings, strict) {}

Decision StaticPolicy::start(const Observation& first, const std::optional<Allocation>& start) {
  Decision decision;
  decision.kind = MoveKind::start;
  decision.phase = "steady";
  standing_.settled = true;
  standing_.settled_at_seconds = first.time_seconds;
  if (start) {
    decision.allocation = *start;
    decision.reason = "the settings that were loaded";
  } else if (choice_ == Choice::fixed && strict_ && !first.current.strict) {
    decision.allocation = even_allotment(first, strict_, settings_.stay_slack);
    decision.reason = "the settings in force are shared ones; as whole workers they are even";
  } else if (choice_ == Choice::fixed) {
    decision.reason = "keep the settings in force";
  } else {
    const bool share = choice_ == Choice::share && !strict_;
    decision.allocation =
        even_allotment(first, strict_, share ? Allocation::kUnlimited : settings_.stay_slack);
    decision.reason = "share the workers evenly";
  }
  return decision;
}

Decision StaticPolicy::decide(const Observation& seen) {
  Decision decision;
  decision.phase = "steady";
  decision.reason = "this policy does not move";
  verified_.note(seen, standing_);
  return decision;
}

}  // namespace weir::detail
