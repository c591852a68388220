#include "pipeline/operators/color.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>

namespace weir::detail {
namespace {

template <class T>
constexpr float kBound = std::is_same_v<T, float> ? 1.0F : 255.0F;

template <class T>
T clamped(float value) {
  return static_cast<T>(std::clamp(value, 0.0F, kBound<T>));
}

/// The weights of ITU-R BT.601, with the four digits that torchvision and PIL use.
template <class T>
T grey_of(const T* pixel) {
  return static_cast<T>(0.2989F * static_cast<float>(pixel[0]) +
                        0.587F * static_cast<float>(pixel[1]) +
                        0.114F * static_cast<float>(pixel[2]));
}

/// Applies `f` to every colour value; for bytes through a table.
template <class T, class F>
void change_each(const PixelRow<T>& row, F&& f) {
  const std::size_t colours = std::min<std::size_t>(row.channels, 3);
  const auto over_pixels = [&](auto&& g) {
    T* pixel = row.values;
    for (std::size_t i = 0; i < row.pixels; ++i, pixel += row.channels) {
      for (std::size_t c = 0; c < colours; ++c) pixel[c] = g(pixel[c]);
    }
  };
  if constexpr (std::is_same_v<T, std::uint8_t>) {
    std::array<std::uint8_t, 256> table{};
    for (std::size_t v = 0; v < table.size(); ++v) table[v] = f(static_cast<std::uint8_t>(v));
    over_pixels([&](std::uint8_t v) { return table[v]; });
  } else {
    over_pixels(f);
  }
}

struct Hsv {
  float hue;
  float saturation;
  float value;
};

Hsv hsv_of(float red, float green, float blue) {
  const float most = std::max({red, green, blue});
  const float least = std::min({red, green, blue});
  const float span = most - least;
  if (span == 0.0F) return {0.0F, 0.0F, most};
  const float from_red = (most - red) / span;
  const float from_green = (most - green) / span;
  const float from_blue = (most - blue) / span;
  float sixths = 0.0F;
  if (most == red) {
    sixths = from_blue - from_green;
  } else if (most == green) {
    sixths = 2.0F + from_red - from_blue;
  } else {
    sixths = 4.0F + from_green - from_red;
  }
  return {std::fmod(sixths / 6.0F + 1.0F, 1.0F), span / most, most};
}

std::array<float, 3> rgb_of(const Hsv& hsv) {
  const float sixths = hsv.hue * 6.0F;
  const float sector = std::floor(sixths);
  const float rest = sixths - sector;
  const float v = hsv.value;
  const float p = std::clamp(v * (1.0F - hsv.saturation), 0.0F, 1.0F);
  const float q = std::clamp(v * (1.0F - hsv.saturation * rest), 0.0F, 1.0F);
  const float t = std::clamp(v * (1.0F - hsv.saturation * (1.0F - rest)), 0.0F, 1.0F);
  switch (static_cast<int>(sector) % 6) {
    case 0:
      return {v, t, p};
    case 1:
      return {q, v, p};
    case 2:
      return {p, v, t};
    case 3:
      return {p, q, v};
    case 4:
      return {t, p, v};
    default:
      return {v, p, q};
  }
}

}  // namespace

template <class T>
void adjust_brightness(const PixelRow<T>& row, float factor) {
  change_each(row, [factor](T v) { return clamped<T>(factor * static_cast<float>(v)); });
}

template <class T>
void adjust_contrast(const PixelRow<T>& row, float factor) {
  double sum = 0.0;
  const T* pixel = row.values;
  for (std::size_t i = 0; i < row.pixels; ++i, pixel += row.channels) {
    sum += static_cast<double>(row.channels >= 3 ? grey_of(pixel) : *pixel);
  }
  const float mean = static_cast<float>(sum / static_cast<double>(row.pixels));
  change_each(row, [factor, mean](T v) {
    return clamped<T>(factor * static_cast<float>(v) + (1.0F - factor) * mean);
  });
}

template <class T>
void adjust_saturation(const PixelRow<T>& row, float factor) {
  if (row.channels < 3) return;
  T* pixel = row.values;
  for (std::size_t i = 0; i < row.pixels; ++i, pixel += row.channels) {
    const float grey = (1.0F - factor) * static_cast<float>(grey_of(pixel));
    for (std::size_t c = 0; c < 3; ++c) {
      pixel[c] = clamped<T>(factor * static_cast<float>(pixel[c]) + grey);
    }
  }
}

template <class T>
void adjust_hue(const PixelRow<T>& row, float turn) {
  if (row.channels < 3) return;
  T* pixel = row.values;
  for (std::size_t i = 0; i < row.pixels; ++i, pixel += row.channels) {
    Hsv hsv =
        hsv_of(static_cast<float>(pixel[0]) / kBound<T>, static_cast<float>(pixel[1]) / kBound<T>,
               static_cast<float>(pixel[2]) / kBound<T>);
    hsv.hue += turn;
    hsv.hue -= std::floor(hsv.hue);
    const std::array<float, 3> rgb = rgb_of(hsv);
    for (std::size_t c = 0; c < 3; ++c) {
      // Just below 256, so that each of the bytes is as likely as the next.
      pixel[c] =
          std::is_same_v<T, float> ? static_cast<T>(rgb[c]) : static_cast<T>(rgb[c] * 255.999F);
    }
  }
}

template void adjust_brightness(const PixelRow<std::uint8_t>&, float);
template void adjust_brightness(const PixelRow<float>&, float);
template void adjust_contrast(const PixelRow<std::uint8_t>&, float);
template void adjust_contrast(const PixelRow<float>&, float);
template void adjust_saturation(const PixelRow<std::uint8_t>&, float);
template void adjust_saturation(const PixelRow<float>&, float);
template void adjust_hue(const PixelRow<std::uint8_t>&, float);
template void adjust_hue(const PixelRow<float>&, float);

}  // namespace weir::detail
