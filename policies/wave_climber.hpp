#pragma once

#include <array>
#include <cstddef>

#include <weir/export.hpp>

namespace weir::detail {

/// Looks for the number of workers beyond which more of them bring too little: lets the number
/// swing as a wave and looks for the same wave in the throughput.
///
/// Source: the hill climbing of .NET's thread pool (dotnet/runtime,
/// src/libraries/System.Private.CoreLib/src/System/Threading/PortableThreadPool.HillClimbing.cs),
/// with its constants. Two things are left out: the refusal to grow while the whole machine is over
/// 95 % busy, since a budget bounds the workers here, and the random length of a sample, which is
/// the caller's.
///
/// Algorithm: samples of the throughput and of the workers are kept over eight waves of four
/// samples. The component of the wave's frequency is taken of both by Goertzel's algorithm, each
/// over its mean; the real part of their ratio is the relative gain of a relative change. What
/// exceeds 0.15 moves the setting up, what falls short moves it down: squared, with the sign kept,
/// and damped by the noise that the neighbouring frequencies show. The height of the wave follows
/// that noise.
///
/// Thread safety: none.
/// Invariants: least <= setting() and least <= the result of add() <= most.
class WEIR_EXPORT WaveClimber {
 public:
  WaveClimber(int least, int most) : least_(least), most_(most) {}

  /// A sample: so many workers completed so many items in so much time. Returns the number of
  /// workers that is wanted next. A sample in which the items that are under way blur the count is
  /// put together with the following one.
  [[nodiscard]] int add(int workers, double seconds, double completions);

  [[nodiscard]] double setting() const { return setting_; }  ///< the foot of the wave
  /// How many times longer than usual the next sample may be: at the least number, where more
  /// workers hurt, there is little left to try.
  [[nodiscard]] double patience() const { return patience_; }

 private:
  static constexpr std::size_t kWavePeriod = 4;  // samples
  static constexpr std::size_t kHistory = 8 * kWavePeriod;

  struct Component {
    double real = 0;
    double imaginary = 0;
    [[nodiscard]] double size() const;
  };
  using Samples = std::array<double, kHistory>;
  [[nodiscard]] Component component(const Samples& samples, std::size_t count, double period) const;
  [[nodiscard]] double mean(const Samples& samples, std::size_t count) const;
  [[nodiscard]] double newest(const Samples& samples, std::size_t count, std::size_t i) const;
  /// The relative gain less the wanted one, times the confidence in it.
  [[nodiscard]] double judge();
  [[nodiscard]] int wave_height() const;

  const int least_;
  const int most_;
  double setting_ = 0;
  int last_workers_ = 0;
  std::size_t samples_ = 0;
  Samples throughputs_{};
  Samples workers_{};
  double noise_ = 0;
  double gain_ = 0;  // the last ratio, without the confidence
  double patience_ = 1;
  double pending_seconds_ = 0;
  double pending_completions_ = 0;
};

}  // namespace weir::detail
