#pragma once

#include <atomic>
#include <cstdint>

namespace weir::detail {

/// Counts the payload bytes that weir owns, in flight and queued, over all loaders of the process.
/// Grants are given at dispatch from an estimate and corrected when the real size is known.
///
/// Algorithm: sources are admitted up to the stop mark. From there on nothing new is started until
/// what is under way has drained to the resume mark: a source that waited for an item's room at the
/// stop mark would leave no room to what it started. What is held may be unable to drain, as in a
/// shuffle buffer above the resume mark; then the head of the order is missing at the source, which
/// is exempt, and its grant ends the stop.
///
/// Thread safety: all functions from any thread. Relaxed order is enough: the counts publish
/// nothing, and an edge's lock orders the payload itself. A stop that is out of date ends with the
/// next question, since no more than the resume mark is used then.
class ByteLedger {
 public:
  static constexpr double kStopShare = 0.85;    ///< of the bound: sources start nothing new
  static constexpr double kResumeShare = 0.65;  ///< and start again

  void set_bound(std::uint64_t bytes) { bound_.store(bytes, std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t bound() const { return bound_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t used() const { return used_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t peak() const { return peak_.load(std::memory_order_relaxed); }
  /// True while sources are not admitted.
  [[nodiscard]] bool stopped() const {
    return stopped_.load(std::memory_order_relaxed) && used() > mark(kResumeShare);
  }

  /// True when `bytes` more would fit. 0 bytes always do. A source for which they do not is stopped
  /// by the answer.
  [[nodiscard]] bool has_room(std::uint64_t bytes, bool source) {
    if (bytes == 0) return true;
    return source ? admits(bytes) : used() + bytes <= bound();
  }
  /// Grants `bytes` if they fit, or in any case when `exempt`.
  [[nodiscard]] bool reserve(std::uint64_t bytes, bool source, bool exempt);
  void add(std::uint64_t bytes) {
    raised(used_.fetch_add(bytes, std::memory_order_relaxed) + bytes);
  }
  void release(std::uint64_t bytes) { used_.fetch_sub(bytes, std::memory_order_relaxed); }

 private:
  [[nodiscard]] std::uint64_t mark(double share) const {
    return static_cast<std::uint64_t>(static_cast<double>(bound()) * share);
  }
  [[nodiscard]] bool admits(std::uint64_t bytes);
  void set_stopped(bool stopped) {
    // Read first: every worker asks, and the answer seldom changes.
    if (stopped_.load(std::memory_order_relaxed) != stopped)
      stopped_.store(stopped, std::memory_order_relaxed);
  }
  /// `bytes` are used now.
  void raised(std::uint64_t bytes);

  std::atomic<std::uint64_t> used_{0};
  std::atomic<std::uint64_t> peak_{0};
  std::atomic<std::uint64_t> bound_{~std::uint64_t{0}};
  std::atomic<bool> stopped_{false};  ///< since the stop mark; see stopped()
};

}  // namespace weir::detail
