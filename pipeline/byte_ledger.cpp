#include "pipeline/byte_ledger.hpp"

namespace weir::detail {

bool ByteLedger::admits(std::uint64_t bytes) {
  if (stopped()) return false;
  const bool fits = used() + bytes <= mark(kStopShare);
  set_stopped(!fits);
  return fits;
}

bool ByteLedger::reserve(std::uint64_t bytes, bool source, bool exempt) {
  if (bytes == 0) return true;
  if (source && !exempt && stopped()) return false;
  const std::uint64_t most = source ? mark(kStopShare) : bound();
  std::uint64_t now = used_.load(std::memory_order_relaxed);
  do {
    if (!exempt && now + bytes > most) return false;
  } while (!used_.compare_exchange_weak(now, now + bytes, std::memory_order_relaxed));
  if (source && exempt) set_stopped(false);
  raised(now + bytes);
  return true;
}

void ByteLedger::raised(std::uint64_t bytes) {
  if (bytes >= mark(kStopShare)) set_stopped(true);
  std::uint64_t peak_bytes = peak_.load(std::memory_order_relaxed);
  while (bytes > peak_bytes &&
         !peak_.compare_exchange_weak(peak_bytes, bytes, std::memory_order_relaxed)) {
  }
}

}  // namespace weir::detail
