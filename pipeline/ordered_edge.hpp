#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "pipeline/edge.hpp"
#include "pipeline/ring.hpp"

namespace weir::detail {

/// An edge whose items are looked at one after another: in index order, or with `order: any` as
/// they arrive within an epoch.
///
/// Thread safety: as Edge.
/// Invariants: 1. in index order pull() gives each index once; 2. an epoch's end is given after all
/// of its items, in either order.
class OrderedEdge : public Edge {
 public:
  struct Order {
    bool any = false;
    std::uint32_t first_epoch = 0;  ///< whose items come first; with any order it must be known
  };
  OrderedEdge(const SlotType& type, ByteLedger& ledger, std::int64_t depth, std::int64_t held,
              const Order& order)
      : Edge(type, ledger, {depth, held, !order.any}),
        any_order_(order.any),
        epoch_(order.first_epoch) {}

 protected:
  struct Entry {
    std::uint64_t index = 0;
    SlotHeader* slot = nullptr;
  };

  void arrived(const Packet& packet) final WEIR_REQUIRES(mutex_);
  /// The next slot, whatever it holds; false: none yet. The slot stays in place until it is
  /// released.
  [[nodiscard]] bool pull(Entry& entry) WEIR_REQUIRES(mutex_) {
    if (any_order_) return pull_any(entry);
    if (next_ == frontier_) return false;
    entry = {next_, window_.at(next_)};
    ++next_;
    return true;
  }
  /// Empties a slot that nobody takes and gives its index back.
  void discard(const Entry& entry) WEIR_REQUIRES(mutex_);
  /// Called instead of look() for slots that came in order and are all live, without notes; false:
  /// call look(). A slot that is taken here need not be read.
  [[nodiscard]] virtual bool take_run(const Packet&) WEIR_REQUIRES(mutex_) { return false; }
  /// Called with the lock held when something new may be pulled.
  virtual void look() WEIR_REQUIRES(mutex_) = 0;

  const bool any_order_;

 private:
  [[nodiscard]] bool pull_any(Entry& entry) WEIR_REQUIRES(mutex_);

  std::uint64_t next_ WEIR_GUARDED_BY(mutex_) = 0;  ///< in order: next index to give

  // With any order.
  std::uint32_t epoch_ WEIR_GUARDED_BY(mutex_);  ///< whose items are given
  Ring<Entry> current_ WEIR_GUARDED_BY(mutex_);
  std::vector<Entry> later_ WEIR_GUARDED_BY(mutex_);    ///< of epochs to come
  std::vector<Entry> markers_ WEIR_GUARDED_BY(mutex_);  ///< ends of epochs, sorted
};

/// The edge in front of a gathering stage: cuts what arrives into batches of `rows`.
class GatherEdge final : public OrderedEdge {
 public:
  struct Settings {
    std::uint64_t rows = 1;
    bool drop_remainder = false;
    std::uint32_t step = 0;  ///< operator number of the batch: passes that end behind it close one
    Order order;
  };
  /// The rows of the batch that is filling take no depth, so that it fills whatever the depth.
  GatherEdge(const SlotType& type, std::int64_t depth, ByteLedger& ledger, const Settings& settings)
      : OrderedEdge(type, ledger, depth, static_cast<std::int64_t>(settings.rows) - 1,
                    settings.order),
        settings_(settings) {}

  [[nodiscard]] bool claim(Packet& packet, const ClaimLimits& limits) override;
  [[nodiscard]] bool renumbers() const override { return true; }

 protected:
  void look() override WEIR_REQUIRES(mutex_);

 private:
  /// What becomes one output: rows in order, or a marker.
  struct Pending {
    std::vector<Entry> rows;  ///< live or blank
    std::size_t live = 0;
    SlotState marker = SlotState::live;
    std::uint32_t marker_step = 0;
    std::uint16_t dropped_rows = 0;
    SampleInfo info;
    std::uint64_t ordinal = 0;
    std::unique_ptr<FailureNotes> notes;
  };

  void close_batch(bool whole) WEIR_REQUIRES(mutex_);
  /// Moves the slot's notes to the open batch; one that ends the run is passed on at once.
  void take_notes(SlotHeader& slot) WEIR_REQUIRES(mutex_);
  void publish_ready() WEIR_REQUIRES(mutex_);

  const Settings settings_;
  Pending open_ WEIR_GUARDED_BY(mutex_);
  std::uint64_t ordinal_ WEIR_GUARDED_BY(mutex_) = 0;  ///< survivors of the epoch given to batches
  std::uint64_t dropped_rows_ WEIR_GUARDED_BY(mutex_) = 0;  ///< since the last marker
  Ring<Pending> closed_ WEIR_GUARDED_BY(mutex_);
  std::vector<std::vector<Entry>> spare_rows_ WEIR_GUARDED_BY(mutex_);
  std::uint64_t first_closed_ WEIR_GUARDED_BY(mutex_) = 0;  ///< output index of closed_.front()
};

}  // namespace weir::detail
