#include "policies/verification.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace weir::detail {
namespace {

constexpr double kErrorsToDecide = 3.0;
constexpr double kErrorsToFail = 2.0;
// Nothing completed says little: the stage may have had its work done for a while.
constexpr double kLeastRatio = 0.5;

}  // namespace

Verification::Verification(const Promise& promise, const PolicySettings& settings)
    : promise_(promise), settings_(settings), after_(std::numeric_limits<double>::infinity()) {}

RateMeter::Rate Verification::realised(const Observation& seen) const {
  return after_.rate(seen, promise_.binding);
}

std::optional<Outcome> Verification::judge(const Observation& seen, bool excused) {
  after_.add(seen);
  const RateMeter::Rate now = after_.rate(seen, promise_.binding);
  Outcome outcome;
  outcome.kind = promise_.kind;
  outcome.predicted_gain = promise_.predicted_gain;
  const bool out_of_time = after_.seconds() >= settings_.verify_seconds;
  if (promise_.before.items_per_second <= 0) {  // nothing to compare with
    if (!out_of_time && now.relative_error > settings_.dead_band) return std::nullopt;
    outcome.verdict = Outcome::Verdict::undecided;
    return outcome;
  }
  const double ratio = now.items_per_second / promise_.before.items_per_second;
  outcome.realised_gain = ratio - 1.0;
  outcome.standard_error =
      std::max(ratio, kLeastRatio) * std::hypot(now.relative_error, promise_.before.relative_error);
  const double promised = std::max(outcome.predicted_gain, settings_.dead_band);
  const bool clear = outcome.standard_error < promised / kErrorsToDecide;
  // More windows cannot make up for what was little known before.
  const bool no_clearer = kErrorsToFail * now.relative_error < promise_.before.relative_error;
  if (!clear && !no_clearer && !out_of_time) return std::nullopt;

  // A fall that was foretold is none: what was before could not last.
  const double fall = outcome.realised_gain - std::min(0.0, outcome.predicted_gain);
  const bool fell =
      fall < -settings_.dead_band && fall + kErrorsToFail * outcome.standard_error < 0;
  const bool too_little = promise_.gain_required && clear &&
                          outcome.predicted_gain >= settings_.dead_band &&
                          outcome.realised_gain < settings_.verify_share * outcome.predicted_gain &&
                          !(promise_.fewer_workers && outcome.realised_gain >= 0);
  if (!excused && (fell || too_little))
    outcome.verdict = Outcome::Verdict::rolled_back;
  else
    outcome.verdict = clear ? Outcome::Verdict::kept : Outcome::Verdict::undecided;
  return outcome;
}

}  // namespace weir::detail
