#pragma once

#include <weir/tensor.hpp>

#include "pipeline/operators/extent.hpp"

namespace weir::detail {

/// Blurs an image of rows x columns x channels, u8 or f32, in place; the picture is mirrored
/// beyond its edge without the last pixel, as torchvision's reflect padding.
///
/// Whole numbers are summed with weights that are whole themselves (65536 in all), so that the
/// bytes do not depend on the last bit of an exponential.
///
/// Requires: odd kernel sides; sigma > 0.
void gaussian_blur(Tensor& image, const Extent& kernel, double sigma);

}  // namespace weir::detail
