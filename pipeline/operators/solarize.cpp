#include "pipeline/operators/image_change.hpp"
#include "pipeline/operators/tone.hpp"

namespace weir::detail {

OperatorSpec solarize_spec() {
  return {.name = "solarize",
          .summary = "inverts the values at or above a threshold",
          .parameters = {{.name = "threshold",
                          .type = ParameterType::number,
                          .fallback = "128",
                          .low = 0,
                          .high = 256,
                          .meaning =
                              "in steps of a byte, also where pixels are f32; 256 changes nothing"},
                         probability_spec("1")},
          .make = [](const Parameters& parameters, const std::vector<std::string>& columns) {
            return image_change({.name = "solarize", .cheap = true}, parameters, columns,
                                [threshold = static_cast<float>(parameters.number("threshold"))](
                                    Tensor& image, Random) {
                                  on_pixels(image,
                                            [&](const auto& row) { solarize(row, threshold); });
                                });
          }};
}

}  // namespace weir::detail
