#pragma once

#include <cstdint>
#include <cstdlib>

namespace weir::test {

/// How many rounds a stress test makes: fewer under a sanitizer, which slows each down, and
/// WEIR_STRESS_TIMES times as many where that is set, for a night's hunt.
[[nodiscard]] inline std::uint64_t rounds(std::uint64_t plain, std::uint64_t sanitized) {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  const std::uint64_t once = sanitized;
  (void)plain;
#else
  const std::uint64_t once = plain;
  (void)sanitized;
#endif
  const char* times = std::getenv("WEIR_STRESS_TIMES");
  return times == nullptr ? once : once * std::strtoull(times, nullptr, 10);
}

}  // namespace weir::test
