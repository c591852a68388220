#include <weir/buffer.hpp>

#include <sys/mman.h>

#include <array>
#include <atomic>
#include <bit>
#include <limits>
#include <new>

#include <weir/mutex.hpp>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#endif

namespace weir {
namespace detail {

/// The head of a block. It lies apart from the payload, so that a large payload begins on a page.
struct BufferBlock {
  std::atomic<std::uint32_t> holders{1};
  std::uint32_t size_class = 0;
  std::size_t capacity = 0;
  std::byte* payload = nullptr;
  BufferBlock* next = nullptr;  ///< while the pool keeps the block
};

}  // namespace detail

namespace {

using detail::BufferBlock;

constexpr std::size_t kAlignment = 64;
/// From here on a payload is mapped by itself, so that giving it back shrinks the process at once.
constexpr std::size_t kMapFromBytes = std::size_t{1} << 20U;
/// The pool may always hold this much, in use or kept.
constexpr std::size_t kAlwaysHeldBytes = std::size_t{64} << 20U;
constexpr std::size_t kPageBytes = 4096;
/// Eight classes for each power of two: at most an eighth of a block is unused.
constexpr unsigned kStepBits = 3;
constexpr std::size_t kSteps = std::size_t{1} << kStepBits;
constexpr std::size_t kClasses = (48 - 9) * kSteps;

struct SizeClass {
  std::uint32_t index;
  std::size_t capacity;
};

SizeClass class_of(std::size_t size) {
  // Up to 512 bytes the steps are the alignment itself.
  if (size <= kSteps * kAlignment) {
    const std::size_t step = size <= kAlignment ? 0 : (size - 1) / kAlignment;
    return {static_cast<std::uint32_t>(step), (step + 1) * kAlignment};
  }
  const unsigned exponent = static_cast<unsigned>(std::bit_width(size - 1)) - 1;  // >= 9
  const std::size_t step_bytes = std::size_t{1} << (exponent - kStepBits);
  const std::size_t steps = (size - 1) / step_bytes + 1;  // kSteps < steps <= 2 * kSteps
  const std::size_t index = (exponent - 8) * kSteps + (steps - kSteps - 1);
  if (index >= kClasses) throw std::bad_alloc();
  return {static_cast<std::uint32_t>(index), steps * step_bytes};
}

std::size_t mapped_bytes(std::size_t capacity) {
  return (capacity + kPageBytes - 1) / kPageBytes * kPageBytes;
}

std::byte* take_from_system(std::size_t capacity) {
  if (capacity < kMapFromBytes) {
    return static_cast<std::byte*>(::operator new (capacity, std::align_val_t{kAlignment}));
  }
  void* memory = ::mmap(nullptr, mapped_bytes(capacity), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  return static_cast<std::byte*>(memory);
}

/// The blocks of the process, kept by size class.
///
/// The pool holds at most max(64 MiB, 1.5 times the most bytes that were in use at once since the
/// last trim), in use and kept together. What a release would add above that goes back to the
/// system, from the class that has gone unused for longest; so a pipeline whose sizes have settled
/// asks the system for nothing, and one whose sizes change does not hold on to the old ones.
///
/// Thread safety: every member may be called from any thread.
///
/// Invariants:
/// 1. in_use_ is the sum of the capacities of blocks with a holder, kept_ that of listed blocks.
/// 2. A block is listed in the class that its capacity belongs to, with holders == 0.
class BufferPool {
 public:
  static BufferPool& instance() {
    // Never destroyed: buffers in static storage may outlive any other static object.
    static BufferPool* const pool = new BufferPool;
    return *pool;
  }

  BufferBlock* take(std::size_t size) {
    const SizeClass wanted = class_of(size);
    BufferBlock* block = unlist(wanted.index, /*as_use=*/true);
    if (block == nullptr) block = make(wanted);
    block->holders.store(1, std::memory_order_relaxed);
    const std::size_t in_use =
        in_use_.fetch_add(block->capacity, std::memory_order_relaxed) + block->capacity;
    std::size_t peak = peak_.load(std::memory_order_relaxed);
    while (in_use > peak && !peak_.compare_exchange_weak(peak, in_use, std::memory_order_relaxed)) {
    }
    return block;
  }

  void give(BufferBlock* block) noexcept {
    const std::size_t capacity = block->capacity;
    ASAN_POISON_MEMORY_REGION(block->payload, capacity);
    // Counted before it is listed, so that kept_ never falls below zero.
    in_use_.fetch_sub(capacity, std::memory_order_relaxed);
    kept_.fetch_add(capacity, std::memory_order_relaxed);
    {
      Class& home = classes_[block->size_class];
      const MutexLock lock(home.mutex);
      block->next = home.head;
      home.head = block;
    }
    while (in_use_.load(std::memory_order_relaxed) + kept_.load(std::memory_order_relaxed) >
           bound()) {
      if (!free_stalest()) break;
    }
  }

  void trim(std::size_t keep_bytes) {
    peak_.store(in_use_.load(std::memory_order_relaxed), std::memory_order_relaxed);
    while (kept_.load(std::memory_order_relaxed) > keep_bytes) {
      if (!free_stalest()) break;
    }
  }

  [[nodiscard]] BufferPoolUse use() const {
    return {in_use_.load(std::memory_order_relaxed), kept_.load(std::memory_order_relaxed),
            allocations_.load(std::memory_order_relaxed)};
  }

 private:
  struct alignas(kAlignment) Class {
    Mutex mutex;
    BufferBlock* head WEIR_GUARDED_BY(mutex) = nullptr;
    std::uint64_t last_use WEIR_GUARDED_BY(mutex) = 0;
  };

  [[nodiscard]] std::size_t bound() const {
    const std::size_t peak = peak_.load(std::memory_order_relaxed);
    const std::size_t bound = peak + peak / 2;
    return bound > kAlwaysHeldBytes ? bound : kAlwaysHeldBytes;
  }

  BufferBlock* unlist(std::size_t index, bool as_use) {
    Class& home = classes_[index];
    BufferBlock* block = nullptr;
    {
      const MutexLock lock(home.mutex);
      if (as_use) home.last_use = clock_.fetch_add(1, std::memory_order_relaxed);
      block = home.head;
      if (block == nullptr) return nullptr;
      home.head = block->next;
    }
    block->next = nullptr;
    kept_.fetch_sub(block->capacity, std::memory_order_relaxed);
    ASAN_UNPOISON_MEMORY_REGION(block->payload, block->capacity);
    return block;
  }

  BufferBlock* make(const SizeClass& wanted) {
    std::byte* payload = take_from_system(wanted.capacity);
    BufferBlock* block = new (std::nothrow) BufferBlock;
    if (block == nullptr) {
      give_to_system(payload, wanted.capacity);
      throw std::bad_alloc();
    }
    block->size_class = wanted.index;
    block->capacity = wanted.capacity;
    block->payload = payload;
    allocations_.fetch_add(1, std::memory_order_relaxed);
    return block;
  }

  static void give_to_system(std::byte* payload, std::size_t capacity) noexcept {
    if (capacity < kMapFromBytes) {
      ::operator delete (payload, std::align_val_t{kAlignment});
    } else {
      ::munmap(payload, mapped_bytes(capacity));
    }
  }

  /// Frees one block of the class that was asked for longest ago; false when nothing is kept.
  bool free_stalest() noexcept {
    std::uint64_t stalest_use = std::numeric_limits<std::uint64_t>::max();
    std::size_t stalest = kClasses;
    for (std::size_t i = 0; i < kClasses; ++i) {
      const MutexLock lock(classes_[i].mutex);
      if (classes_[i].head != nullptr && classes_[i].last_use < stalest_use) {
        stalest_use = classes_[i].last_use;
        stalest = i;
      }
    }
    if (stalest == kClasses) return false;
    BufferBlock* block = unlist(stalest, /*as_use=*/false);
    if (block == nullptr) return true;  // Another thread took it: look again.
    give_to_system(block->payload, block->capacity);
    delete block;
    return true;
  }

  std::array<Class, kClasses> classes_;
  // Atomic because they are counters read without the classes' locks; they order nothing.
  std::atomic<std::size_t> in_use_{0};
  std::atomic<std::size_t> kept_{0};
  std::atomic<std::size_t> peak_{0};
  std::atomic<std::uint64_t> clock_{1};
  std::atomic<std::uint64_t> allocations_{0};
};

}  // namespace

Buffer::Buffer(std::size_t size) : block_(BufferPool::instance().take(size)), size_(size) {}

Buffer Buffer::share() const {
  Buffer other;
  if (block_ != nullptr) {
    // Relaxed: this handle keeps the block alive, and its bytes are handed over by other means.
    block_->holders.fetch_add(1, std::memory_order_relaxed);
    other.block_ = block_;
    other.size_ = size_;
  }
  return other;
}

void Buffer::reset() noexcept {
  BufferBlock* block = std::exchange(block_, nullptr);
  size_ = 0;
  if (block == nullptr) return;
  // Acquire and release: what other holders wrote happens before the block's next use.
  if (block->holders.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    BufferPool::instance().give(block);
  }
}

std::byte* Buffer::data() const noexcept { return block_ == nullptr ? nullptr : block_->payload; }

std::size_t Buffer::capacity() const noexcept { return block_ == nullptr ? 0 : block_->capacity; }

std::uint32_t Buffer::holders() const noexcept {
  // Acquire: a reader that sees 1 also sees what the former holders wrote.
  return block_ == nullptr ? 0 : block_->holders.load(std::memory_order_acquire);
}

BufferPoolUse buffer_pool_use() { return BufferPool::instance().use(); }

void trim_buffer_pool(std::size_t keep_bytes) { BufferPool::instance().trim(keep_bytes); }

}  // namespace weir
