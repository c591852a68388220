#include "policies/peak_search.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

#include "policies/usl_fit.hpp"

namespace weir::detail {
namespace {

// Numbers closer than this share are not worth telling apart.
constexpr double kCloseShare = 0.12;
constexpr double kMostError = 0.1;  // of a rate

bool close(int low, int high) {
  return high - low <= std::max(1, static_cast<int>(kCloseShare * high));
}

}  // namespace

int PeakSearch::best() const {
  // The highest of several rates is as likely high by chance.
  double sure = 0;
  for (const auto& [workers, trial] : trials_)
    sure = std::max(sure, trial.rate * (1.0 - std::min(trial.error, kMostError)));
  for (const auto& [workers, trial] : trials_)
    if (trial.rate >= (1.0 - plateau_) * sure) return workers;
  return 1;
}

std::optional<int> PeakSearch::hint(int low, int high) const {
  std::vector<Level> levels;
  for (const auto& [workers, trial] : trials_)
    if (trial.rate > 0)
      levels.push_back({static_cast<double>(workers), static_cast<double>(workers) / trial.rate});
  const std::optional<UslFit> fit = fit_usl(levels);
  if (!fit || !(fit->peak() < high)) return std::nullopt;
  const int peak = static_cast<int>(std::lround(fit->peak()));
  return peak > low && peak < high ? std::optional<int>(peak) : std::nullopt;
}

std::optional<int> PeakSearch::next() const {
  if (trials_.size() < 2) return std::nullopt;
  const auto at = trials_.find(best());
  const auto above = std::next(at);
  const int here = at->first;
  const int low = at == trials_.begin() ? 0 : std::prev(at)->first;
  const int high = above == trials_.end() ? here : above->first;
  const auto untried = [&](std::optional<int> n) { return n && trials_.count(*n) == 0; };
  if (const std::optional<int> peak = hint(low, high);
      untried(peak) && !(close(here, *peak) || close(*peak, here)))
    return peak;
  // The best may be the left foot of a higher peak. A doubling finds what is no lower further up.
  if (above != trials_.end() && !close(here, high) &&
      (above->second.rate < (1.0 - plateau_) * at->second.rate || high > 2 * here))
    return (here + high) / 2;
  if (close(low, here)) return std::nullopt;
  return (low + here) / 2;
}

}  // namespace weir::detail
