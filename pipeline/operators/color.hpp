#pragma once

#include <cstddef>
#include <cstdint>

/// Changes of colour as torchvision defines them on tensors: results are clamped, and u8 results
/// cut to whole numbers rather than rounded. Grey pictures have neither saturation nor hue; a
/// fourth channel is left alone.
namespace weir::detail {

/// Pixels in memory; T is std::uint8_t or float, floats going from 0 to 1.
template <class T>
struct PixelRow {
  T* values;
  std::size_t pixels;
  std::size_t channels;
};

template <class T>
void adjust_brightness(const PixelRow<T>& row, float factor);
/// Around the mean of the whole picture's grey values.
template <class T>
void adjust_contrast(const PixelRow<T>& row, float factor);
template <class T>
void adjust_saturation(const PixelRow<T>& row, float factor);
/// `turn` is a share of the colour circle.
template <class T>
void adjust_hue(const PixelRow<T>& row, float turn);

}  // namespace weir::detail
