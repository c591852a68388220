#include "tuner/shared_cores.hpp"

#include <algorithm>
#include <limits>

namespace weir::detail {
namespace {

constexpr double kRounding = 1e-9;

}  // namespace

void SharedCores::advance_to(double seconds) {
  const double passed = seconds - now_;
  now_ = seconds;
  if (passed <= 0) return;
  const double granted = passed * share_;
  granted_seconds_ += granted;
  if (share_ < 1) shared_seconds_ += granted;
  used_seconds_ += granted * wanting_;
  period_used_seconds_ += granted * wanting_;
  was_busy_ = was_busy_ || wanting_ > 0;
  if (taken_ > 0) {
    const int threads = taken_ + (stopped_ ? 0 : wanting_);
    others_seconds_ += passed * taken_ * std::min(1.0, static_cast<double>(cores_) / threads);
  }
  if (share_ < 1 && wanting_ > 0) pressure_seconds_ += passed;
  if (stopped_) throttled_seconds_ += passed * std::min(wanting_, cores_);
}

void SharedCores::want(int change) {
  wanting_ += change;
  share_out();
}

void SharedCores::set_taken(int cores) {
  taken_ = std::max(cores, 0);
  share_out();
}

void SharedCores::share_out() {
  const int threads = wanting_ + taken_;
  if (stopped_)
    share_ = 0;
  else
    share_ = threads <= cores_ ? 1.0 : static_cast<double>(cores_) / threads;
}

double SharedCores::usable_cores() const {
  return quota_cpus_ > 0 ? std::min<double>(quota_cpus_, cores_) : cores_;
}

double SharedCores::next_event() const {
  if (quota_cpus_ <= 0) return std::numeric_limits<double>::infinity();
  const double period_end = static_cast<double>(period_ + 1) * kPeriodSeconds;
  const double used_per_second = wanting_ * share_;
  if (used_per_second <= 0) return period_end;
  const double left = quota_cpus_ * kPeriodSeconds - period_used_seconds_;
  // Used up at the very end of the period stops nobody.
  const double used_up = now_ + std::max(0.0, left) / used_per_second;
  return used_up < period_end - kRounding ? used_up : period_end;
}

void SharedCores::handle_event() {
  if (now_ >= static_cast<double>(period_ + 1) * kPeriodSeconds) {
    if (was_busy_) ++periods_;
    if (stopped_) ++throttled_periods_;
    ++period_;
    period_used_seconds_ = 0;
    stopped_ = was_busy_ = false;
  } else {
    stopped_ = true;
  }
  share_out();
}

}  // namespace weir::detail
