#include "pipeline/operators/erasing.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <type_traits>

#include <weir/error.hpp>

namespace weir::detail {
namespace {

/// Calls `f(value, channel)` for every value of the region, row by row, channels innermost.
template <class T, class F>
void for_each_inside(Tensor& image, const PixelPlaces& places, const Region& region, F&& f) {
  T* const values = image.data<T>();
  const std::int64_t plane = places.height * places.width;
  for (std::int64_t y = region.top; y < region.top + region.height; ++y) {
    for (std::int64_t x = region.left; x < region.left + region.width; ++x) {
      const std::int64_t pixel = y * places.width + x;
      for (std::int64_t c = 0; c < places.channels; ++c)
        f(values[places.channels_last ? pixel * places.channels + c : c * plane + pixel],
          static_cast<std::size_t>(c));
    }
  }
}

template <class T>
void fill(Tensor& image, const PixelPlaces& places, const Region& region,
          std::span<const double> value) {
  std::array<T, 4> pixel{};
  for (std::size_t c = 0; c < pixel.size(); ++c) {
    double one = value.empty() ? 0 : value[std::min(c, value.size() - 1)];
    if constexpr (std::is_integral_v<T>)
      one =
          std::clamp(std::nearbyint(one), 0.0, static_cast<double>(std::numeric_limits<T>::max()));
    pixel[c] = static_cast<T>(one);
  }
  for_each_inside<T>(image, places, region, [&](T& to, std::size_t c) { to = pixel[c]; });
}

/// Twelve uniform numbers have a sum of variance 1, which needs no logarithm and so no C library.
float bell(Random& random) {
  std::int64_t sum = 0;
  for (int i = 0; i < 3; ++i) {
    for (std::uint64_t bits = random.bits(), k = 0; k < 4; ++k, bits >>= 16U)
      sum += static_cast<std::int64_t>(bits & 0xFFFFU);
  }
  return static_cast<float>(static_cast<double>(sum - 6 * 65535) / 65536.0);
}

template <class T>
void fill_with_noise(Tensor& image, const PixelPlaces& places, const Region& region,
                     Random& random) {
  for_each_inside<T>(image, places, region, [&](T& to, std::size_t) {
    if constexpr (std::is_same_v<T, float>)
      to = bell(random);
    else
      to = static_cast<T>(random());
  });
}

[[noreturn]] void refuse(DType dtype) {
  throw Error(
      ErrorKind::usage, "",
      std::string("images of ") + name_of(dtype) + " are not supported here; use u8, u16 or f32");
}

}  // namespace

PixelPlaces pixel_places(const Tensor& image, const char* operator_name, const std::string& column,
                         std::size_t first_axis) {
  const Shape& shape = image.shape();
  const auto is_channels = [](std::int64_t extent) { return extent >= 1 && extent <= 4; };
  if (shape.rank() == first_axis + 3) {
    const std::int64_t first = shape[first_axis];
    const std::int64_t second = shape[first_axis + 1];
    const std::int64_t third = shape[first_axis + 2];
    if (first > 0 && second > 0 && is_channels(third)) return {first, second, third, true};
    if (second > 0 && third > 0 && is_channels(first)) return {second, third, first, false};
  }
  throw Error(ErrorKind::usage, operator_name,
              "column '" + column + "' has shape " + shape.text() + ", needed are " +
                  (first_axis == 0 ? "images" : "batches of images") +
                  " of 1 to 4 channels, as rows x columns x channels or channels x rows x columns");
}

void erase(Tensor& image, const PixelPlaces& places, const Region& region,
           std::span<const double> value) {
  switch (image.dtype()) {
    case DType::u8:
      return fill<std::uint8_t>(image, places, region, value);
    case DType::u16:
      return fill<std::uint16_t>(image, places, region, value);
    case DType::f32:
      return fill<float>(image, places, region, value);
    default:
      refuse(image.dtype());
  }
}

void erase_with_noise(Tensor& image, const PixelPlaces& places, const Region& region,
                      Random random) {
  switch (image.dtype()) {
    case DType::u8:
      return fill_with_noise<std::uint8_t>(image, places, region, random);
    case DType::u16:
      return fill_with_noise<std::uint16_t>(image, places, region, random);
    case DType::f32:
      return fill_with_noise<float>(image, places, region, random);
    default:
      refuse(image.dtype());
  }
}

}  // namespace weir::detail
