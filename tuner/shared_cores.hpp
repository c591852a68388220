#pragma once

#include <cstdint>

#include <weir/export.hpp>

namespace weir::detail {

/// The cores of a simulated machine as its busy threads share them, and the container's quota.
///
/// Algorithm: r threads that want a core share c of them evenly, each running min(1, c / r) of the
/// time, as under the kernel's fair scheduler over a while. Busy neighbours are threads like others
/// that the quota does not count. A quota of q CPUs gives the container q * 100 ms in each period
/// of 100 ms; once they are used its threads stop until the period ends.
///
/// Thread safety: none.
/// Invariants: 1. granted_seconds() only grows, by at most the time that passes.
class WEIR_EXPORT SharedCores {
 public:
  SharedCores(int cores, double quota_cpus) : cores_(cores), quota_cpus_(quota_cpus) {}

  /// Moves the clock. Requires: not beyond next_event().
  void advance_to(double seconds);
  /// So many more threads of the container want a core (fewer: negative).
  void want(int change);
  void set_taken(int cores);

  /// The part of a core that each busy thread has now; 0 while the quota is used up.
  [[nodiscard]] double share() const { return share_; }
  /// Core time that a thread that was busy all along would have had so far.
  [[nodiscard]] double granted_seconds() const { return granted_seconds_; }
  /// The part of that in which threads took turns.
  [[nodiscard]] double shared_seconds() const { return shared_seconds_; }

  /// When the quota is used up or a period ends, if no thread comes or goes before.
  [[nodiscard]] double next_event() const;
  /// Lets happen what next_event() foresaw. Requires: the clock stands there.
  void handle_event();

  /// Cores that the container may use at once.
  [[nodiscard]] double usable_cores() const;
  [[nodiscard]] int cores() const { return cores_; }
  [[nodiscard]] double used_seconds() const { return used_seconds_; }  ///< by the container
  [[nodiscard]] double used_by_others_seconds() const { return others_seconds_; }
  /// Time in which some thread waited for a core.
  [[nodiscard]] double pressure_seconds() const { return pressure_seconds_; }
  /// Time that the quota took from threads, summed over the cores that they would have had.
  [[nodiscard]] double throttled_seconds() const { return throttled_seconds_; }
  [[nodiscard]] std::uint64_t periods() const { return periods_; }
  [[nodiscard]] std::uint64_t throttled_periods() const { return throttled_periods_; }

 private:
  static constexpr double kPeriodSeconds = 0.1;

  void share_out();

  const int cores_;
  const double quota_cpus_;  ///< 0: none
  int taken_ = 0;
  int wanting_ = 0;
  double now_ = 0;
  double share_ = 1;
  double granted_seconds_ = 0;
  double shared_seconds_ = 0;

  double used_seconds_ = 0;
  double others_seconds_ = 0;
  double pressure_seconds_ = 0;
  double throttled_seconds_ = 0;

  std::uint64_t period_ = 0;  ///< the clock is in period_ .. period_ + 1
  double period_used_seconds_ = 0;
  bool stopped_ = false;  ///< until the period ends
  bool was_busy_ = false;
  std::uint64_t periods_ = 0;  ///< in which a thread wanted a core
  std::uint64_t throttled_periods_ = 0;
};

}  // namespace weir::detail
