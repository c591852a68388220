#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include <weir/allocation.hpp>
#include <weir/export.hpp>
#include <weir/observation.hpp>
#include <weir/policy_settings.hpp>

#include "policies/peak_search.hpp"
#include "policies/rate_meter.hpp"

namespace weir::detail {

/// Tries a few workers less or one more in the stage that binds, where nobody has seen what they
/// bring: so many windows with it, as many without, and then says whether it paid.
///
/// Algorithm: three kinds of trial, in this order.
/// Between: two levels were seen with nothing in between, items took far longer at the upper one,
/// and the lower one would lead above all that was seen. Bisect the gap; the other stages get what
/// they need to follow.
/// Fewer: an allocation that was loaded or set by hand has never shown the stage with clearly fewer
/// workers, and the model would have chosen another one or the stage mostly waits: it may be past
/// its peak. Half as many, half of that, down to one, then a few around the best, once.
/// One more: the stage is at a cap of its own while other workers idle, and the next level is
/// unknown; judged by the stage's own rate with it and without. The scalability law through the
/// levels, where there are enough, says whether fewer or one more comes first.
/// After the first two the levels seen answer what is best, as those of the ramp do.
///
/// Thread safety: none.
class WEIR_EXPORT Probe {
 public:
  explicit Probe(const PolicySettings& settings);

  [[nodiscard]] bool running() const { return phase_ != Phase::none; }
  /// Whether to begin one in this window. `doubtful`: the allocation in force is not what the model
  /// would choose, so that a survey is worth its price.
  [[nodiscard]] std::optional<Allocation> begin(const Observation& seen, bool doubtful);

  enum class Step {
    wait,   ///< nothing to do in this window
    next,   ///< set probed()
    back,   ///< set original() again
    adopt,  ///< the probe paid: set probed()
    over,   ///< original() is in force; what was to be learnt is known
  };
  [[nodiscard]] Step advance(const Observation& seen);
  [[nodiscard]] const Allocation& original() const { return original_; }
  [[nodiscard]] const Allocation& probed() const { return probed_; }
  /// What it was about, or how it went, in words.
  [[nodiscard]] const std::string& reason() const { return reason_; }
  /// Gives up, since something else changed.
  void abandon() { phase_ = Phase::none; }
  /// Costs changed, or another allocation is in force: wait a while.
  void reset();
  /// The allocation in force came from elsewhere: fewer workers are worth a look.
  void allow_fewer() { may_try_fewer_ = true; }
  /// Costs changed: what a survey found is outdated.
  void forget() {
    surveyed_ = false;
    reset();
  }

 private:
  enum class Phase { none, on, off };

  enum class Kind {
    one_more,  ///< judged by itself
    fewer,     ///< a survey of all that lies below
    between,   ///< a survey of a gap in what was seen
  };
  struct Trial {
    int workers = 0;  ///< 0: nothing is worth a trial
    Kind kind = Kind::one_more;
    int low = 0;   ///< no number of the survey goes this far down
    int high = 0;  ///< nor this far up
  };

  [[nodiscard]] Trial trial(const Observation& seen, std::size_t stage, bool doubtful) const;
  /// original() with so many workers in the stage; nothing where there are too few for it.
  [[nodiscard]] std::optional<Allocation> with(const Observation& seen, int workers) const;
  void note_rate(int workers, const RateMeter& meter, const Observation& seen);
  [[nodiscard]] bool paid(const Observation& seen);
  /// The next number of the survey; 0: it is over.
  [[nodiscard]] int next_of_survey() const;
  void put_off();

  PolicySettings settings_;
  Phase phase_ = Phase::none;
  Trial trial_;
  Allocation original_;
  Allocation probed_;
  std::size_t stage_ = 0;
  bool may_try_fewer_ = false;
  bool surveyed_ = false;  // since costs last changed
  int from_ = 0;
  int to_ = 0;
  int windows_ = 0;
  int tries_ = 0;
  int lowest_ = 1;  // that the survey has tried
  PeakSearch peak_;
  RateMeter before_;
  RateMeter during_;
  RateMeter after_;
  double quiet_seconds_ = 0;  // since when nothing else has changed
  double wait_seconds_ = 0;   // of quiet before the next probe
  int count_ = 0;
  std::string reason_;
};

}  // namespace weir::detail
