#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include <weir/export.hpp>

namespace weir {

namespace detail {
struct BufferBlock;
}

/// A block of payload memory, counted by reference and returned to the process's pool when the last
/// holder lets go. The contents of a fresh buffer are indeterminate. Alignment is 64 bytes.
///
/// Holders share the bytes; that is why this type, unlike the rest of the project, counts
/// references: the samples of a batch are written in place into the batch's own memory.
///
/// Thread safety: distinct handles may be used from different threads, also when they share a
/// block; the bytes themselves are the holders' business.
class WEIR_EXPORT Buffer {
 public:
  Buffer() = default;
  /// Takes at least `size` bytes from the pool; throws std::bad_alloc when the machine has none.
  explicit Buffer(std::size_t size);
  Buffer(Buffer&& other) noexcept
      : block_(std::exchange(other.block_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    if (this != &other) {
      reset();
      block_ = std::exchange(other.block_, nullptr);
      size_ = std::exchange(other.size_, 0);
    }
    return *this;
  }
  ~Buffer() { reset(); }

  /// Another handle on the same bytes.
  [[nodiscard]] Buffer share() const;
  void reset() noexcept;
  /// Changes size() up to capacity(). Requires: size <= capacity().
  void resize_within(std::size_t size) { size_ = size; }

  [[nodiscard]] std::byte* data() const noexcept;
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t capacity() const noexcept;
  /// The number of handles on the block; only exact when it is 1.
  [[nodiscard]] std::uint32_t holders() const noexcept;
  explicit operator bool() const noexcept { return block_ != nullptr; }

 private:
  detail::BufferBlock* block_ = nullptr;
  std::size_t size_ = 0;
};

/// Bytes that the pool keeps for reuse, and a way to give them back to the system.
struct BufferPoolUse {
  std::size_t in_use_bytes = 0;
  std::size_t kept_bytes = 0;
  std::uint64_t allocations = 0;  ///< blocks asked of the system so far
};
[[nodiscard]] WEIR_EXPORT BufferPoolUse buffer_pool_use();
WEIR_EXPORT void trim_buffer_pool(std::size_t keep_bytes = 0);

}  // namespace weir
