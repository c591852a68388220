#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>

namespace weir {

/// Reads that the kernel works on while the thread that asked goes on.
///
/// **Thread safety**: all functions from any thread; each operation has one owner, who neither
/// moves it nor touches its memory between a start() that said yes and the end of wait().
class ReadRing {
 public:
  /// One read under way.
  struct Operation {
    std::atomic<bool> done{false};  ///< released with the result
    int result = 0;                 ///< bytes, or an errno below zero
  };

  ReadRing() = default;
  ReadRing(const ReadRing&) = delete;
  ReadRing& operator=(const ReadRing&) = delete;
  virtual ~ReadRing() = default;

  /// Begins to read from the start of a file; false: no room now, or the kernel says no.
  [[nodiscard]] virtual bool start(Operation& operation, int descriptor, std::byte* to,
                                   std::size_t bytes) = 0;
  /// Returns when the operation is done.
  virtual void wait(Operation& operation) = 0;
};

/// An io_uring with room for `entries` reads at once. Null, with the reason in `refusal`, where the
/// kernel, a container or the build has none: a normal answer, since containers refuse it by
/// default.
[[nodiscard]] std::unique_ptr<ReadRing> open_read_ring(unsigned entries, std::string& refusal);

}  // namespace weir
