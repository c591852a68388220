#include "pipeline/operators/row_kernels.hpp"

#include <atomic>
#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

// Compiled with -O3 and -ffp-contract=off whatever the build type (see values.cmake): the loops are
// written so that compilers turn them into vector instructions. Each loop is an inline function
// that is compiled anew inside of one caller for each set of instructions.

#define WEIR_INLINE static inline __attribute__((always_inline))

namespace weir::detail {
namespace {

/// Elements that a loop takes at a time, so that the compiler knows a fixed count.
constexpr std::size_t kBlock = 256;

using Lanes16 = std::int16_t __attribute__((vector_size(8)));
using Lanes32 = std::int32_t __attribute__((vector_size(16)));
using Lanes8 = std::uint8_t __attribute__((vector_size(16)));

WEIR_INLINE Lanes32 load_pixel(const std::int16_t* in) {
  Lanes16 narrow;
  std::memcpy(&narrow, in, sizeof narrow);
  return __builtin_convertvector(narrow, Lanes32);
}

/// Writes four values of 0 to 255; a pixel of three has its neighbour's first overwritten, which
/// comes later.
WEIR_INLINE void store_pixel(const Lanes32& value, std::uint8_t* out) {
  const auto bytes = reinterpret_cast<Lanes8>(value);
  const auto narrow = reinterpret_cast<Lanes32>(
      __builtin_shufflevector(bytes, bytes, 0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12));
  const std::int32_t four = narrow[0];
  std::memcpy(out, &four, sizeof four);
}

WEIR_INLINE std::uint8_t clamped(std::int32_t value) {
  return static_cast<std::uint8_t>(value < 0 ? 0 : value > 255 ? 255 : value);
}

WEIR_INLINE std::int16_t blended(std::uint8_t a, std::uint8_t b, std::int16_t weight) {
  const auto step = static_cast<std::int16_t>(
      (static_cast<std::int16_t>(b) - static_cast<std::int16_t>(a)) * (1 << kMiddleBits));
  const auto part = static_cast<std::int16_t>(
      (static_cast<std::int32_t>(step) * weight + (1 << (kPairBits - 1))) >> kPairBits);
  return static_cast<std::int16_t>(
      static_cast<std::int16_t>(static_cast<std::int16_t>(a) * (1 << kMiddleBits)) + part);
}

WEIR_INLINE void blend_pair(const std::uint8_t* __restrict a, const std::uint8_t* __restrict b,
                            std::int16_t weight, std::int16_t* __restrict out, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) out[i] = blended(a[i], b[i], weight);
}

WEIR_INLINE void blend_taps(const std::uint8_t* const* rows, const std::int16_t* weights, int taps,
                            std::int16_t* __restrict out, std::size_t count) {
  constexpr int kShift = kTapBits - kMiddleBits;
  std::size_t at = 0;
  for (; at + kBlock <= count; at += kBlock) {
    std::int32_t sum[kBlock];
    for (std::size_t i = 0; i < kBlock; ++i) sum[i] = 1 << (kShift - 1);
    int k = 0;
    for (; k + 4 <= taps; k += 4) {
      const std::uint8_t* __restrict r0 = rows[k] + at;
      const std::uint8_t* __restrict r1 = rows[k + 1] + at;
      const std::uint8_t* __restrict r2 = rows[k + 2] + at;
      const std::uint8_t* __restrict r3 = rows[k + 3] + at;
      const std::int32_t w0 = weights[k], w1 = weights[k + 1];
      const std::int32_t w2 = weights[k + 2], w3 = weights[k + 3];
      for (std::size_t i = 0; i < kBlock; ++i)
        sum[i] += r0[i] * w0 + r1[i] * w1 + r2[i] * w2 + r3[i] * w3;
    }
    for (; k < taps; ++k) {
      const std::uint8_t* __restrict row = rows[k] + at;
      const std::int32_t weight = weights[k];
      for (std::size_t i = 0; i < kBlock; ++i) sum[i] += row[i] * weight;
    }
    for (std::size_t i = 0; i < kBlock; ++i)
      out[at + i] = static_cast<std::int16_t>(sum[i] >> kShift);
  }
  for (; at < count; ++at) {
    std::int32_t sum = 1 << (kShift - 1);
    for (int k = 0; k < taps; ++k) sum += rows[k][at] * weights[k];
    out[at] = static_cast<std::int16_t>(sum >> kShift);
  }
}

WEIR_INLINE void across_pair(const std::int16_t* __restrict in,
                             const std::int32_t* __restrict first,
                             const std::int16_t* __restrict weights, std::uint8_t* __restrict out,
                             std::size_t pixels, int channels) {
  constexpr std::int32_t kHalf = 1 << (kPairBits + kMiddleBits - 1);
  constexpr int kShift = kPairBits + kMiddleBits;
  if (channels == 1) {
    for (std::size_t x = 0; x < pixels; ++x) {
      const std::int16_t* at = in + first[x];
      const std::int32_t value =
          at[0] * (1 << kPairBits) + (at[1] - at[0]) * std::int32_t{weights[x]};
      out[x] = static_cast<std::uint8_t>((value + kHalf) >> kShift);
    }
    return;
  }
  for (std::size_t x = 0; x < pixels; ++x) {
    const std::int16_t* at = in + 3 * static_cast<std::ptrdiff_t>(first[x]);
    const Lanes32 a = load_pixel(at);
    const Lanes32 b = load_pixel(at + 3);
    const std::int32_t weight = weights[x];
    const Lanes32 value = (a * (1 << kPairBits) + (b - a) * weight + kHalf) >> kShift;
    store_pixel(value, out + 3 * x);
  }
}

WEIR_INLINE void across_taps(const std::int16_t* __restrict in, const TapPlace* __restrict places,
                             const std::int16_t* __restrict weights, std::uint8_t* __restrict out,
                             std::size_t pixels, int channels) {
  constexpr int kShift = kTapBits + kMiddleBits;
  for (std::size_t x = 0; x < pixels; ++x) {
    const TapPlace place = places[x];
    const std::int16_t* weight = weights + place.weights;
    if (channels == 1) {
      std::int32_t sum = 1 << (kShift - 1);
      for (int k = 0; k < place.count; ++k) sum += in[place.first + k] * weight[k];
      out[x] = clamped(sum >> kShift);
      continue;
    }
    const std::int16_t* at = in + 3 * static_cast<std::ptrdiff_t>(place.first);
    Lanes32 sum = {1 << (kShift - 1), 1 << (kShift - 1), 1 << (kShift - 1), 0};
    for (int k = 0; k < place.count; ++k)
      sum += load_pixel(at + 3 * k) * static_cast<std::int32_t>(weight[k]);
    sum >>= kShift;
    sum = sum < 0 ? sum - sum : sum;
    sum = sum > 255 ? sum - sum + 255 : sum;
    store_pixel(sum, out + 3 * x);
  }
}

WEIR_INLINE void to_float_planes(const std::uint8_t* __restrict in, const FloatRule& rule,
                                 float* const* out, std::size_t pixels) {
  float* __restrict red = out[0];
  float* __restrict green = out[1];
  float* __restrict blue = out[2];
  const float divisor = rule.divisor;
  const float f0 = rule.factor[0], f1 = rule.factor[1], f2 = rule.factor[2];
  const float o0 = rule.offset[0], o1 = rule.offset[1], o2 = rule.offset[2];
  for (std::size_t x = 0; x < pixels; ++x) {
    red[x] = static_cast<float>(in[3 * x]) / divisor * f0 + o0;
    green[x] = static_cast<float>(in[3 * x + 1]) / divisor * f1 + o1;
    blue[x] = static_cast<float>(in[3 * x + 2]) / divisor * f2 + o2;
  }
}

WEIR_INLINE void to_floats(const std::uint8_t* __restrict in, const FloatRule& rule,
                           float* __restrict out, std::size_t pixels, int channels) {
  const float divisor = rule.divisor;
  const float f0 = rule.factor[0], f1 = rule.factor[1], f2 = rule.factor[2];
  const float o0 = rule.offset[0], o1 = rule.offset[1], o2 = rule.offset[2];
  if (channels == 1) {
    for (std::size_t x = 0; x < pixels; ++x) out[x] = static_cast<float>(in[x]) / divisor * f0 + o0;
    return;
  }
  for (std::size_t x = 0; x < pixels; ++x) {
    out[3 * x] = static_cast<float>(in[3 * x]) / divisor * f0 + o0;
    out[3 * x + 1] = static_cast<float>(in[3 * x + 1]) / divisor * f1 + o1;
    out[3 * x + 2] = static_cast<float>(in[3 * x + 2]) / divisor * f2 + o2;
  }
}

WEIR_INLINE void halves_by_rule(const float* __restrict in, Half* __restrict out,
                                std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) out[i] = half_of(in[i]);
}

