#include "policies/best_settings.hpp"

#include "policies/allotment.hpp"

namespace weir::detail {

void BestSettings::offer(const Observation& seen, double per_second, bool excused) {
  if (seen.contended) return;
  const bool worse = per_second < (1.0 - 0.5 * settings_.dead_band) * per_second_;
  const bool same = best_ && !differs(*best_, seen.current);
  if (known() && !same && worse && !excused) return;
  best_ = seen.current;
  per_second_ = per_second;
  label_ = seen.label;
  stale_ = false;
}

bool BestSettings::regret(const Observation& seen, double per_second, double relative_error,
                          bool excused) {
  const bool below =
      known() && !excused && seen.label == label_ && differs(*best_, seen.current) &&
      per_second * (1.0 + 2 * relative_error) < (1.0 - settings_.dead_band) * per_second_;
  below_ = below ? below_ + 1 : 0;
  return below_ >= settings_.regret_windows;
}

}  // namespace weir::detail
