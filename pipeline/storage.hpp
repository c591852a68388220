#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "machine/read_ring.hpp"

namespace weir::detail {

/// Where files lie: the few calls that reading is made of. Tests put a storage in here that is
/// slow, ignores hints or fails.
///
/// **Thread safety**: all functions from any thread.
class Storage {
 public:
  Storage() = default;
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;
  virtual ~Storage() = default;

  /// A descriptor, or -1 with errno. Never waits for the other end of a FIFO.
  [[nodiscard]] virtual int open(const char* path) = 0;
  /// Asks for the whole file to be fetched into the page cache, and does not wait for it.
  virtual void will_need(int descriptor) = 0;
  /// As pread(); -1 with errno.
  [[nodiscard]] virtual std::ptrdiff_t read(int descriptor, std::byte* to, std::size_t bytes,
                                            std::uint64_t offset) = 0;
  /// The same of what is in the page cache alone: fewer bytes, or -1 with EAGAIN, where the rest
  /// would have to be waited for; EOPNOTSUPP where the file system cannot tell.
  [[nodiscard]] virtual std::ptrdiff_t read_cached(int descriptor, std::byte* to,
                                                   std::size_t bytes) = 0;
  /// Null with the reason, see open_read_ring().
  [[nodiscard]] virtual std::unique_ptr<ReadRing> open_ring(unsigned entries,
                                                            std::string& refusal) = 0;
};

/// The kernel's files.
[[nodiscard]] std::shared_ptr<Storage> kernel_storage();

}  // namespace weir::detail
