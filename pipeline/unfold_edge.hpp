#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include <weir/step.hpp>

#include "pipeline/ordered_edge.hpp"
#include "pipeline/ring.hpp"

namespace weir::detail {

/// The edge behind a flat_map whose function returns a generator: the items are asked for one by
/// one, only as far as there is room behind, so that a generator without end holds nothing back.
///
/// What asks is the one worker of the stage behind this edge, outside of any lock; the generators
/// in front wait in order.
///
/// Thread safety: as Edge; the stage behind must be serial.
/// Invariants: 1. one packet at a time is between claim() and the end of materialise(); 2. items
/// come in the order (container, place); 3. a container's slot is released when its generator has
/// ended.
class UnfoldEdge final : public OrderedEdge {
 public:
  struct Settings {
    const SplitType* split = nullptr;
    std::string stage;  ///< of the flat_map, for messages
    BadSamplePolicy policy;
    bool has_policy = false;
    Order order;
    bool several_passes = false;  ///< a repeat goes through the source more than once an epoch
    std::uint64_t resume_source_index =
        kNoIndex;                    ///< the container of which some items are delivered
    std::uint32_t resume_split = 0;  ///< how many
    std::uint32_t resume_epoch = 0;
  };
  UnfoldEdge(const SlotType& type, std::int64_t depth, ByteLedger& ledger, Settings settings);

  [[nodiscard]] bool claim(Packet& packet, const ClaimLimits& limits) override;
  void materialise(Packet& packet) override;
  [[nodiscard]] bool renumbers() const override { return true; }
  [[nodiscard]] bool charges_slots() const override { return false; }
  /// The rest of the pass that `info` belongs to will not be used: its generators, which may have
  /// no end, are asked no more. Any thread.
  void end_pass(const SampleInfo& info);
  /// How many items wait is not known before they are asked for.
  [[nodiscard]] std::int64_t waiting() const override;

 protected:
  void look() override WEIR_REQUIRES(mutex_);

 private:
  static constexpr std::int64_t kMostAtOnce = 1024;

  /// The container in front; false: none has arrived.
  [[nodiscard]] bool front(Entry& head) WEIR_EXCLUDES(mutex_);
  void pop(const Entry& head) WEIR_EXCLUDES(mutex_);
  /// Fills the empty slot with the container's next item or its failure; false: it has ended.
  [[nodiscard]] bool fill(SlotHeader& container, SlotHeader* to);
  [[nodiscard]] bool next_item(SlotHeader& container, SlotHeader* to, bool& failed) const;
  [[nodiscard]] std::uint64_t pass_of(const SampleInfo& info) const;
  [[nodiscard]] bool is_over(const SampleInfo& info) const;
  void publish_ready() WEIR_REQUIRES(mutex_);

  const Settings settings_;
  Ring<Entry> heads_ WEIR_GUARDED_BY(mutex_);
  std::uint64_t next_out_ WEIR_GUARDED_BY(mutex_) = 0;
  bool busy_ WEIR_GUARDED_BY(mutex_) = false;

  std::atomic<std::uint64_t> over_{0};  ///< pass_of() + 1 of the pass that is over; 0: none

  // Of the worker that holds the packet.
  std::uint32_t place_ = 0;  ///< of the next item in the container in front
  bool ended_ = false;       ///< it threw: nothing more is asked of it
};

}  // namespace weir::detail
