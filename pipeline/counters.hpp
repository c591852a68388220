#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include <weir/duration_histogram.hpp>

namespace weir::detail {

/// A number with one writer that others may read. Relaxed order: it publishes nothing but itself.
template <class T>
class Counter {
 public:
  void add(T value) {
    value_.store(value_.load(std::memory_order_relaxed) + value, std::memory_order_relaxed);
  }
  void set(T value) { value_.store(value, std::memory_order_relaxed); }
  [[nodiscard]] T get() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<T> value_{};
};

/// What one worker counts for one stage.
///
/// Thread safety: written by its worker alone, read by anyone.
struct alignas(64) StageCounters {
  Counter<std::uint64_t> items_in;
  Counter<std::uint64_t> items_out;
  Counter<std::uint64_t> errors;
  Counter<std::uint64_t> packets;
  Counter<std::uint64_t> bytes_out;
  Counter<std::int64_t> slot_ns;
  Counter<double> slot_seconds_squared;
  Counter<std::int64_t> started_ns;  ///< of the packet under way; 0: none
  Counter<std::int64_t>
      unattributed_ns;  ///< slot time since the last reading of the thread's clocks
  Counter<double> cpu_user_seconds;
  Counter<double> cpu_system_seconds;
  Counter<double> run_queue_seconds;
  Counter<double> voluntary_switches;
  Counter<double> involuntary_switches;
  Counter<double> minor_faults;
  std::vector<Counter<std::int64_t>> operator_ns;  ///< of a fused stage; sized once
  std::array<Counter<std::uint64_t>, DurationHistogram::kBuckets> service_times;
};

}  // namespace weir::detail
