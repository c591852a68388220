#pragma once

#include <weir/parameters.hpp>
#include <weir/tensor.hpp>

namespace weir::detail {

/// The parameter `scale` of what makes floats of pixels: `unit` divides whole numbers by their
/// largest value, `none` keeps them.
[[nodiscard]] ParameterSpec scale_spec();

/// What a pixel of `dtype` is divided by: 1 for floats and where `scale` is none. Throws
/// Error(usage) for what is no pixel.
[[nodiscard]] float divisor_for(DType dtype, bool scales, const char* operator_name,
                                const std::string& column);

}  // namespace weir::detail
