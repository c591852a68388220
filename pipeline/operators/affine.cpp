#include "pipeline/operators/affine.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numbers>
#include <type_traits>
#include <vector>

#include <weir/error.hpp>

namespace weir::detail {
namespace {

struct Turn {
  double cosine = 1;
  double sine = 0;
};

/// By Taylor's series within an eighth of a turn, where 18 terms are exact to the last bits.
Turn turn_of(double degrees) {
  const double quarters = std::nearbyint(degrees / 90.0);
  const double rest = (degrees - quarters * 90.0) * (std::numbers::pi / 180.0);
  Turn turn;
  double term = 1;
  turn.cosine = 0;
  for (int power = 0; power < 18; ++power) {
    const double sign = power % 4 < 2 ? 1 : -1;
    (power % 2 == 0 ? turn.cosine : turn.sine) += sign * term;
    term = term * rest / (power + 1);
  }
  switch (static_cast<int>(std::fmod(quarters, 4.0) + 4.0) % 4) {
    case 1:
      return {-turn.sine, turn.cosine};
    case 2:
      return {-turn.cosine, -turn.sine};
    case 3:
      return {turn.sine, -turn.cosine};
    default:
      return turn;
  }
}

/// Keeps the linear part and moves the map so that `to` comes from `from`.
void anchor(AffineMap& map, const Point& to, const Point& from) {
  map.c = from.x - (map.a * to.x + map.b * to.y);
  map.f = from.y - (map.d * to.x + map.e * to.y);
}

/// An image as the loops see it.
template <class T>
struct Pixels {
  T* values;
  std::int64_t height;
  std::int64_t width;
  std::int64_t channels;
  [[nodiscard]] T* at(std::int64_t y, std::int64_t x) const {
    return values + (y * width + x) * channels;
  }
};

template <class T>
Pixels<T> pixels_of(const Tensor& tensor) {
  return {reinterpret_cast<T*>(tensor.bytes()), tensor.shape()[0], tensor.shape()[1],
          tensor.shape()[2]};
}

template <class T>
std::array<T, 4> fill_pixel(std::span<const double> fill) {
  std::array<T, 4> pixel{};
  for (std::size_t c = 0; c < pixel.size() && !fill.empty(); ++c) {
    double value = fill[std::min(c, fill.size() - 1)];
    if constexpr (std::is_integral_v<T>) {
      value =
          std::clamp(std::nearbyint(value), static_cast<double>(std::numeric_limits<T>::lowest()),
                     static_cast<double>(std::numeric_limits<T>::max()));
    }
    pixel[c] = static_cast<T>(value);
  }
  return pixel;
}

/// Places in 1/65536 of a pixel, as PIL counts them, so that ties fall the same way.
constexpr int kPlaceBits = 16;
std::int64_t place_of(double x) {
  return static_cast<std::int64_t>(std::floor(x * (1 << kPlaceBits) + 0.5));
}

template <class T>
void take_nearest(const Tensor& source, Tensor& target, const AffineMap& map,
                  std::span<const double> fill) {
  const Pixels<T> in = pixels_of<T>(source);
  const Pixels<T> out = pixels_of<T>(target);
  const std::array<T, 4> empty = fill_pixel<T>(fill);
  const auto channels = static_cast<std::size_t>(in.channels);
  const std::int64_t a = place_of(map.a);
  const std::int64_t b = place_of(map.b);
  const std::int64_t d = place_of(map.d);
  const std::int64_t e = place_of(map.e);
  const std::int64_t first_x = place_of(map.c + map.a * 0.5 + map.b * 0.5);
  const std::int64_t first_y = place_of(map.f + map.d * 0.5 + map.e * 0.5);
  for (std::int64_t y = 0; y < out.height; ++y) {
    std::int64_t from_x = first_x + b * y;
    std::int64_t from_y = first_y + e * y;
    T* to = out.at(y, 0);
    for (std::int64_t x = 0; x < out.width; ++x, to += channels, from_x += a, from_y += d) {
      const std::int64_t column = from_x >> kPlaceBits;
      const std::int64_t row = from_y >> kPlaceBits;
      const bool inside = column >= 0 && column < in.width && row >= 0 && row < in.height;
      const T* from = inside ? in.at(row, column) : empty.data();
      for (std::size_t i = 0; i < channels; ++i) to[i] = from[i];
    }
  }
}

template <class T>
void take_linear(const Tensor& source, Tensor& target, const AffineMap& map,
                 std::span<const double> fill) {
  const Pixels<T> in = pixels_of<T>(source);
  const Pixels<T> out = pixels_of<T>(target);
  const std::array<T, 4> empty = fill_pixel<T>(fill);
  const auto channels = static_cast<std::size_t>(in.channels);
  for (std::int64_t y = 0; y < out.height; ++y) {
    const double middle_y = static_cast<double>(y) + 0.5;
    T* to = out.at(y, 0);
    for (std::int64_t x = 0; x < out.width; ++x, to += channels) {
      const double middle_x = static_cast<double>(x) + 0.5;
      const double from_x = map.a * middle_x + map.b * middle_y + map.c;
      const double from_y = map.d * middle_x + map.e * middle_y + map.f;
      if (!(from_x >= 0 && from_x < static_cast<double>(in.width) && from_y >= 0 &&
            from_y < static_cast<double>(in.height))) {
        std::copy_n(empty.begin(), channels, to);
        continue;
      }
      const double left = std::floor(from_x - 0.5);
      const double top = std::floor(from_y - 0.5);
      const double across = from_x - 0.5 - left;
      const double down = from_y - 0.5 - top;
      const auto column = static_cast<std::int64_t>(left);
      const auto row = static_cast<std::int64_t>(top);
      const std::int64_t x0 = std::max<std::int64_t>(column, 0);
      const std::int64_t x1 = std::min(column + 1, in.width - 1);
      const std::int64_t y0 = std::max<std::int64_t>(row, 0);
      const std::int64_t y1 = std::min(row + 1, in.height - 1);
      for (std::size_t i = 0; i < channels; ++i) {
        const auto at = [&](std::int64_t r, std::int64_t c) {
          return static_cast<double>(in.at(r, c)[i]);
        };
        const double above = at(y0, x0) + (at(y0, x1) - at(y0, x0)) * across;
        const double below = at(y1, x0) + (at(y1, x1) - at(y1, x0)) * across;
        // Whole numbers are cut, as PIL does.
        to[i] = static_cast<T>(above + (below - above) * down);
      }
    }
  }
}

}  // namespace

AffineMap rotation(double degrees, const Point& center) {
  const Turn turn = turn_of(degrees);
  AffineMap map{turn.cosine, -turn.sine, 0, turn.sine, turn.cosine, 0};
  anchor(map, center, center);
  return map;
}

ExpandedRotation expanded_rotation(double degrees, const Extent& extent) {
  const double width = static_cast<double>(extent.width);
  const double height = static_cast<double>(extent.height);
  const Point middle{width / 2, height / 2};
  AffineMap map = rotation(degrees, middle);
  // The corners go the same way as the pixels come, so that the box is that of the mirrored turn,
  // which has the same size.
  std::array<double, 4> xs{};
  std::array<double, 4> ys{};
  const std::array<Point, 4> corners{{{0, 0}, {width, 0}, {width, height}, {0, height}}};
  for (std::size_t i = 0; i < corners.size(); ++i) {
    // Rounded, so that a turn that is almost a quarter does not add a pixel.
    constexpr double kGrid = 1e9;
    xs[i] = std::nearbyint((map.a * corners[i].x + map.b * corners[i].y + map.c) * kGrid) / kGrid;
    ys[i] = std::nearbyint((map.d * corners[i].x + map.e * corners[i].y + map.f) * kGrid) / kGrid;
  }
  const auto span_of = [](const std::array<double, 4>& values) {
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    return static_cast<std::int64_t>(std::ceil(*most) - std::floor(*least));
  };
  const Extent expanded{span_of(ys), span_of(xs)};
  anchor(map, {static_cast<double>(expanded.width) / 2, static_cast<double>(expanded.height) / 2},
         middle);
  return {map, expanded};
}

void warp(const Tensor& source, Tensor& target, const AffineMap& map, Interpolation interpolation,
          std::span<const double> fill) {
  const bool nearest = interpolation == Interpolation::nearest;
  switch (source.dtype()) {
    case DType::u8:
      return nearest ? take_nearest<std::uint8_t>(source, target, map, fill)
                     : take_linear<std::uint8_t>(source, target, map, fill);
    case DType::u16:
      return nearest ? take_nearest<std::uint16_t>(source, target, map, fill)
                     : take_linear<std::uint16_t>(source, target, map, fill);
    case DType::f32:
      return nearest ? take_nearest<float>(source, target, map, fill)
                     : take_linear<float>(source, target, map, fill);
    case DType::i32:
      if (nearest) return take_nearest<std::int32_t>(source, target, map, fill);
      break;
    case DType::i64:
      if (nearest) return take_nearest<std::int64_t>(source, target, map, fill);
      break;
    case DType::f64:
      if (nearest) return take_nearest<double>(source, target, map, fill);
      break;
    case DType::f16:
      break;
  }
  throw Error(ErrorKind::usage, "",
              std::string("interpolation: linear takes images of u8, u16 and f32, not ") +
                  name_of(source.dtype()) + "; convert them, or take the nearest");
}

}  // namespace weir::detail
