#pragma once

#include <optional>
#include <string>

#include <weir/export.hpp>
#include <weir/observation.hpp>
#include <weir/policy_settings.hpp>

#include "policies/last_second.hpp"

namespace weir::detail {

/// How many workers to use while others, or a quota, take the CPUs.
///
/// Algorithm: of the n workers that ran in the last second only those that had a CPU:
/// floor(n C / (C + R)), time blocked counting as time that they had. R and n are of the same
/// second and all of it after the last change, so that nothing is reduced twice. Back by one worker
/// a second while nobody waits and the workers are the limit, by more where the host has idle CPUs;
/// a try that brings the waits back is put off for twice as long as the one before. Workers that
/// hardly use a CPU stay: fewer of them would not wait less.
///
/// Thread safety: none.
class WEIR_EXPORT ContentionControl {
 public:
  explicit ContentionControl(const PolicySettings& settings) : settings_(settings) {}

  /// How many of `budget` workers may be used.
  [[nodiscard]] int workers(int budget) const { return ceiling_ > 0 ? ceiling_ : budget; }
  [[nodiscard]] bool holds_back() const { return ceiling_ > 0; }

  struct Advice {
    int workers = 0;
    bool fewer = false;
    double running = 0;  ///< how many of them may run at a time
    std::string reason;
  };
  /// After each window in which one allocation was in force; a new number of workers to use.
  [[nodiscard]] std::optional<Advice> advise(const Observation& seen);
  /// So many workers may be used, since not all of them run at a time.
  void allow(int workers) { ceiling_ = workers; }
  /// The allocation changed: what was measured before says nothing.
  void changed() { since_change_.clear(); }

 private:
  [[nodiscard]] std::optional<Advice> fewer(const Observation& seen, const WorkTime& second);
  [[nodiscard]] std::optional<Advice> more(const Observation& seen, const WorkTime& second);

  PolicySettings settings_;
  LastSecond since_change_;
  int ceiling_ = 0;            // 0: none
  double quota_cores_ = 0;     // of the quota that has throttled; 0: none has
  double waiting_since_ = -1;  // for a CPU, with as many workers as are to be had; -1: not
  double tried_seconds_ = -1;  // when workers were last added
  double wait_seconds_ = 1;    // until the next try
  double last_change_seconds_ = 0;
};

}  // namespace weir::detail
