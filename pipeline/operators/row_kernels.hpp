#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <weir/half.hpp>

/// The inner loops of the image path, once for each set of vector instructions that a processor may
/// have. All of them give the same bytes: whole numbers up to the pixel, and floats by one
/// division, one product and one sum that are never contracted.
namespace weir::detail {

/// A pixel value between the two directions of a resampling has six fractional bits.
inline constexpr int kMiddleBits = 6;
/// Weights of two neighbours have 15 fractional bits, weights of longer filters 14.
inline constexpr int kPairBits = 15;
inline constexpr int kTapBits = 14;
/// Readable values behind the end of a row that goes `across`.
inline constexpr std::size_t kRowSlack = 16;

/// How a u8 becomes a float: (value / divisor) * factor + offset, by channel; rounded to a half at
/// last where `halves` says so.
struct FloatRule {
  float divisor = 1.0F;
  float factor[3] = {1.0F, 1.0F, 1.0F};
  float offset[3] = {0.0F, 0.0F, 0.0F};
  bool halves = false;
};

/// The filter of one output pixel along an axis: `count` weights from source pixel `first` on.
struct TapPlace {
  std::int32_t first = 0;
  std::int32_t count = 0;
  std::int32_t weights = 0;  ///< index of the first weight
};

struct RowKernels {
  std::string_view name;

  /// out = a + (b - a) * weight, with kMiddleBits.
  void (*blend_pair)(const std::uint8_t* a, const std::uint8_t* b, std::int16_t weight,
                     std::int16_t* out, std::size_t count);
  /// out = sum of rows[k] * weights[k], with kMiddleBits.
  void (*blend_taps)(const std::uint8_t* const* rows, const std::int16_t* weights, int taps,
                     std::int16_t* out, std::size_t count);
  /// out[x] = in[first[x]] + (in[first[x] + 1] - in[first[x]]) * weight[x], rounded to pixels of
  /// `channels` 1 or 3. Reads up to kRowSlack values behind the last pixel.
  void (*across_pair)(const std::int16_t* in, const std::int32_t* first,
                      const std::int16_t* weights, std::uint8_t* out, std::size_t pixels,
                      int channels);
  /// The same with a filter for each pixel.
  void (*across_taps)(const std::int16_t* in, const TapPlace* places, const std::int16_t* weights,
                      std::uint8_t* out, std::size_t pixels, int channels);
  /// One row of three channels to three planes.
  void (*to_float_planes)(const std::uint8_t* in, const FloatRule& rule, float* const* out,
                          std::size_t pixels);
  /// One row to floats, channels last; `channels` 1 or 3.
  void (*to_floats)(const std::uint8_t* in, const FloatRule& rule, float* out, std::size_t pixels,
                    int channels);
  /// half_of() of each.
  void (*to_halves)(const float* in, Half* out, std::size_t count);
  /// One row of three channels to three planes of bytes.
  void (*to_planes)(const std::uint8_t* in, std::uint8_t* const* out, std::size_t pixels);
};

/// Those of this processor, the best first.
[[nodiscard]] const std::vector<const RowKernels*>& row_kernel_variants();

/// The best of them, or what a test has chosen.
[[nodiscard]] const RowKernels& row_kernels();

/// For tests: chooses a variant; null: the best. Call it while no pipeline runs.
void choose_row_kernels(const RowKernels* kernels);

}  // namespace weir::detail
