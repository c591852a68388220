#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <weir/duration_histogram.hpp>

namespace weir::detail {

/// The consumer's waits in the order they came, in bounded memory: at most 64 chunks of equal
/// length, which doubles when they are full. So the last half of a run of any length is known to a
/// 32nd.
///
/// Thread safety: none; the owner's lock protects it.
class GapHistory {
 public:
  struct Times {
    DurationHistogram histogram;
    double sum_seconds = 0;
    std::uint64_t count = 0;
    void add(const Times& other) {
      histogram += other.histogram;
      sum_seconds += other.sum_seconds;
      count += other.count;
    }
  };

  /// `count` waits that were too short to measure.
  void add_none(std::uint64_t count) {
    while (count > 0) {
      if (chunks_.empty() || chunks_.back().count == chunk_length_) add_chunk();
      Times& chunk = chunks_.back();
      const std::uint64_t part = std::min(count, chunk_length_ - chunk.count);
      chunk.histogram.add(0, part);
      chunk.count += part;
      count -= part;
    }
  }
  void add(std::int64_t nanoseconds) {
    if (chunks_.empty() || chunks_.back().count == chunk_length_) add_chunk();
    Times& chunk = chunks_.back();
    chunk.histogram.add(static_cast<std::uint64_t>(nanoseconds));
    chunk.sum_seconds += static_cast<double>(nanoseconds) * 1e-9;
    ++chunk.count;
  }
  [[nodiscard]] Times all() const { return from(0); }
  [[nodiscard]] Times last_half() const { return from(chunks_.size() / 2); }

 private:
  static constexpr std::size_t kChunks = 64;

  [[nodiscard]] Times from(std::size_t first) const {
    Times total;
    for (std::size_t i = first; i < chunks_.size(); ++i) total.add(chunks_[i]);
    return total;
  }
  void add_chunk() {
    if (chunks_.size() == kChunks) halve();
    chunks_.emplace_back();
  }
  void halve() {
    for (std::size_t i = 0; i < kChunks / 2; ++i) {
      Times merged = chunks_[2 * i];
      merged.add(chunks_[2 * i + 1]);
      chunks_[i] = merged;
    }
    chunks_.resize(kChunks / 2);
    chunk_length_ *= 2;
  }

  std::vector<Times> chunks_;
  std::uint64_t chunk_length_ = 4;
};

}  // namespace weir::detail
