#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include <weir/reading.hpp>
#include <weir/slot.hpp>

namespace weir::detail {

class ByteLedger;

/// What a source may know of the run that it is read for.
struct LookAheadSettings {
  Reader reader = Reader::automatic;
  int workers = 1;
  ByteLedger* ledger = nullptr;                 ///< bounds what is read ahead; null: nothing does
  std::function<void(const std::string&)> say;  ///< a message for the user; empty: nobody listens
};

/// Asks for the items of one run ahead of the first stage, and makes them.
///
/// A ticket is what hint() did for one item; whoever has it gives it to make() or to forget(),
/// once.
///
/// **Thread safety**: all functions from any worker.
class LookAhead {
 public:
  static constexpr int kNoTicket = -1;

  LookAhead() = default;
  LookAhead(const LookAhead&) = delete;
  LookAhead& operator=(const LookAhead&) = delete;
  virtual ~LookAhead() = default;

  /// How many items to be ahead by now; changes while running, up to most().
  [[nodiscard]] virtual std::uint32_t window() const = 0;
  [[nodiscard]] virtual std::uint32_t most() const = 0;
  /// To be called by a worker before it gives hints, which are few.
  virtual void begin_hints() = 0;
  /// Asks for the item; kNoTicket: nothing was to be had, and the item is read without.
  [[nodiscard]] virtual int hint(std::uint64_t sample_id) = 0;
  virtual void forget(int ticket) = 0;
  /// Fills the empty slot with the item.
  virtual void make(std::uint64_t sample_id, int ticket, SlotHeader* out) = 0;
  [[nodiscard]] virtual ReadingSnapshot snapshot() const = 0;
};

}  // namespace weir::detail
