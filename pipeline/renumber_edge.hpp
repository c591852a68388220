#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include <weir/step.hpp>

#include "pipeline/ordered_edge.hpp"
#include "pipeline/ring.hpp"

namespace weir::detail {

/// An edge behind which items are numbered anew: what flat_map gave is taken apart, and `take`,
/// `skip`, `shard` and a buffered shuffle behind a filter or an unindexed source are applied, in
/// the order written. All of it is cheap and serial, so it happens here, under the edge's lock, and
/// is no stage.
///
/// Thread safety: as Edge.
/// Invariants: 1. what is given out is in the order of the new numbers; 2. a container's slot is
/// released when its last item has moved on.
class RenumberEdge final : public OrderedEdge {
 public:
  struct Settings {
    const SplitType* split = nullptr;                ///< of the flat_map in front, if any
    std::vector<std::shared_ptr<const Step>> steps;  ///< take, skip, shard, shuffle_buffer
    std::vector<std::uint32_t> step_numbers;         ///< operator number of each
    std::uint64_t seed = 0;
    Order order;
    std::uint64_t resume_source_index =
        kNoIndex;                    ///< the container of which some items are delivered
    std::uint32_t resume_split = 0;  ///< how many
    std::uint32_t resume_epoch = 0;
    /// Says that the rest of the pass that an item belongs to will not be used.
    std::function<void(const SampleInfo&)> pass_is_over;
  };
  RenumberEdge(const SlotType& type, std::int64_t depth, ByteLedger& ledger, Settings settings);
  ~RenumberEdge() override;

  [[nodiscard]] bool claim(Packet& packet, const ClaimLimits& limits) override;
  void materialise(Packet& packet) override;
  void finish(Packet& packet) override;
  [[nodiscard]] bool renumbers() const override { return true; }
  [[nodiscard]] bool charges_slots() const override { return settings_.split == nullptr; }

 protected:
  void look() override WEIR_REQUIRES(mutex_);

 private:
  /// What remains of the result of one flat_map call.
  struct Container {
    Entry entry;
    std::uint64_t unmoved = 0;
    std::uint64_t bytes = 0;
  };
  /// One item on its way: a slot, or a part of a container.
  struct Item {
    Entry entry;
    Container* container = nullptr;
    std::uint32_t place = 0;
    SlotState state = SlotState::empty;
    [[nodiscard]] bool counts() const {
      return state == SlotState::live || state == SlotState::blank;
    }
    /// True when the counts of operator number `step` begin anew behind it.
    [[nodiscard]] bool ends_pass(std::uint32_t step) const {
      return state == SlotState::epoch_end ||
             (state == SlotState::pass_end && entry.slot->marker_step > step);
    }
  };
  /// The state of one take, skip, shard or buffer within the current pass.
  struct Counter {
    std::uint64_t seen = 0;
    std::uint64_t drawn = 0;
    std::vector<Item> buffer;
    std::deque<Item> held;  ///< shard with `drop`: the group that is not whole yet
    bool flushing = false;
    Item marker;
  };

  static constexpr std::size_t kMostAvailable = 1024;

  /// A full shuffle buffer is what the edge must hold to give anything: it takes no depth.
  [[nodiscard]] static std::int64_t held_by(const Settings& settings);

  /// The next item behind the first `steps` steps; false: none yet.
  [[nodiscard]] bool pull_item(std::size_t steps, Item& item) WEIR_REQUIRES(mutex_);
  [[nodiscard]] bool pull_part(Item& item) WEIR_REQUIRES(mutex_);
  [[nodiscard]] bool pull_shuffled(std::size_t step, Item& item) WEIR_REQUIRES(mutex_);
  [[nodiscard]] bool pull_counted(std::size_t step, Item& item) WEIR_REQUIRES(mutex_);
  /// Turns a dropped item that carries failure notes into a tombstone that carries them on.
  [[nodiscard]] bool keep_for_notes(Item& item) WEIR_REQUIRES(mutex_);
  void drop(Item& item) WEIR_REQUIRES(mutex_);
  void part_moved(Container* container) WEIR_REQUIRES(mutex_);
  void publish_ready() WEIR_REQUIRES(mutex_);

  const Settings settings_;
  std::vector<Counter> counters_ WEIR_GUARDED_BY(mutex_);
  Container* opened_ WEIR_GUARDED_BY(mutex_) = nullptr;  ///< being taken apart
  std::uint32_t opened_count_ WEIR_GUARDED_BY(mutex_) = 0;
  std::uint32_t next_part_ WEIR_GUARDED_BY(mutex_) = 0;
  std::vector<std::unique_ptr<Container>> containers_ WEIR_GUARDED_BY(mutex_);
  std::vector<Container*> spare_containers_ WEIR_GUARDED_BY(mutex_);
  Ring<Item> available_ WEIR_GUARDED_BY(mutex_);
  std::uint64_t first_available_ WEIR_GUARDED_BY(mutex_) = 0;  ///< new number of available_.front()
};

}  // namespace weir::detail
