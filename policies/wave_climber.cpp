#include "policies/wave_climber.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace weir::detail {
namespace {

// The defaults of .NET's settings System.Threading.ThreadPool.HillClimbing.*, by their names there.
constexpr double kMaxSampleError = 0.15;
constexpr double kBias = 0.15;  // the gain that another worker must bring
constexpr double kTargetSignalToNoiseRatio = 3.0;
constexpr double kErrorSmoothingFactor = 0.01;
constexpr double kGainExponent = 2.0;
constexpr double kMaxChangePerSecond = 4.0;
constexpr double kMaxChangePerSample = 20.0;
constexpr double kWaveMagnitudeMultiplier = 1.0;
constexpr int kMaxWaveMagnitude = 20;
constexpr double kMostPatience = 10.0;

}  // namespace

double WaveClimber::Component::size() const { return std::hypot(real, imaginary); }

double WaveClimber::newest(const Samples& samples, std::size_t count, std::size_t i) const {
  return samples[(samples_ - count + i) % kHistory];
}

double WaveClimber::mean(const Samples& samples, std::size_t count) const {
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += newest(samples, count, i);
  return sum / static_cast<double>(count);
}

WaveClimber::Component WaveClimber::component(const Samples& samples, std::size_t count,
                                              double period) const {
  const double angle = 2 * std::numbers::pi / period;
  double last = 0;
  double before = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double next = 2 * std::cos(angle) * last - before + newest(samples, count, i);
    before = last;
    last = next;
  }
  const auto n = static_cast<double>(count);
  return {(last - before * std::cos(angle)) / n, before * std::sin(angle) / n};
}

double WaveClimber::judge() {
  gain_ = 0;
  // Whole waves only: between two frequencies nothing can be measured.
  const std::size_t count = std::min(samples_ - 1, kHistory) / kWavePeriod * kWavePeriod;
  if (count <= kWavePeriod) return 0;
  const double throughput = mean(throughputs_, count);
  const double workers = mean(workers_, count);
  if (throughput <= 0 || workers <= 0) return 0;

  const double waves = static_cast<double>(count) / kWavePeriod;
  const auto n = static_cast<double>(count);
  const double error = std::max(component(throughputs_, count, n / (waves + 1)).size(),
                                component(throughputs_, count, n / (waves - 1)).size()) /
                       throughput;
  noise_ =
      noise_ == 0 ? error : kErrorSmoothingFactor * error + (1 - kErrorSmoothingFactor) * noise_;

  const Component out = component(throughputs_, count, kWavePeriod);
  const Component in = component(workers_, count, kWavePeriod);
  const double in_size = in.size() / workers;
  if (in_size > 0) {
    const double real = (out.real * in.real + out.imaginary * in.imaginary) / throughput / workers;
    gain_ = real / (in_size * in_size) - kBias;
  }
  const double loudest = std::max(noise_, error);
  const double confidence =
      loudest > 0 ? std::min(1.0, in_size / loudest / kTargetSignalToNoiseRatio) : 1.0;
  return std::clamp(gain_, -1.0, 1.0) * confidence;
}

int WaveClimber::wave_height() const {
  const double wanted =
      setting_ * noise_ * kTargetSignalToNoiseRatio * kWaveMagnitudeMultiplier * 2.0;
  return std::clamp(static_cast<int>(0.5 + wanted), 1, kMaxWaveMagnitude);
}

int WaveClimber::add(int workers, double seconds, double completions) {
  // Somebody else may have changed the number.
  setting_ += workers - last_workers_;
  last_workers_ = workers;

  seconds += pending_seconds_;
  completions += pending_completions_;
  // Each worker but one may have an item under way that is counted in the wrong sample, and such
  // errors swing with the wave's own frequency.
  if (seconds <= 0 ||
      (samples_ > 0 && workers > 1 && workers - 1.0 >= kMaxSampleError * completions)) {
    pending_seconds_ = seconds;
    pending_completions_ = completions;
    return workers;
  }
  pending_seconds_ = pending_completions_ = 0;
  throughputs_[samples_ % kHistory] = completions / seconds;
  workers_[samples_ % kHistory] = workers;
  ++samples_;

  const double worth = judge();
  const double most_change = kMaxChangePerSecond * seconds;
  const double move = std::copysign(std::pow(std::abs(worth), kGainExponent) * most_change, worth);
  setting_ += std::min(move, kMaxChangePerSample);
  const int height = wave_height();
  setting_ = std::max<double>(least_, std::min<double>(most_ - height, setting_));

  const bool crest = samples_ / (kWavePeriod / 2) % 2 == 1;
  last_workers_ = std::clamp(static_cast<int>(setting_ + (crest ? height : 0)), least_, most_);
  patience_ = gain_ < 0 && last_workers_ == least_
                  ? std::max(1.0, kMostPatience * std::min(-gain_, 1.0))
                  : 1.0;
  return last_workers_;
}

}  // namespace weir::detail