#if defined(__x86_64__)
/// By the instruction that processors with AVX2 have for it; the remainder by the rule.
__attribute__((always_inline, target("avx,f16c"))) static inline void halves_by_instruction(
    const float* __restrict in, Half* __restrict out, std::size_t count) {
  std::size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    const __m128i eight = _mm256_cvtps_ph(_mm256_loadu_ps(in + i), _MM_FROUND_TO_NEAREST_INT);
    std::memcpy(static_cast<void*>(out + i), &eight, sizeof eight);
  }
  halves_by_rule(in + i, out + i, count - i);
}
#endif

WEIR_INLINE void to_planes(const std::uint8_t* __restrict in, std::uint8_t* const* out,
                           std::size_t pixels) {
  std::uint8_t* __restrict red = out[0];
  std::uint8_t* __restrict green = out[1];
  std::uint8_t* __restrict blue = out[2];
  for (std::size_t x = 0; x < pixels; ++x) {
    red[x] = in[3 * x];
    green[x] = in[3 * x + 1];
    blue[x] = in[3 * x + 2];
  }
}

// One struct a set of instructions: the loops, compiled with TARGET.
#define WEIR_VARIANT(Name, name_text, TARGET, to_halves)                                         \
  struct Name {                                                                                  \
    TARGET static void pair(const std::uint8_t* a, const std::uint8_t* b, std::int16_t weight,   \
                            std::int16_t* out, std::size_t count) {                              \
      blend_pair(a, b, weight, out, count);                                                      \
    }                                                                                            \
    TARGET static void taps(const std::uint8_t* const* rows, const std::int16_t* weights,        \
                            int count, std::int16_t* out, std::size_t values) {                  \
      blend_taps(rows, weights, count, out, values);                                             \
    }                                                                                            \
    TARGET static void pair_across(const std::int16_t* in, const std::int32_t* first,            \
                                   const std::int16_t* weights, std::uint8_t* out,               \
                                   std::size_t pixels, int channels) {                           \
      across_pair(in, first, weights, out, pixels, channels);                                    \
    }                                                                                            \
    TARGET static void taps_across(const std::int16_t* in, const TapPlace* places,               \
                                   const std::int16_t* weights, std::uint8_t* out,               \
                                   std::size_t pixels, int channels) {                           \
      across_taps(in, places, weights, out, pixels, channels);                                   \
    }                                                                                            \
    TARGET static void float_planes(const std::uint8_t* in, const FloatRule& rule,               \
                                    float* const* out, std::size_t pixels) {                     \
      to_float_planes(in, rule, out, pixels);                                                    \
    }                                                                                            \
    TARGET static void floats(const std::uint8_t* in, const FloatRule& rule, float* out,         \
                              std::size_t pixels, int channels) {                                \
      to_floats(in, rule, out, pixels, channels);                                                \
    }                                                                                            \
    TARGET static void halves(const float* in, Half* out, std::size_t count) {                   \
      to_halves(in, out, count);                                                                 \
    }                                                                                            \
    TARGET static void planes(const std::uint8_t* in, std::uint8_t* const* out,                  \
                              std::size_t pixels) {                                              \
      to_planes(in, out, pixels);                                                                \
    }                                                                                            \
    static constexpr RowKernels kKernels{name_text,    pair,   taps,   pair_across, taps_across, \
                                         float_planes, floats, halves, planes};                  \
  }

