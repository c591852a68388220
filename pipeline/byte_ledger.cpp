#include "pipeline/byte_ledger.hpp"

namespace weir::detail {

bool ByteLedger::reserve(std::uint64_t bytes, bool source, bool exempt) {
  if (bytes == 0) return true;
  const std::uint64_t most = limit(source);
  std::uint64_t now = used_.load(std::memory_order_relaxed);
  do {
    if (!exempt && now + bytes > most) return false;
  } while (!used_.compare_exchange_weak(now, now + bytes, std::memory_order_relaxed));
  raise_peak(now + bytes);
  return true;
}

}  // namespace weir::detail
