#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "pipeline/ordered_edge.hpp"

namespace weir::detail {

/// The last edge: its consumer is the user's thread in next().
///
/// Thread safety: take() and give_back() belong to one consumer; everything else as Edge.
class SinkEdge final : public OrderedEdge {
 public:
  SinkEdge(const SlotType& type, std::int64_t depth, ByteLedger& ledger, const Order& order)
      : OrderedEdge(type, ledger, depth, 0, order) {}

  enum class Take {
    slot,    ///< `slot` is the consumer's until give_back()
    empty,   ///< nothing yet: wait_for_work(), or run something oneself
    closed,  ///< nothing will come any more
  };
  /// The next slot in order, whatever it holds; tombstones without notes are left out.
  [[nodiscard]] Take take(SlotHeader*& slot, Nanoseconds now);
  /// The same out of what was taken together before, which costs neither lock nor clock; null:
  /// none.
  [[nodiscard]] SlotHeader* take_local() {
    if (next_taken_ == taken_.size()) return nullptr;
    held_ = taken_[next_taken_++];
    holds_ = true;
    return held_.slot;
  }
  /// Empties the slot that take() gave.
  void give_back();
  /// Blocks until take() would not say `empty`.
  void wait();
  /// Nothing more will arrive; wakes the consumer.
  void close();

  /// The index of the oldest undelivered item while it is missing; kNoIndex: it is here.
  [[nodiscard]] std::uint64_t missing() const { return missing_.load(std::memory_order_seq_cst); }

  [[nodiscard]] bool claim(Packet&, const ClaimLimits&) override { return false; }

 protected:
  bool take_run(const Packet& packet) override WEIR_REQUIRES(mutex_);
  void look() override WEIR_REQUIRES(mutex_);
  void committed() override;

 private:
  void publish_missing() WEIR_REQUIRES(mutex_);
  void wake_consumer() WEIR_REQUIRES(mutex_);
  [[nodiscard]] std::size_t ready_count() const WEIR_REQUIRES(mutex_) {
    return ready_.size() - next_ready_;
  }

  [[nodiscard]] std::size_t next_count(Nanoseconds now);

  static constexpr std::size_t kMostTaken = 256;
  static constexpr Nanoseconds kMoment = 50'000;

  std::vector<Entry> taken_;  ///< the consumer's alone
  std::size_t next_taken_ = 0;
  std::size_t count_ = 1;  ///< items of one take, by the consumer's pace
  Nanoseconds last_take_ = 0;
  Entry held_;
  bool holds_ = false;

  std::vector<Entry> ready_ WEIR_GUARDED_BY(mutex_);  ///< pulled; from next_ready_ on not yet taken
  std::size_t next_ready_ WEIR_GUARDED_BY(mutex_) = 0;
  bool closed_ WEIR_GUARDED_BY(mutex_) = false;
  bool consumer_waits_ WEIR_GUARDED_BY(mutex_) = false;
  /// Set with the lock held, for committed(): who set it notifies, or another worker did.
  std::atomic<bool> wake_due_{false};
  std::condition_variable arrival_;
  std::atomic<std::uint64_t> missing_{0};
};

}  // namespace weir::detail
