#include "tuner/simulated_service.hpp"

#include <algorithm>
#include <limits>

namespace weir::detail {

void SimulatedService::set_stage(const ScenarioStage& stage, double now) {
  work_until(now);
  needs_core_ = stage.kind == ScenarioStage::Kind::cpu;
  limit_ = stage.limit;
  contention_ = stage.contention;
  coherence_ = stage.coherence;
  plateau_ = stage.plateau;
  slow_above_ = stage.slow_above;
  slow_factor_ = stage.slow_factor;
  foresee(now);
}

void SimulatedService::set_core_share(double share, double now) {
  work_until(now);
  core_share_ = share;
  foresee(now);
}

void SimulatedService::work_until(double now) {
  done_ += (now - now_) * rate_;
  now_ = now;
}

void SimulatedService::foresee(double now) {
  if (heap_.empty()) {
    next_end_ = std::numeric_limits<double>::infinity();
    return;
  }
  const double n = in_service();
  double times_as_long = 1.0 + (n - 1.0) * (contention_ + coherence_ * n);
  if (plateau_ > 0 && n > plateau_) times_as_long *= n / plateau_;
  if (slow_above_ > 0 && n > slow_above_) times_as_long *= slow_factor_;
  rate_ = (needs_core_ ? core_share_ : 1.0) / times_as_long;
  next_end_ = rate_ > 0 ? now + std::max(0.0, heap_.front().at - done_) / rate_
                        : std::numeric_limits<double>::infinity();
}

void SimulatedService::start(int worker, double work_seconds) {
  heap_.push_back({done_ + work_seconds, order_++, worker});
  std::push_heap(heap_.begin(), heap_.end());
}

bool SimulatedService::begin(int worker, double work_seconds, double now) {
  if (!has_place()) {
    waiting_.push_back({worker, work_seconds});
    return false;
  }
  work_until(now);
  start(worker, work_seconds);
  foresee(now);
  return true;
}

int SimulatedService::end(double now) {
  work_until(now);
  const Ending ending = heap_.front();
  std::pop_heap(heap_.begin(), heap_.end());
  heap_.pop_back();
  done_ = heap_.empty() ? 0.0 : std::max(done_, ending.at);
  foresee(now);
  return ending.worker;
}

int SimulatedService::admit(double now) {
  if (waiting_.empty() || !has_place()) return -1;
  const Waiting next = waiting_.front();
  waiting_.pop_front();
  work_until(now);
  start(next.worker, next.work_seconds);
  foresee(now);
  return next.worker;
}

}  // namespace weir::detail
