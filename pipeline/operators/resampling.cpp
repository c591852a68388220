#include <string>

#include "pipeline/operators/raster.hpp"

namespace weir::detail {

std::vector<ParameterSpec> with_filter(std::vector<ParameterSpec> parameters) {
  parameters.push_back({.name = "interpolation",
                        .type = ParameterType::choice,
                        .fallback = "linear",
                        .choices = {"nearest", "linear", "area", "cubic"},
                        .meaning = "how pixels between pixels are made; masks take the nearest"});
  parameters.push_back(
      {.name = "antialias",
       .type = ParameterType::flag,
       .fallback = "false",
       .meaning = "widen the filter by the shrink, as PIL and torchvision do; linear and cubic"});
  return parameters;
}

Filter filter_in(const Parameters& parameters) {
  Filter filter;
  const std::string& text = parameters.text("interpolation");
  if (text == "nearest") filter.interpolation = Interpolation::nearest;
  if (text == "area") filter.interpolation = Interpolation::area;
  if (text == "cubic") filter.interpolation = Interpolation::cubic;
  filter.antialias = parameters.flag("antialias");
  if (filter.antialias && filter.interpolation != Interpolation::linear &&
      filter.interpolation != Interpolation::cubic)
    parameters.reject("antialias", "it goes with `interpolation: linear` or `cubic`");
  return filter;
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
