#include "pipeline/operators/color.hpp"
#include "pipeline/operators/image_change.hpp"

namespace weir::detail {

OperatorSpec adjust_brightness_spec() {
  return {.name = "adjust_brightness",
          .summary = "multiplies the values",
          .parameters = {{.name = "factor",
                          .type = ParameterType::number,
                          .low = 0,
                          .high = 100,
                          .meaning = "0 gives black, 1 keeps, 2 doubles"},
                         probability_spec("1")},
          .make = [](const Parameters& parameters, const std::vector<std::string>& columns) {
            return image_change(
                {.name = "adjust_brightness", .cheap = true}, parameters, columns,
                [factor = static_cast<float>(parameters.number("factor"))](Tensor& image, Random) {
                  on_pixels(image, [&](const auto& row) { adjust_brightness(row, factor); });
                });
          }};
}

}  // namespace weir::detail
