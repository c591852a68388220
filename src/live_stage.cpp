#include "src/live_stage.hpp"

#include <weir/random.hpp>

#include "machine/precise_sleep.hpp"

#include <algorithm>
#include <cmath>

namespace weir::detail {
namespace {

using Clock = LiveCrew::Clock;

// A long wait looks up now and then, so that the end of a run need not wait for it.
constexpr std::chrono::milliseconds kLook(100);

}  // namespace

void LiveCrew::enter() {
  if (running_.fetch_add(1, std::memory_order_relaxed) >= workers_)
    violations_.fetch_add(1, std::memory_order_relaxed);
  const Clock::time_point now = Clock::now();
  const MutexLock lock(mutex_);
  began_[std::this_thread::get_id()] = now;
}

int LiveCrew::used_since(Clock::time_point since) const {
  const MutexLock lock(mutex_);
  return static_cast<int>(std::count_if(began_.begin(), began_.end(),
                                        [&](const auto& own) { return own.second >= since; }));
}

LiveStage::LiveStage(const ScenarioStage& stage, LiveCrew& crew, std::uint64_t seed)
    : crew_(crew), seed_(seed), split_(stage.split) {
  set(stage);
}

void LiveStage::set(const ScenarioStage& stage) {
  const MutexLock lock(mutex_);
  stage_ = stage;
  if (stage.limit <= 0)
    device_.reset();
  else if (device_)
    device_->set_places(static_cast<std::size_t>(stage.limit));
  else
    device_ = std::make_unique<EmulatedDevice>(static_cast<std::size_t>(stage.limit));
}

double LiveStage::draw(const ScenarioStage& stage, int running, double& mean) {
  Random random(seed_, draws_++);
  const double n = running;
  mean = stage.seconds * (1.0 + (n - 1.0) * (stage.contention + stage.coherence * n));
  if (stage.plateau > 0 && running > stage.plateau) mean *= n / stage.plateau;
  if (stage.slow_above > 0 && running > stage.slow_above) mean *= stage.slow_factor;
  double seconds = mean;
  if (stage.cv > 0 && stage.spread == Spread::normal) {
    seconds = std::max(0.0, mean * (1.0 + stage.cv * random.normal()));
  } else if (stage.cv > 0 && stage.spread == Spread::lognormal) {
    const double variance = std::log1p(stage.cv * stage.cv);
    seconds = mean * std::exp(std::sqrt(variance) * random.normal() - 0.5 * variance);
  }
  if (stage.tail_probability > 0) {
    if (random.chance(stage.tail_probability)) seconds *= stage.tail_factor;
    mean *= 1.0 + stage.tail_probability * (stage.tail_factor - 1.0);
  }
  return seconds;
}

void LiveStage::serve() {
  thread_local const bool punctual = use_smallest_timer_slack();
  (void)punctual;  // Where the kernel refuses, the measured waits show it.
  crew_.enter();
  const Clock::time_point now = Clock::now();
  Clock::time_point begin = now;
  Clock::duration length{};
  double mean = 0;
  {
    const MutexLock lock(mutex_);
    ++running_;
    const int served = stage_.limit > 0 ? std::min(running_, stage_.limit) : running_;
    length = std::chrono::duration_cast<Clock::duration>(
        std::chrono::duration<double>(draw(stage_, served, mean)));
    if (device_) begin = device_->reserve(now, length);
  }
  const Clock::time_point deadline = begin + length;
  for (Clock::time_point at = now; at < deadline && !crew_.stopped();) {
    at = std::min(deadline, at + kLook);
    sleep_until(at);
  }
  {
    const MutexLock lock(mutex_);
    --running_;
    // A wait that the end of the run cut short says nothing.
    if (!crew_.stopped()) {
      asked_seconds_ += mean;
      took_seconds_ += std::chrono::duration<double>(Clock::now() - begin).count();
    }
  }
  crew_.leave();
}

bool LiveStage::keeps() {
  const MutexLock lock(mutex_);
  return Random(~seed_, draws_++).chance(stage_.keep);
}

std::size_t LiveStage::bytes_out() const {
  const MutexLock lock(mutex_);
  return static_cast<std::size_t>(stage_.bytes_out);
}

double LiveStage::stretch() const {
  const MutexLock lock(mutex_);
  return asked_seconds_ > 0 ? took_seconds_ / asked_seconds_ : 1.0;
}

}  // namespace weir::detail
