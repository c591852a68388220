#include "policies/verified_rate.hpp"

#include "policies/allotment.hpp"
#include "policies/plan.hpp"

namespace weir::detail {

void VerifiedRate::note(const Observation& seen, Standing& standing) {
  if (seen.first_after_change) meter_.clear();
  if (!seen.valid || seen.first_after_change) return;
  meter_.add(seen);
  const Plan plan = make_plan(seen, settings_, strict_, settings_.release_margin);
  if (!plan.trusted || seen.contended) return;
  const double per_second = meter_.per_second(seen, plan.binding);
  const bool known = standing.best_verified && !differs(*standing.best_verified, seen.current);
  if (standing.best_verified && !known && per_second <= standing.best_per_second) return;
  standing.best_verified = seen.current;
  standing.best_per_second = per_second;
}

}  // namespace weir::detail
