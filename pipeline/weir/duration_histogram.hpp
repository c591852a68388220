#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace weir {

/// Counts durations in logarithmic buckets, four to a doubling (relative error at most 1/8), from 1
/// ns to 39 hours. Two of them add and subtract, so a window is the difference of two readings.
///
/// Thread safety: a value; distinct objects are independent.
class DurationHistogram {
 public:
  static constexpr std::size_t kBuckets = 188;

  void add(std::uint64_t nanoseconds, std::uint64_t count = 1) {
    counts_[bucket(nanoseconds)] += count;
  }
  [[nodiscard]] std::uint64_t count() const {
    std::uint64_t total = 0;
    for (std::uint64_t n : counts_) total += n;
    return total;
  }
  /// The duration below which a share `q` (0 to 1) of the entries lies, in seconds; 0 when empty.
  [[nodiscard]] double quantile_seconds(double q) const {
    const std::uint64_t total = count();
    if (total == 0) return 0.0;
    const double rank = q * static_cast<double>(total);
    double seen = 0.0;
    for (std::size_t b = 0; b < kBuckets; ++b) {
      seen += static_cast<double>(counts_[b]);
      if (seen >= rank && counts_[b] > 0) return middle_nanoseconds(b) * 1e-9;
    }
    return middle_nanoseconds(kBuckets - 1) * 1e-9;
  }

  DurationHistogram& operator+=(const DurationHistogram& other) {
    for (std::size_t b = 0; b < kBuckets; ++b) counts_[b] += other.counts_[b];
    return *this;
  }
  DurationHistogram& operator-=(const DurationHistogram& other) {
    for (std::size_t b = 0; b < kBuckets; ++b) counts_[b] -= other.counts_[b];
    return *this;
  }

  [[nodiscard]] static std::size_t bucket(std::uint64_t nanoseconds) {
    if (nanoseconds < 4) return static_cast<std::size_t>(nanoseconds);
    const auto octave = static_cast<std::size_t>(std::bit_width(nanoseconds)) - 1;
    const auto quarter = static_cast<std::size_t>((nanoseconds >> (octave - 2)) & 3U);
    const std::size_t index = 4 * (octave - 1) + quarter;
    return index < kBuckets ? index : kBuckets - 1;
  }
  [[nodiscard]] static double middle_nanoseconds(std::size_t bucket) {
    if (bucket < 4) return static_cast<double>(bucket);
    const std::size_t octave = bucket / 4 + 1;
    const double step = static_cast<double>(std::uint64_t{1} << (octave - 2));
    return step * (static_cast<double>(4 + bucket % 4) + 0.5);
  }

 private:
  std::array<std::uint64_t, kBuckets> counts_{};
};

}  // namespace weir
