#include "pipeline/operators/tone.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>

namespace weir::detail {
namespace {

template <class T>
constexpr float kBound = std::is_same_v<T, float> ? 1.0F : 255.0F;

using Table = std::array<std::uint8_t, 256>;
using Histogram = std::array<std::uint64_t, 256>;

template <class T>
std::size_t colours_of(const PixelRow<T>& row) {
  return std::min<std::size_t>(row.channels, 3);
}

template <class T, class F>
void for_each_colour(const PixelRow<T>& row, F&& f) {
  const std::size_t colours = colours_of(row);
  T* pixel = row.values;
  for (std::size_t i = 0; i < row.pixels; ++i, pixel += row.channels)
    for (std::size_t c = 0; c < colours; ++c) pixel[c] = f(pixel[c]);
}

Histogram histogram_of(const PixelRow<std::uint8_t>& row, std::size_t channel) {
  Histogram counts{};
  const std::uint8_t* value = row.values + channel;
  for (std::size_t i = 0; i < row.pixels; ++i, value += row.channels) ++counts[*value];
  return counts;
}

void look_up(const PixelRow<std::uint8_t>& row, std::size_t channel, const Table& table) {
  std::uint8_t* value = row.values + channel;
  for (std::size_t i = 0; i < row.pixels; ++i, value += row.channels) *value = table[*value];
}

/// Takes up to `count` pixels out of the histogram, from one end on.
template <class Iterator>
void cut(Iterator first, Iterator last, std::uint64_t count) {
  for (; first != last && count > 0; ++first) {
    const std::uint64_t taken = std::min(*first, count);
    *first -= taken;
    count -= taken;
  }
}

}  // namespace

template <class T>
void invert(const PixelRow<T>& row) {
  for_each_colour(row, [](T v) { return static_cast<T>(kBound<T> - static_cast<float>(v)); });
}

template <class T>
void solarize(const PixelRow<T>& row, float threshold) {
  const float from = threshold / 255.0F * kBound<T>;
  for_each_colour(row, [from](T v) {
    return static_cast<float>(v) >= from ? static_cast<T>(kBound<T> - static_cast<float>(v)) : v;
  });
}

void posterize(const PixelRow<std::uint8_t>& row, int bits) {
  const auto mask = static_cast<std::uint8_t>(0xFF00U >> static_cast<unsigned>(bits));
  for_each_colour(row, [mask](std::uint8_t v) { return static_cast<std::uint8_t>(v & mask); });
}

void autocontrast(const PixelRow<std::uint8_t>& row, double cutoff) {
  for (std::size_t c = 0; c < colours_of(row); ++c) {
    Histogram counts = histogram_of(row, c);
    const auto out = static_cast<std::uint64_t>(static_cast<double>(row.pixels) * cutoff);
    cut(counts.begin(), counts.end(), out);
    cut(counts.rbegin(), counts.rend(), out);
    std::size_t low = 0;
    std::size_t high = counts.size() - 1;
    while (low < high && counts[low] == 0) ++low;
    while (high > low && counts[high] == 0) --high;
    if (high == low) continue;
    // In PIL's order of operations, whose results fall below a whole number now and then.
    const double scale = 255.0 / static_cast<double>(high - low);
    const double offset = -static_cast<double>(low) * scale;
    Table table{};
    for (std::size_t v = 0; v < table.size(); ++v)
      table[v] = static_cast<std::uint8_t>(
          std::clamp(static_cast<double>(v) * scale + offset, 0.0, 255.0));
    look_up(row, c, table);
  }
}

void autocontrast(const PixelRow<float>& row, double) {
  for (std::size_t c = 0; c < colours_of(row); ++c) {
    float* const first = row.values + c;
    float low = *first;
    float high = *first;
    for (std::size_t i = 0; i < row.pixels; ++i) {
      low = std::min(low, first[i * row.channels]);
      high = std::max(high, first[i * row.channels]);
    }
    if (!(high > low)) continue;
    for (std::size_t i = 0; i < row.pixels; ++i) {
      float& value = first[i * row.channels];
      value = (value - low) / (high - low);
    }
  }
}

void equalize(const PixelRow<std::uint8_t>& row) {
  for (std::size_t c = 0; c < colours_of(row); ++c) {
    const Histogram counts = histogram_of(row, c);
    const auto last =
        std::find_if(counts.rbegin(), counts.rend(), [](std::uint64_t count) { return count > 0; });
    // The pixels of the largest value take no part in the spread: they become 255.
    const std::uint64_t step = (row.pixels - *last) / 255;
    if (step == 0) continue;
    Table table{};
    std::uint64_t below = step / 2;
    for (std::size_t v = 0; v < table.size(); ++v) {
      table[v] = static_cast<std::uint8_t>(std::min<std::uint64_t>(below / step, 255));
      below += counts[v];
    }
    look_up(row, c, table);
  }
}

template <class T>
void adjust_sharpness(const PixelRow<T>& row, const T* before, std::size_t width, float factor) {
  const std::size_t height = row.pixels / width;
  const std::size_t colours = colours_of(row);
  if (height < 3 || width < 3) return;
  const std::size_t line = width * row.channels;
  for (std::size_t y = 1; y + 1 < height; ++y) {
    for (std::size_t x = 1; x + 1 < width; ++x) {
      const std::size_t at = y * line + x * row.channels;
      for (std::size_t c = 0; c < colours; ++c) {
        const T* middle = before + at + c;
        float sum = 4.0F * static_cast<float>(*middle);
        for (const T* centre : {middle - line, middle, middle + line})
          sum += static_cast<float>(centre[0]) + static_cast<float>(*(centre - row.channels)) +
                 static_cast<float>(centre[row.channels]);
        float smooth = sum / 13.0F;
        if constexpr (!std::is_same_v<T, float>) smooth = std::floor(smooth + 0.5F);
        row.values[at + c] = static_cast<T>(std::clamp(
            factor * static_cast<float>(*middle) + (1.0F - factor) * smooth, 0.0F, kBound<T>));
      }
    }
  }
}

template void invert(const PixelRow<std::uint8_t>&);
template void invert(const PixelRow<float>&);
template void solarize(const PixelRow<std::uint8_t>&, float);
template void solarize(const PixelRow<float>&, float);
template void adjust_sharpness(const PixelRow<std::uint8_t>&, const std::uint8_t*, std::size_t,
                               float);
template void adjust_sharpness(const PixelRow<float>&, const float*, std::size_t, float);

}  // namespace weir::detail
