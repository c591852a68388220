#include "pipeline/operators/image_change.hpp"

namespace weir::detail {

OperatorSpec adjust_sharpness_spec() {
  return {.name = "adjust_sharpness",
          .summary = "mixes the picture with its smoothed form",
          .parameters = {{.name = "factor",
                          .type = ParameterType::number,
                          .low = 0,
                          .high = 100,
                          .meaning = "0 smooths, 1 keeps, 2 sharpens"},
                         probability_spec("1")},
          .make = [](const Parameters& parameters, const std::vector<std::string>& columns) {
            return image_change({.name = "adjust_sharpness"}, parameters, columns,
                                [factor = static_cast<float>(parameters.number("factor"))](
                                    Tensor& image, Random) { sharpen(image, factor); });
          }};
}

}  // namespace weir::detail
