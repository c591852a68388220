#include "tests/images/counted_malloc.hpp"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

#include <malloc.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__GLIBC__)

namespace weir::test {

bool allocations_are_counted() { return false; }
AllocationCounts allocation_counts() { return {}; }

}  // namespace weir::test

#else

// glibc's own functions, under the names by which it lets others stand in front of them.
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* memory, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
void __libc_free(void* memory);
}

namespace {

constexpr std::size_t kLarge = 64 * 1024;
std::atomic<std::uint64_t> by_new{0};
std::atomic<std::uint64_t> large{0};
std::atomic<std::int64_t> live_bytes{0};

void* counted(void* memory, std::size_t size) {
  if (size >= kLarge) large.fetch_add(1, std::memory_order_relaxed);
  live_bytes.fetch_add(static_cast<std::int64_t>(malloc_usable_size(memory)),
                       std::memory_order_relaxed);
  return memory;
}

void forget(void* memory) {
  live_bytes.fetch_sub(static_cast<std::int64_t>(malloc_usable_size(memory)),
                       std::memory_order_relaxed);
}

void* make(std::size_t size, std::size_t alignment) {
  by_new.fetch_add(1, std::memory_order_relaxed);
  void* memory = alignment <= alignof(std::max_align_t) ? std::malloc(size)
                                                        : std::aligned_alloc(alignment, size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

extern "C" {
void* malloc(std::size_t size) { return counted(__libc_malloc(size), size); }
void* calloc(std::size_t items, std::size_t size) {
  return counted(__libc_calloc(items, size), items * size);
}
void* realloc(void* memory, std::size_t size) {
  forget(memory);
  void* const moved = __libc_realloc(memory, size);
  // Where there is no memory the old block remains.
  return moved == nullptr && size != 0 ? (counted(memory, 0), nullptr) : counted(moved, size);
}
void free(void* memory) {
  forget(memory);
  __libc_free(memory);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  return counted(__libc_memalign(alignment, size), size);
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t size) {
  *memory = counted(__libc_memalign(alignment, size), size);
  return *memory == nullptr ? 12 : 0;
}
}

void* operator new(std::size_t size) { return make(size, 1); }
void* operator new[](std::size_t size) { return make(size, 1); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return make(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
  return make(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace weir::test {

bool allocations_are_counted() { return true; }
AllocationCounts allocation_counts() {
  return {by_new.load(std::memory_order_relaxed), large.load(std::memory_order_relaxed),
          live_bytes.load(std::memory_order_relaxed)};
}

}  // namespace weir::test

#endif
