#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "pipeline/range_set.hpp"
#include "pipeline/slot_array.hpp"

namespace weir::detail {

using Nanoseconds = std::int64_t;  ///< of the monotonic clock

/// One batch to be made, or one marker to be passed on, of a gathering stage.
struct GatherGroup {
  std::size_t first_row = 0;  ///< into Packet::in
  std::size_t rows = 0;
  SlotState marker = SlotState::live;  ///< live: a batch; else what is passed on
  std::uint32_t marker_step = 0;
  std::uint16_t dropped_rows = 0;
  SampleInfo info;            ///< of the last row, or of the marker
  std::uint64_t ordinal = 0;  ///< place of the first row in its epoch
  std::unique_ptr<FailureNotes> notes;
};

/// A run of consecutive items of one stage, from claim to commit. Owned by a worker and used again.
struct Packet {
  std::vector<SlotHeader*> in;         ///< input slots in index order, those without value too
  std::vector<RangeSet::Range> taken;  ///< what is released from the input edge afterwards
  std::vector<SlotHeader*> out;
  std::vector<GatherGroup> groups;  ///< gathering stages: one per output
  std::uint64_t out_first = 0;      ///< index of out[0] on the output edge
  std::size_t live = 0;             ///< input slots with a value
  std::uint64_t in_bytes = 0;
  std::uint64_t reserved_bytes = 0;  ///< granted by the ledger for the output
  Nanoseconds started = 0;

  // Of the inlet that was claimed from.
  std::uint64_t cursor = 0;
  std::uint32_t epoch = 0;
  std::uint32_t pass = 0;
  struct Part {
    void* container = nullptr;  ///< the edge's record of it; null: the slot is no part of one
    std::uint32_t place = 0;
  };
  std::vector<Part> parts;  ///< behind flat_map: where each of `in` comes from

  // Results of the run.
  bool all_live_out = false;  ///< every output is live and carries no note
  std::size_t live_out = 0;
  std::size_t depth_out = 0;  ///< output slots that take depth: see takes_depth()
  std::uint64_t out_bytes = 0;
  std::size_t failures = 0;

  // Scratch.
  std::vector<SlotHeader*> live_in;    ///< those of `in` with a value
  std::vector<SlotHeader*> final_out;  ///< their places in `out`
  std::vector<SlotHeader*> made;       ///< between two operators of a chain
  std::vector<SlotHeader*> kept;
  std::vector<SlotHeader*> kept_out;
  std::vector<std::uint64_t> ordinals;
  std::vector<std::int64_t> laps;  ///< nanoseconds of operators whose work one of them does

  void clear() {
    in.clear();
    taken.clear();
    out.clear();
    groups.clear();
    parts.clear();
    live = live_out = depth_out = failures = 0;
    in_bytes = out_bytes = reserved_bytes = 0;
    all_live_out = false;
  }
  /// Slots of `type` for items that an inlet makes on claim.
  [[nodiscard]] SlotArray& scratch(const SlotType& type) {
    for (const auto& array : arrays_)
      if (&array->type() == &type) return *array;
    arrays_.push_back(std::make_unique<SlotArray>(type));
    return *arrays_.back();
  }

 private:
  std::vector<std::unique_ptr<SlotArray>> arrays_;
};

}  // namespace weir::detail
