#pragma once

#include <vector>

#include <weir/export.hpp>

#include "tuner/timetable.hpp"
#include "tuner/trial_record.hpp"

namespace weir::detail {

/// How calm a controller was, by what it put in force and not by what it says of itself.
///
/// A *change* puts an allocation in force that differs from the one before in anything but depths
/// and packets. A *probe* and the way back from it are no changes: they learn, as the ramp does,
/// and what they cost shows in the rate; they are counted apart. Only what is called a probe and
/// brings the allocation before it back within 10 s is one: a probe that stays is a move, whatever
/// its name.
///
/// A *burst* of changes ends with the first quiet time: 3 s without one, or three times what the
/// slowest stage that matters takes for 30 items when that is longer, since nobody can know costs
/// sooner.
struct Stability {
  double settle_seconds = 0;
  int moves = 0;
  int moves_after_settling = 0;
  int probes = 0;
  double reversals_per_minute = 0;
  double reaction_seconds = 0;
};

/// - settle: the last change of the first burst. It begins with the run where a start was given, as
///   that may be left as it is, and else with the first change. 0 without one.
/// - moves: the changes but the start and the ramp.
/// - moves after settling: the changes but those asked for. Asked for are: the run's first burst;
///   the first burst after an event, which begins with its first change; both only within the first
///   half of the stretch; all while a value is on its way (`over`); and a change within 20 s of an
///   event that parks workers, since those that may be needed again are kept a while.
/// - reversals: changes at which a stage's target turned round by more than 2 % and 0.02 workers,
///   from the settling on (or the middle of the first stretch); what an event or `over` turns round
///   does not count.
/// - reaction: from an event to the next change or other label, the longest; an event that nothing
///   follows counts until the next one.
[[nodiscard]] WEIR_EXPORT Stability judge_stability(const std::vector<TrialLook>& looks,
                                                    const Timetable& timetable, bool given_start);

}  // namespace weir::detail
