#include <string>

#include "pipeline/operators/raster.hpp"

namespace weir::detail {

ParameterSpec interpolation_spec() {
  return {.name = "interpolation",
          .type = ParameterType::choice,
          .fallback = "linear",
          .choices = {"nearest", "linear", "area", "cubic"},
          .meaning = "how pixels between pixels are made; masks take the nearest"};
}

Interpolation interpolation_in(const Parameters& parameters) {
  const std::string& text = parameters.text("interpolation");
  if (text == "nearest") return Interpolation::nearest;
  if (text == "area") return Interpolation::area;
  if (text == "cubic") return Interpolation::cubic;
  return Interpolation::linear;
}

std::vector<ParameterSpec> border_specs() {
  return {{.name = "fill",
           .type = ParameterType::numbers,
           .fallback = "0",
           .meaning = "value of the added pixels, one or one a channel; masks take 0"},
          {.name = "mode",
           .type = ParameterType::choice,
           .fallback = "constant",
           .choices = {"constant", "edge", "reflect", "symmetric"},
           .meaning = "constant takes `fill`; edge repeats the last pixel; reflect mirrors without "
                      "it, symmetric with it"}};
}

BorderMode border_in(const Parameters& parameters) {
  const std::string& text = parameters.text("mode");
  if (text == "edge") return BorderMode::edge;
  if (text == "reflect") return BorderMode::reflect;
  if (text == "symmetric") return BorderMode::symmetric;
  return BorderMode::constant;
}

}  // namespace weir::detail
