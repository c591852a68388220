// GCC calls a function in every branch (-fsanitize-coverage=trace-pc), which libFuzzer gave up;
// what it takes instead is a table of counters that clang lays out. This is such a table, which the
// calls of GCC count in. Linked with --wrap=__sanitizer_cov_trace_pc.
#include <array>
#include <cstddef>
#include <cstdint>

extern "C" void __sanitizer_cov_8bit_counters_init(std::uint8_t* begin, std::uint8_t* end);

namespace {

/// Far more than there are branches, so that few share a counter.
constexpr std::size_t kCounters = std::size_t{1} << 17;
std::array<std::uint8_t, kCounters> counters;

/// libFuzzer must know of the table before its main().
[[maybe_unused]] const bool told = [] {
  __sanitizer_cov_8bit_counters_init(counters.data(), counters.data() + counters.size());
  return true;
}();

}  // namespace

extern "C" void __wrap___sanitizer_cov_trace_pc() {
  const auto place = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
  ++counters[(place ^ (place >> 17U)) % kCounters];
}

// GCC reports comparisons of floats too, for which libFuzzer has no use.
extern "C" void __sanitizer_cov_trace_cmpf(float, float) {}
extern "C" void __sanitizer_cov_trace_cmpd(double, double) {}
