#include "policies/contention_control.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "policies/contention_meter.hpp"

namespace weir::detail {
namespace {

constexpr double kFirstWaitSeconds = 1.0;
// A try has failed when workers wait again so soon after it.
constexpr double kFailedWithinSeconds = 3.0;
constexpr double kPatienceSeconds = 2.0;
constexpr double kIdleCore = 0.9;
constexpr double kRounding = 0.05;  // of a worker: what measuring may take away
// Workers that use less of their time on a CPU push nobody out. Each time they wake they wait in
// turn, however few they are, so that parking some would cost rate and cure nothing.
constexpr double kLeastCpuShare = 0.05;

bool workers_are_the_limit(const Observation& seen) {
  return seen.label != "consumer" && seen.label != "source" && seen.label != "memory";
}

}  // namespace

std::optional<ContentionControl::Advice> ContentionControl::advise(const Observation& seen) {
  since_change_.add(seen.work);
  if (!since_change_.full()) return std::nullopt;
  if (ceiling_ >= seen.budget) ceiling_ = 0;
  const WorkTime second = since_change_.sum();
  if (!seen.contended) waiting_since_ = -1;
  std::optional<Advice> advice = seen.contended ? fewer(seen, second) : std::nullopt;
  if (!advice) advice = more(seen, second);
  if (advice) {
    ceiling_ = advice->workers < seen.budget ? advice->workers : 0;
    last_change_seconds_ = seen.time_seconds;
    waiting_since_ = -1;
    since_change_.clear();
  }
  return advice;
}

std::optional<ContentionControl::Advice> ContentionControl::fewer(const Observation& seen,
                                                                  const WorkTime& second) {
  const double ran = std::min<double>(second.running_seconds / second.seconds, seen.active);
  const CpuWaits waits = cpu_waits(second);
  double had = ran * (1.0 - waits.slot_share) + kRounding;
  if (seen.contended_by == "quota") {
    quota_cores_ = seen.host.cores;
  } else {
    if (second.cpu_seconds < kLeastCpuShare * second.slot_seconds) return std::nullopt;
    // Of two processes the one with fewer workers loses less than half a worker, the other one
    // more: who has more is to give up more. If nobody does, half a worker is too many.
    if (waiting_since_ < 0) waiting_since_ = seen.time_seconds;
    if (seen.time_seconds - waiting_since_ < kPatienceSeconds) had += 0.5 - kRounding;
  }
  const int had_a_cpu = std::max(1, static_cast<int>(std::floor(had)));
  if (had_a_cpu >= std::min(seen.active, workers(seen.budget))) return std::nullopt;
  if (tried_seconds_ >= 0 && seen.time_seconds - tried_seconds_ <= kFailedWithinSeconds)
    wait_seconds_ = std::min(2 * wait_seconds_, settings_.contention_wait_most_seconds);
  else
    wait_seconds_ = kFirstWaitSeconds;
  tried_seconds_ = -1;
  return Advice{
      had_a_cpu, true, had,
      fmt::format("{:.1f} workers ran and waited {:.0f}% of the time for a CPU ({}): use {}", ran,
                  100 * waits.slot_share, seen.contended_by, had_a_cpu)};
}

std::optional<ContentionControl::Advice> ContentionControl::more(const Observation& seen,
                                                                 const WorkTime& second) {
  if (ceiling_ == 0 || !workers_are_the_limit(seen)) return std::nullopt;
  if (cpu_waits(second).share >= settings_.contention_recover || second.throttled_periods > 0)
    return std::nullopt;
  const int idle = static_cast<int>(seen.host.idle_cores + 1.0 - kIdleCore);
  const double since = seen.time_seconds - last_change_seconds_;
  if (idle < 1 && since < wait_seconds_ - 1e-9) return std::nullopt;
  // What a quota allows does not change while nobody rewrites it; a try would only be throttled.
  if (quota_cores_ > 0 && seen.host.cores != quota_cores_) quota_cores_ = 0;
  const int most = quota_cores_ > 0 ? std::max(1, static_cast<int>(quota_cores_)) : seen.budget;
  // Others may be about to take the idle CPUs as well.
  const int to = std::min({seen.budget, most, ceiling_ + std::max(1, (idle + 1) / 2)});
  if (to <= ceiling_) return std::nullopt;
  // A try that went well makes the next one come sooner.
  if (tried_seconds_ >= 0) wait_seconds_ = std::max(kFirstWaitSeconds, 0.5 * wait_seconds_);
  tried_seconds_ = seen.time_seconds;
  return Advice{to, false, static_cast<double>(to),
                idle >= 1 ? fmt::format("{} CPUs are idle: use {} workers", idle, to)
                          : fmt::format("no worker waits for a CPU: try {} workers", to)};
}

}  // namespace weir::detail
