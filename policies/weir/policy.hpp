#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <weir/allocation.hpp>
#include <weir/export.hpp>
#include <weir/observation.hpp>
#include <weir/policy_settings.hpp>

namespace weir {

/// What a decision is, and thereby how it is judged afterwards.
enum class MoveKind {
  hold,      ///< nothing changes
  start,     ///< the first allocation of a run
  ramp,      ///< a step of the cold start; not counted as a move
  jump,      ///< from the ramp to the solution
  move,      ///< for a predicted gain
  release,   ///< workers parked, since the rate is held without them
  rearm,     ///< workers unparked, since the consumer waits
  relearn,   ///< costs changed: share freely until the new ones are trusted
  rollback,  ///< a move did not pay: back to the best verified allocation
  yield,     ///< workers parked, since others take the CPUs
  recover,   ///< workers unparked, since CPUs are free again
  probe,     ///< one worker more or less for a moment, to see what it brings; not a move
  depth,     ///< queues made deeper or less deep; not a move
};
[[nodiscard]] WEIR_EXPORT std::string_view name_of(MoveKind kind);

/// How an earlier move turned out.
struct Outcome {
  enum class Verdict { kept, rolled_back, undecided };
  Verdict verdict = Verdict::undecided;
  MoveKind kind = MoveKind::hold;
  double predicted_gain = 0;
  double realised_gain = 0;
  double standard_error = 0;  ///< of the realised gain
};
[[nodiscard]] WEIR_EXPORT std::string_view name_of(Outcome::Verdict verdict);

/// What a policy wants next.
struct Decision {
  MoveKind kind = MoveKind::hold;
  std::optional<Allocation> allocation;  ///< none: keep
  std::string reason;                    ///< one sentence for the log
  std::string phase;                     ///< start, ramp, verify, steady, relearn or probation
  double predicted_per_second = 0;       ///< X by the model; 0: no prediction
  double predicted_gain = 0;             ///< over the present X
  double look_again_seconds = 0;         ///< 0: after an ordinary window
  std::optional<Outcome> outcome;        ///< of an earlier move, when it was decided in this window
};

/// Where a policy stands; for status lines and the tuned file.
struct Standing {
  int moves = 0;  ///< changes after the ramp
  bool settled = false;
  double settled_at_seconds = 0;  ///< time of the last change, on the snapshots' clock
  std::optional<Allocation> best_verified;
  double best_per_second = 0;  ///< X that was measured under it
};

/// Decides allocations from observations.
///
/// Deterministic: the same observations in the same order give the same decisions. It has memory of
/// its own and no clock, lock, thread or I/O; windowing and clamping are done outside it.
///
/// Thread safety: none; one thread calls it.
class WEIR_EXPORT Policy {
 public:
  virtual ~Policy();
  /// The first decision, before any window. `first` has the stages and the budget, nothing
  /// measured; `start` is an allocation to begin with (of a tuned file), taken on probation.
  [[nodiscard]] virtual Decision start(const Observation& first,
                                       const std::optional<Allocation>& start) = 0;
  /// After each window, valid or not.
  [[nodiscard]] virtual Decision decide(const Observation& window) = 0;
  [[nodiscard]] virtual const Standing& standing() const = 0;
};

/// One row of the table of policies.
struct PolicyInfo {
  std::string_view name;
  std::string_view summary;
  std::vector<SettingInfo> settings;
};

/// All policies, the default one first.
[[nodiscard]] WEIR_EXPORT const std::vector<PolicyInfo>& policies();

/// The row of that name. Throws Error (usage) at `where`, naming the known ones and the nearest.
[[nodiscard]] WEIR_EXPORT const PolicyInfo& policy_info(std::string_view name,
                                                        const std::string& where = {});

/// Makes the policy of that name. Throws Error (usage) naming the known ones and the nearest.
[[nodiscard]] WEIR_EXPORT std::unique_ptr<Policy> make_policy(std::string_view name, bool strict,
                                                              const PolicySettings& settings);

}  // namespace weir
