#include "pipeline/operators/gaussian.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <type_traits>
#include <vector>

#include <weir/error.hpp>

namespace weir::detail {
namespace {

constexpr std::uint32_t kWhole = 1U << 16U;

/// The weights of one axis, 65536 in all.
void make_weights(std::int64_t size, double sigma, std::vector<std::uint32_t>& weights) {
  thread_local std::vector<double> shares;
  shares.resize(static_cast<std::size_t>(size));
  const double middle = static_cast<double>(size - 1) / 2;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const double distance = (static_cast<double>(i) - middle) / sigma;
    shares[i] = std::exp(-0.5 * distance * distance);
  }
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  weights.clear();
  for (const double share : shares)
    weights.push_back(static_cast<std::uint32_t>(std::nearbyint(share / sum * kWhole)));
  // What rounding leaves over goes to the middle, so that an even picture stays as it is.
  std::uint32_t& largest = weights[weights.size() / 2];
  largest += kWhole - std::accumulate(weights.begin(), weights.end(), 0U);
}

/// The place that a mirrored one beyond the edge shows.
std::int64_t mirrored(std::int64_t at, std::int64_t size) {
  if (size == 1) return 0;
  while (at < 0 || at >= size) at = at < 0 ? -at : 2 * (size - 1) - at;
  return at;
}

/// What sums and what lies between the two passes are counted in: the first pass leaves 1/256 of a
/// step of a byte.
template <class T>
struct Counting;
template <>
struct Counting<std::uint8_t> {
  using Sum = std::uint32_t;
  using Middle = std::uint16_t;
  static constexpr unsigned kFirstShift = 8;
  static constexpr unsigned kSecondShift = 24;
};
template <>
struct Counting<float> {
  using Sum = float;
  using Middle = float;
  static constexpr unsigned kFirstShift = 0;
  static constexpr unsigned kSecondShift = 0;
};

/// The sum that a value of `shift` fractional bits is rounded from.
template <class To, unsigned shift, class Sum>
To rounded(Sum sum) {
  if constexpr (std::is_same_v<Sum, float> || shift == 0)
    return static_cast<To>(sum);
  else
    return static_cast<To>((sum + (Sum{1} << (shift - 1))) >> shift);
}

template <class T>
auto scaled(std::uint32_t weight) {
  if constexpr (std::is_same_v<T, float>)
    return static_cast<float>(weight) / static_cast<float>(kWhole);
  else
    return static_cast<typename Counting<T>::Sum>(weight);
}

template <class T>
void blur(Tensor& image, const std::vector<std::uint32_t>& across,
          const std::vector<std::uint32_t>& down) {
  using Sum = typename Counting<T>::Sum;
  using Middle = typename Counting<T>::Middle;
  const std::int64_t height = image.shape()[0];
  const std::int64_t width = image.shape()[1];
  const auto channels = static_cast<std::size_t>(image.shape()[2]);
  const std::size_t line = static_cast<std::size_t>(width) * channels;
  T* const values = image.data<T>();

  // Scratch of the pool, which has it ready once the sizes have settled.
  const auto reach = static_cast<std::int64_t>(across.size() / 2);
  Tensor wide_memory({width + 2 * reach, image.shape()[2]}, image.dtype());
  T* const wide = wide_memory.data<T>();
  Tensor sum_memory({static_cast<std::int64_t>(line * sizeof(Sum))}, DType::u8);
  Sum* const sums = reinterpret_cast<Sum*>(sum_memory.bytes());
  Tensor middle_memory({height, static_cast<std::int64_t>(line * sizeof(Middle))}, DType::u8);
  Middle* const middle = reinterpret_cast<Middle*>(middle_memory.bytes());

  for (std::int64_t y = 0; y < height; ++y) {
    const T* from = values + static_cast<std::size_t>(y) * line;
    std::memcpy(wide + static_cast<std::size_t>(reach) * channels, from, line * sizeof(T));
    for (std::int64_t x = 0; x < reach; ++x) {
      const auto copy = [&](std::int64_t place) {
        std::copy_n(from + static_cast<std::size_t>(mirrored(place, width)) * channels, channels,
                    wide + static_cast<std::size_t>(place + reach) * channels);
      };
      copy(-1 - x);
      copy(width + x);
    }
    std::fill_n(sums, line, Sum{});
    for (std::size_t k = 0; k < across.size(); ++k) {
      const auto weight = scaled<T>(across[k]);
      const T* in = wide + k * channels;
      for (std::size_t i = 0; i < line; ++i) sums[i] += weight * static_cast<Sum>(in[i]);
    }
    Middle* out = middle + static_cast<std::size_t>(y) * line;
    for (std::size_t i = 0; i < line; ++i)
      out[i] = rounded<Middle, Counting<T>::kFirstShift>(sums[i]);
  }

  const auto reach_down = static_cast<std::int64_t>(down.size() / 2);
  for (std::int64_t y = 0; y < height; ++y) {
    std::fill_n(sums, line, Sum{});
    for (std::size_t k = 0; k < down.size(); ++k) {
      const auto weight = scaled<T>(down[k]);
      const std::int64_t row = mirrored(y + static_cast<std::int64_t>(k) - reach_down, height);
      const Middle* in = middle + static_cast<std::size_t>(row) * line;
      for (std::size_t i = 0; i < line; ++i) sums[i] += weight * static_cast<Sum>(in[i]);
    }
    T* out = values + static_cast<std::size_t>(y) * line;
    for (std::size_t i = 0; i < line; ++i) out[i] = rounded<T, Counting<T>::kSecondShift>(sums[i]);
  }
}

}  // namespace

void gaussian_blur(Tensor& image, const Extent& kernel, double sigma) {
  // Each worker's own, so that nothing is asked of the system once warm.
  thread_local std::vector<std::uint32_t> across;
  thread_local std::vector<std::uint32_t> down;
  make_weights(kernel.width, sigma, across);
  make_weights(kernel.height, sigma, down);
  switch (image.dtype()) {
    case DType::u8:
      return blur<std::uint8_t>(image, across, down);
    case DType::f32:
      return blur<float>(image, across, down);
    default:
      throw Error(
          ErrorKind::usage, "gaussian_blur",
          std::string("images of ") + name_of(image.dtype()) + " are not supported; use u8 or f32");
  }
}

}  // namespace weir::detail
