#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "pipeline/packet.hpp"

namespace weir::detail {

inline constexpr std::uint64_t kNoIndex = ~std::uint64_t{0};

/// How much a worker may claim.
struct ClaimLimits {
  std::uint64_t limit = 0;          ///< first index that the output edge has no room for
  std::uint64_t exempt = kNoIndex;  ///< the index that bounds do not hold back
  std::size_t most_live = 1;        ///< items with a value
};

/// Where a stage takes its packets from: an edge, or the source.
///
/// A claim is made in three steps, so that no user code and no copy runs under a lock: claim()
/// decides which items; materialise() makes those that do not exist yet; finish(), after the run,
/// gives the emptied slots back.
///
/// Thread safety: all functions from any worker; a packet belongs to its worker.
class Inlet {
 public:
  Inlet() = default;
  Inlet(const Inlet&) = delete;
  Inlet& operator=(const Inlet&) = delete;
  virtual ~Inlet() = default;

  /// Fills the packet, or returns false when nothing may be claimed now.
  [[nodiscard]] virtual bool claim(Packet& packet, const ClaimLimits& limits) = 0;
  virtual void materialise(Packet&) {}
  virtual void finish(Packet& packet) = 0;

  /// The smallest index that could be claimed, in the stage's numbering; kNoIndex: none. A reading
  /// may be old by the time it is used; claim() decides.
  [[nodiscard]] std::uint64_t first_ready() const {
    return first_ready_.load(std::memory_order_seq_cst);
  }
  /// The first index, in the stage's numbering, that is not available yet.
  [[nodiscard]] std::uint64_t next_available() const {
    return next_available_.load(std::memory_order_seq_cst);
  }
  /// Items with a value that wait here, approximately.
  [[nodiscard]] virtual std::int64_t waiting() const {
    return waiting_.load(std::memory_order_relaxed);
  }
  /// The smallest index, in the numbering of the producing side, that has not arrived; kNoIndex for
  /// a source.
  [[nodiscard]] std::uint64_t frontier() const {
    return frontier_published_.load(std::memory_order_seq_cst);
  }
  /// True when the ledger holds the payload of each slot of a claimed packet.
  [[nodiscard]] virtual bool charges_slots() const { return true; }
  /// True where the numbering changes: what the stage behind lacks is lacking here as frontier().
  [[nodiscard]] virtual bool renumbers() const { return false; }

 protected:
  std::atomic<std::uint64_t> first_ready_{kNoIndex};
  std::atomic<std::uint64_t> next_available_{0};
  std::atomic<std::uint64_t> frontier_published_{kNoIndex};
  std::atomic<std::int64_t> waiting_{0};
};

}  // namespace weir::detail
