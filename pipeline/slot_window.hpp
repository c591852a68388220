#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "pipeline/slot_array.hpp"

namespace weir::detail {

/// The storage of an edge: slots by index over a moving, growing range of indexes, in blocks that
/// never move and are used again, so that workers may write to the slots of their packet without a
/// lock.
///
/// Thread safety: the functions need the edge's lock; the slots of an index belong to whoever
/// claimed it. Invariants: 1. every index of [low, high) has a slot; 2. a block is used again only
/// after each of its indexes was released.
class SlotWindow {
 public:
  explicit SlotWindow(const SlotType& type) : type_(&type) {
    const std::size_t fitting = kBlockBytes / type.size;
    while (shift_ < kMostShift && (std::size_t{2} << shift_) <= fitting) ++shift_;
  }

  /// Makes slots for indexes up to `end`.
  void extend(std::uint64_t end) {
    const std::uint64_t blocks = (end + mask()) >> shift_;
    while (high_ < blocks) {
      if (high_ - low_ == ring_.size()) grow();
      Block& block = ring_[high_ & (ring_.size() - 1)];
      if (free_.empty()) {
        block.slots = std::make_unique<SlotBlock>(*type_, mask() + 1);
      } else {
        block.slots = std::move(free_.back());
        free_.pop_back();
      }
      block.unreleased = mask() + 1;
      ++high_;
    }
  }
  [[nodiscard]] SlotHeader* at(std::uint64_t index) const {
    const Block& block = ring_[(index >> shift_) & (ring_.size() - 1)];
    return (*block.slots)[index & mask()];
  }
  /// Appends the slots of [begin, end).
  void append_to(std::vector<SlotHeader*>& slots, std::uint64_t begin, std::uint64_t end) const {
    std::size_t to = slots.size();
    slots.resize(to + (end - begin));
    while (begin < end) {
      const SlotBlock& block = *ring_[(begin >> shift_) & (ring_.size() - 1)].slots;
      const std::uint64_t stop = std::min(end, ((begin >> shift_) + 1) << shift_);
      auto* slot = reinterpret_cast<std::byte*>(block[begin & mask()]);
      for (; begin < stop; ++begin, slot += type_->size)
        slots[to++] = std::launder(reinterpret_cast<SlotHeader*>(slot));
    }
  }
  /// Says that the slots of [begin, end) are empty and will not be used again.
  void release(std::uint64_t begin, std::uint64_t end) {
    while (begin < end) {
      const std::uint64_t block_end = ((begin >> shift_) + 1) << shift_;
      const std::uint64_t stop = end < block_end ? end : block_end;
      Block& block = ring_[(begin >> shift_) & (ring_.size() - 1)];
      block.unreleased -= stop - begin;
      if (block.unreleased == 0) recycle(block);
      begin = stop;
    }
    while (low_ < high_ && !ring_[low_ & (ring_.size() - 1)].slots) ++low_;
  }

 private:
  static constexpr std::size_t kBlockBytes = 16384;
  static constexpr unsigned kMostShift = 8;
  static constexpr std::size_t kMostFree = 64;

  struct Block {
    std::unique_ptr<SlotBlock> slots;
    std::uint64_t unreleased = 0;
  };

  [[nodiscard]] std::uint64_t mask() const { return (std::uint64_t{1} << shift_) - 1; }
  void recycle(Block& block) {
    if (free_.size() < kMostFree + (high_ - low_) / 2) free_.push_back(std::move(block.slots));
    block.slots.reset();
  }
  void grow() {
    std::vector<Block> larger(ring_.empty() ? 8 : ring_.size() * 2);
    for (std::uint64_t i = low_; i < high_; ++i)
      larger[i & (larger.size() - 1)] = std::move(ring_[i & (ring_.size() - 1)]);
    ring_ = std::move(larger);
  }

  const SlotType* type_;
  unsigned shift_ = 0;
  std::uint64_t low_ = 0;   ///< first block held
  std::uint64_t high_ = 0;  ///< one past the last
  std::vector<Block> ring_;
  std::vector<std::unique_ptr<SlotBlock>> free_;
};

}  // namespace weir::detail
