#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <weir/telemetry.hpp>

#include "pipeline/byte_ledger.hpp"
#include "pipeline/inlet.hpp"
#include "pipeline/range_set.hpp"
#include "pipeline/ring.hpp"
#include "pipeline/watermarks.hpp"

namespace weir::detail {

/// A run of items of one stage under way, from claim to commit. Used again by its worker.
struct SimulatedPacket {
  std::uint64_t first = 0;  ///< index of the first item in the stage's numbering
  std::uint64_t count = 0;  ///< indexes, tombstones among them; of a gathering stage batches
  std::uint64_t live = 0;   ///< items with a value; of a gathering stage its rows
  bool all_live = true;     ///< else `lives` says which have a value; behind the stage, after run()
  std::vector<char> lives;  ///< by index from `first` on
  std::uint64_t live_out = 0;  ///< that go on with a value
  std::uint64_t in_bytes = 0;
  std::uint64_t reserved_bytes = 0;
  std::uint64_t bytes_each = 0;  ///< of what it gives out
};

/// A queue between two stages by index, with the rules of pipeline/edge.hpp and its kin: a window
/// that counts what waits, tombstones that take no depth, the smallest ready index first, and index
/// order in front of serial stages, batches and the sink.
///
/// Thread safety: none.
/// Invariants: as Edge.
class SimulatedEdge {
 public:
  enum class Kind {
    plain,   ///< the smallest ready index first
    serial,  ///< in index order
    gather,  ///< in index order, `group` of them become one
    split,   ///< in index order, each is taken apart
    sink,    ///< in index order, to the consumer
  };
  /// Each index brings `parts` items.
  SimulatedEdge(Kind kind, std::int64_t group, std::int64_t parts, ByteLedger& ledger, double now);

  // Producer.
  [[nodiscard]] std::uint64_t limit() const { return limit_; }
  void open(std::uint64_t end, double now);
  void commit(const SimulatedPacket& packet, double now);

  // Consumer, in its own numbering.
  [[nodiscard]] std::uint64_t first_ready() const { return first_ready_; }
  [[nodiscard]] std::uint64_t next_available() const { return next_available_; }
  [[nodiscard]] std::uint64_t frontier() const { return frontier_; }
  [[nodiscard]] std::int64_t waiting() const { return waiting_; }
  [[nodiscard]] bool renumbers() const { return kind_ == Kind::gather || kind_ == Kind::split; }
  [[nodiscard]] bool charges_items() const { return kind_ != Kind::split; }
  [[nodiscard]] bool claim(SimulatedPacket& packet, const ClaimLimits& limits, double now);
  void finish(const SimulatedPacket& packet, double now);

  // The sink's consumer.
  [[nodiscard]] std::size_t deliverable() const { return deliverable_.size(); }
  /// Takes the next one out of the books. Requires: deliverable() > 0.
  void take(double now);
  /// The index of the oldest undelivered item while it is missing.
  [[nodiscard]] std::uint64_t missing() const {
    return deliverable_.empty() ? frontier_ : kNoIndex;
  }

  // Control.
  void set_depth(std::int64_t items, double now);
  [[nodiscard]] std::int64_t depth() const { return depth_; }
  /// Items of a batch from the one that is filling on.
  void set_group(std::int64_t group, double now);
  [[nodiscard]] QueueSnapshot snapshot(double now) const;

 private:
  struct Slot {
    std::uint64_t bytes = 0;
    bool live = false;
  };
  /// Rows that became, or will become, one batch.
  struct Batch {
    std::uint64_t rows = 0;
    std::uint64_t bytes = 0;
  };
  /// What is left of an item that is being taken apart.
  struct Container {
    std::uint64_t unmoved = 0;
    std::uint64_t bytes = 0;
  };

  [[nodiscard]] bool in_order() const { return kind_ != Kind::plain; }
  [[nodiscard]] Slot& slot(std::uint64_t index) { return slots_[index & (slots_.size() - 1)]; }
  [[nodiscard]] Container& container(std::uint64_t number) {
    return containers_[number & (containers_.size() - 1)];
  }
  void keep(std::uint64_t begin, std::uint64_t end);
  void pull();
  void take_row(std::uint64_t bytes);
  void close_batch();
  void open_containers();
  void claim_run(SimulatedPacket& packet, std::uint64_t allowed, std::size_t most);
  void claim_batches(SimulatedPacket& packet, std::uint64_t allowed, std::size_t most);
  void claim_parts(SimulatedPacket& packet, std::uint64_t allowed, std::size_t most);
  void claimed(std::int64_t items);
  void discharge(std::uint64_t bytes);
  void publish();
  void advance_meter(double now) const;

  const Kind kind_;
  ByteLedger& ledger_;
  std::uint64_t group_;
  const std::uint64_t parts_each_;
  std::uint64_t held_ = 0;  ///< items that take no depth, since it must hold them to give any
  std::int64_t depth_ = 2;
  std::uint64_t started_ = 0;  ///< one past the highest index opened

  std::vector<Slot> slots_;  ///< by index, a power of two of them
  std::uint64_t frontier_ = 0;
  RangeSet beyond_;  ///< arrived above the frontier
  RangeSet ready_;   ///< plain and serial
  std::int64_t valueless_ = 0;
  std::uint64_t next_ = 0;  ///< in order: the next to be looked at
  std::int64_t waiting_ = 0;
  Watermarks marks_;  ///< of waiting_, since the depth was set
  std::int64_t bytes_ = 0;

  Batch filling_;
  Ring<Batch> closed_;
  std::vector<Container> containers_;  ///< by number, a power of two of them
  std::uint64_t first_container_ = 0;  ///< oldest with parts that have not moved on
  std::uint64_t end_container_ = 0;
  std::uint64_t parts_ = 0;          ///< opened and not claimed
  Ring<std::uint64_t> deliverable_;  ///< bytes of what the consumer may take

  std::uint64_t limit_ = 0;
  std::uint64_t first_ready_ = kNoIndex;
  std::uint64_t next_available_ = 0;
  std::uint64_t first_out_ = 0;  ///< renumbering: new index of the first that can be claimed

  mutable double metered_ = 0;
  mutable double item_seconds_ = 0;
  mutable double empty_seconds_ = 0;
  mutable double full_seconds_ = 0;
};

}  // namespace weir::detail
