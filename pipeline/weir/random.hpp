#pragma once

#include <array>
#include <cstdint>
#include <limits>

#include <weir/export.hpp>

namespace weir {

/// Mixes 64 bits into 64 (the finaliser of SplitMix64: Steele, Lea, Flood, OOPSLA 2014).
[[nodiscard]] constexpr std::uint64_t mix_bits(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31U);
}

/// A counter-based generator: Philox4x32-10 (Salmon, Moraes, Dror, Shaw, SC 2011). The same key
/// gives the same draws on any thread, in any order and after a resume; no draw depends on another
/// key's.
///
/// The distributions are weir's own, since the standard library's differ between implementations.
///
/// Thread safety: a value; distinct objects are independent.
class WEIR_EXPORT Random {
 public:
  using result_type = std::uint32_t;

  /// The stream of one key; `position` numbers an item within it.
  Random(std::uint64_t key, std::uint64_t position) : key_(key), position_(position) {}

  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return std::numeric_limits<result_type>::max(); }
  result_type operator()();

  /// 64 uniform bits.
  std::uint64_t bits();
  /// Uniform in [0, 1), 53 bits.
  double uniform();
  /// Uniform in [low, high). Requires: low <= high.
  double uniform(double low, double high);
  /// Uniform over 0 .. count-1, unbiased. Requires: count > 0.
  std::uint64_t below(std::uint64_t count);
  /// True with this probability.
  bool chance(double probability) { return uniform() < probability; }
  /// Standard normal (Box-Muller).
  double normal();

 private:
  void refill();

  std::uint64_t key_;
  std::uint64_t position_;
  std::uint32_t block_ = 0;
  std::uint32_t used_ = 4;
  std::array<std::uint32_t, 4> words_{};
};

}  // namespace weir
