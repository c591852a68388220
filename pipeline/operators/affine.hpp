#pragma once

#include <cstdint>
#include <span>

#include <weir/operators.hpp>
#include <weir/tensor.hpp>

#include "pipeline/operators/extent.hpp"

/// Rotations, shears and shifts of images of rows x columns x channels, with the results of PIL's
/// Image.transform. Nothing here depends on the machine: angles are turned into numbers by weir's
/// own series, since the sine of the C library may differ in its last bit.
namespace weir::detail {

/// Where a pixel of the result comes from: x = a * x' + b * y' + c, y = d * x' + e * y' + f, both
/// places counted from the upper left corner of the first pixel, so that its middle is (0.5, 0.5).
struct AffineMap {
  double a = 1;
  double b = 0;
  double c = 0;
  double d = 0;
  double e = 1;
  double f = 0;
};

/// A point of a picture, in pixels from its upper left corner.
struct Point {
  double x = 0;
  double y = 0;
};

/// Turns the picture by so many degrees against the clock around `center`.
[[nodiscard]] AffineMap rotation(double degrees, const Point& center);

/// The rotation of a whole picture and the size that it then has.
struct ExpandedRotation {
  AffineMap map;
  Extent extent;
};
/// Around the middle, with a result that is large enough for all of it.
[[nodiscard]] ExpandedRotation expanded_rotation(double degrees, const Extent& extent);

/// Fills `target` from `source`; `fill`, one value or one a channel, where the source ends.
/// `interpolation` is nearest, which takes any dtype, or linear, which takes u8, u16 and f32.
/// Requires: equal channels and dtype; no shared memory.
void warp(const Tensor& source, Tensor& target, const AffineMap& map, Interpolation interpolation,
          std::span<const double> fill);

}  // namespace weir::detail
