#pragma once

#include <cstdint>

#include "pipeline/operators/color.hpp"

/// Changes of brightness and detail that look at the whole picture or at single bits, as PIL's
/// ImageOps and torchvision define them. Channels are changed each by itself; a fourth one is left
/// alone.
namespace weir::detail {

/// 255 - v, or 1 - v.
template <class T>
void invert(const PixelRow<T>& row);
/// Inverts what is at or above `threshold`, which is counted in steps of a byte.
template <class T>
void solarize(const PixelRow<T>& row, float threshold);
/// Keeps the upper `bits` of each value. Requires: 0 to 8.
void posterize(const PixelRow<std::uint8_t>& row, int bits);
/// Stretches each channel to the whole range; `cutoff` is the share of the pixels at either end
/// that may fall outside.
void autocontrast(const PixelRow<std::uint8_t>& row, double cutoff);
/// Requires: cutoff == 0.
void autocontrast(const PixelRow<float>& row, double cutoff);
/// Spreads each channel so that all values are as frequent as the next.
void equalize(const PixelRow<std::uint8_t>& row);
/// Mixes the picture with its smoothed form: factor 0 smooths, 1 keeps, 2 sharpens. The outermost
/// pixels stay. `before` holds the same pixels as `row` and shares no memory with it.
template <class T>
void adjust_sharpness(const PixelRow<T>& row, const T* before, std::size_t width, float factor);

}  // namespace weir::detail
