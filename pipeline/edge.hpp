#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include <weir/mutex.hpp>
#include <weir/telemetry.hpp>

#include "pipeline/byte_ledger.hpp"
#include "pipeline/inlet.hpp"
#include "pipeline/slot_window.hpp"
#include "pipeline/watermarks.hpp"

namespace weir::detail {

/// True for what takes a place in the queue: all but tombstones. Markers and failures do, since
/// nothing else would hold back a stream of empty epochs or of bad samples from a consumer that
/// pauses.
[[nodiscard]] inline bool takes_depth(SlotState state) {
  return state != SlotState::tombstone && state != SlotState::empty;
}

/// The queue between two stages, and the meter of the pipeline: slots by index over a window.
///
/// A producer may start index i while i < limit(): limit = frontier + arrived beyond it + depth +
/// held - waiting, the frontier being the smallest index that has not arrived. So at most `depth`
/// items wait or are being made here, beside those that the edge has to hold before it can give
/// any, and tombstones take no depth. Where order is kept, a slow item lets the others run at most
/// `depth` ahead, and with the tombstones among them most_ahead().
///
/// Thread safety: all functions from any thread; the slots of a packet belong to its worker.
/// Invariants: 1. each index arrives once and is claimed once; 2. waiting_count_ counts arrived,
/// unclaimed slots that take depth; 3. limit() only falls when the depth does.
class Edge : public Inlet {
 public:
  struct Shape {
    std::int64_t depth = 1;
    std::int64_t held = 0;  ///< items that it must hold to give the first: they take no depth
    bool in_order = false;  ///< what arrives beyond the frontier stays until the frontier passes it
  };
  Edge(const SlotType& type, ByteLedger& ledger, const Shape& shape);
  /// Takes what is still queued out of the ledger. Requires: no worker is inside.
  ~Edge() override;

  // Producer.

  /// Points packet.out at the slots from packet.out_first on, as many as `count`.
  void open(Packet& packet, std::size_t count);
  /// Hands over the slots of packet.out: each is live, or carries only its header.
  void commit(const Packet& packet, Nanoseconds now);
  [[nodiscard]] std::uint64_t limit() const { return limit_.load(std::memory_order_seq_cst); }

  // Consumer.

  void finish(Packet& packet) override;

  // Control.

  void set_depth(std::int64_t items, Nanoseconds now);
  [[nodiscard]] std::int64_t depth() const {
    return depth_published_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] QueueSnapshot snapshot(Nanoseconds now) const;
  [[nodiscard]] const SlotType& type() const { return *type_; }

 protected:
  /// Called with the lock held after items arrived: renumbering edges look at what is new in order.
  virtual void arrived(const Packet& packet) WEIR_REQUIRES(mutex_) = 0;
  /// Called after commit() let go of the lock: the place to wake whoever would want it next.
  virtual void committed() {}

  /// Counts slots that take depth as claimed.
  void claimed(std::int64_t slots) WEIR_REQUIRES(mutex_) {
    waiting_count_ -= slots;
    marks_.note(waiting_count_);
  }
  /// Takes payload that leaves here, and not with a packet, out of the books.
  void discharge(std::uint64_t bytes) WEIR_REQUIRES(mutex_) {
    bytes_ -= static_cast<std::int64_t>(bytes);
    ledger_.release(bytes);
  }
  [[nodiscard]] std::uint64_t payload(const SlotHeader* slot) const {
    return type_->fixed_bytes ? type_->value_size : type_->bytes(slot);
  }
  /// Recomputes limit(); call after any change of what it depends on.
  void publish() WEIR_REQUIRES(mutex_);
  void advance_meter(Nanoseconds now) const WEIR_REQUIRES(mutex_);

  mutable Mutex mutex_;
  SlotWindow window_ WEIR_GUARDED_BY(mutex_);
  std::uint64_t frontier_ WEIR_GUARDED_BY(mutex_) = 0;
  std::int64_t waiting_count_ WEIR_GUARDED_BY(mutex_) = 0;

 private:
  static constexpr std::int64_t kMostAhead = 4096;
  static constexpr std::int64_t kMostHeld = std::int64_t{1} << 40;

  /// How far beyond the frontier an index may be where order is kept: tombstones take no depth, but
  /// they hold their slots until a slow item in front of them has arrived.
  [[nodiscard]] std::int64_t most_ahead() const WEIR_REQUIRES(mutex_) {
    return kMostAhead + 16 * std::min<std::int64_t>(depth_, 1 << 20) + held_;
  }

  const SlotType* const type_;
  ByteLedger& ledger_;
  const std::int64_t held_;
  const bool kept_in_order_;
  RangeSet beyond_ WEIR_GUARDED_BY(mutex_);  ///< arrived indexes above the frontier
  std::int64_t depth_ WEIR_GUARDED_BY(mutex_);
  std::uint64_t started_ WEIR_GUARDED_BY(mutex_) = 0;  ///< one past the highest index opened
  std::int64_t bytes_ WEIR_GUARDED_BY(mutex_) = 0;
  Watermarks marks_ WEIR_GUARDED_BY(mutex_);  ///< of waiting_count_, since the depth was set

  // The meter, integrals in ns since the first reading.
  mutable Nanoseconds metered_ WEIR_GUARDED_BY(mutex_) = 0;
  mutable double item_ns_ WEIR_GUARDED_BY(mutex_) = 0;
  mutable double empty_ns_ WEIR_GUARDED_BY(mutex_) = 0;
  mutable double full_ns_ WEIR_GUARDED_BY(mutex_) = 0;

  std::atomic<std::uint64_t> limit_;
  std::atomic<std::int64_t> depth_published_;
};

/// The ordinary edge: keeps the numbering, and gives out the smallest ready index first, so that a
/// slow item idles nobody. In front of a serial stage items go out in index order only.
class PlainEdge final : public Edge {
 public:
  PlainEdge(const SlotType& type, std::int64_t depth, ByteLedger& ledger, bool in_order)
      : Edge(type, ledger, {depth, 0, in_order}), in_order_(in_order) {}

  [[nodiscard]] bool claim(Packet& packet, const ClaimLimits& limits) override;

 protected:
  void arrived(const Packet& packet) override WEIR_REQUIRES(mutex_);

 private:
  void publish_ready() WEIR_REQUIRES(mutex_);

  const bool in_order_;
  RangeSet ready_ WEIR_GUARDED_BY(mutex_);
  std::uint64_t next_in_order_ WEIR_GUARDED_BY(mutex_) = 0;
  std::int64_t valueless_ WEIR_GUARDED_BY(mutex_) = 0;  ///< ready slots without a value
};

}  // namespace weir::detail
