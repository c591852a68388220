#pragma once

#include <atomic>
#include <cstdint>

namespace weir::detail {

/// Counts the payload bytes that weir owns, in flight and queued, over all loaders of the process.
/// Grants are given at dispatch from an estimate and corrected when the real size is known.
///
/// Thread safety: all functions from any thread. Relaxed order is enough: the counts publish
/// nothing, and an edge's lock orders the payload itself.
class ByteLedger {
 public:
  static constexpr double kAdmissionShare = 0.85;  ///< above it a source starts nothing new

  void set_bound(std::uint64_t bytes) { bound_.store(bytes, std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t bound() const { return bound_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t used() const { return used_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t peak() const { return peak_.load(std::memory_order_relaxed); }

  /// True when `bytes` more would fit, below the admission mark for sources. 0 bytes always fit.
  [[nodiscard]] bool has_room(std::uint64_t bytes, bool source) const {
    return bytes == 0 || used() + bytes <= limit(source);
  }
  /// Grants `bytes` if they fit, or in any case when `exempt`.
  [[nodiscard]] bool reserve(std::uint64_t bytes, bool source, bool exempt);
  void add(std::uint64_t bytes) {
    raise_peak(used_.fetch_add(bytes, std::memory_order_relaxed) + bytes);
  }
  void release(std::uint64_t bytes) { used_.fetch_sub(bytes, std::memory_order_relaxed); }

 private:
  [[nodiscard]] std::uint64_t limit(bool source) const {
    return source ? static_cast<std::uint64_t>(static_cast<double>(bound()) * kAdmissionShare)
                  : bound();
  }
  void raise_peak(std::uint64_t bytes) {
    std::uint64_t peak_bytes = peak_.load(std::memory_order_relaxed);
    while (bytes > peak_bytes &&
           !peak_.compare_exchange_weak(peak_bytes, bytes, std::memory_order_relaxed)) {
    }
  }

  std::atomic<std::uint64_t> used_{0};
  std::atomic<std::uint64_t> peak_{0};
  std::atomic<std::uint64_t> bound_{~std::uint64_t{0}};
};

}  // namespace weir::detail
