#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include <weir/slot.hpp>

namespace weir::detail {

/// A run of slots of one type that lives on the heap and never moves.
///
/// Thread safety: distinct slots may be used by different threads.
class SlotBlock {
 public:
  SlotBlock(const SlotType& type, std::size_t count)
      : type_(&type),
        count_(count),
        memory_(static_cast<std::byte*>(
            ::operator new (type.size* count, std::align_val_t{type.alignment}))) {
    for (std::size_t i = 0; i < count; ++i) type.construct(memory_ + i * type.size);
  }
  SlotBlock(const SlotBlock&) = delete;
  SlotBlock& operator=(const SlotBlock&) = delete;
  ~SlotBlock() {
    for (std::size_t i = 0; i < count_; ++i) type_->destroy((*this)[i]);
    ::operator delete (memory_, std::align_val_t{type_->alignment});
  }

  [[nodiscard]] SlotHeader* operator[](std::size_t i) const {
    return std::launder(reinterpret_cast<SlotHeader*>(memory_ + i * type_->size));
  }
  [[nodiscard]] std::size_t count() const { return count_; }

 private:
  const SlotType* type_;
  std::size_t count_;
  std::byte* memory_;
};

/// Scratch slots of one worker, as many as its largest packet so far.
///
/// Thread safety: owned by one worker.
class SlotArray {
 public:
  explicit SlotArray(const SlotType& type) : type_(&type) {}

  /// Grows to at least `count` slots; all of those handed out before must be empty again.
  void reserve(std::size_t count) {
    if (block_ && block_->count() >= count) return;
    std::size_t grown = block_ ? block_->count() : 4;
    while (grown < count) grown *= 2;
    block_ = std::make_unique<SlotBlock>(*type_, grown);
  }
  [[nodiscard]] SlotHeader* operator[](std::size_t i) const { return (*block_)[i]; }
  [[nodiscard]] const SlotType& type() const { return *type_; }

 private:
  const SlotType* type_;
  std::unique_ptr<SlotBlock> block_;
};

}  // namespace weir::detail