WEIR_VARIANT(Baseline, "baseline", , halves_by_rule);
#if defined(__x86_64__)
WEIR_VARIANT(Sse4, "sse4.1", __attribute__((target("sse4.1"))), halves_by_rule);
WEIR_VARIANT(Avx2, "avx2", __attribute__((target("avx2,f16c"))), halves_by_instruction);
WEIR_VARIANT(Avx512, "avx512", __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,f16c"))),
             halves_by_instruction);
#endif
#undef WEIR_VARIANT

#if defined(__x86_64__)
/// Asked of the processor itself: not every compiler knows the name.
bool converts_halves() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}
#endif

std::vector<const RowKernels*> find_variants() {
  std::vector<const RowKernels*> found;
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool halves = converts_halves();
  if (halves && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq"))
    found.push_back(&Avx512::kKernels);
  if (halves && __builtin_cpu_supports("avx2")) found.push_back(&Avx2::kKernels);
  if (__builtin_cpu_supports("sse4.1")) found.push_back(&Sse4::kKernels);
#endif
  // On other processors the vectors of their baseline, as NEON on 64-bit ARM.
  found.push_back(&Baseline::kKernels);
  return found;
}

/// Atomic because tests write it while workers of an earlier pipeline may still be ending.
std::atomic<const RowKernels*> chosen{nullptr};

}  // namespace

const std::vector<const RowKernels*>& row_kernel_variants() {
  static const std::vector<const RowKernels*> variants = find_variants();
  return variants;
}

const RowKernels& row_kernels() {
  const RowKernels* own = chosen.load(std::memory_order_relaxed);
  return own != nullptr ? *own : *row_kernel_variants().front();
}

void choose_row_kernels(const RowKernels* kernels) {
  chosen.store(kernels, std::memory_order_relaxed);
}

}  // namespace weir::detail
