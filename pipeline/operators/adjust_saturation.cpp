#include "pipeline/operators/color.hpp"
#include "pipeline/operators/image_change.hpp"

namespace weir::detail {

OperatorSpec adjust_saturation_spec() {
  return {.name = "adjust_saturation",
          .summary = "draws the colours towards grey or away from it",
          .parameters = {{.name = "factor",
                          .type = ParameterType::number,
                          .low = 0,
                          .high = 100,
                          .meaning = "0 gives grey, 1 keeps, 2 doubles"},
                         probability_spec("1")},
          .make = [](const Parameters& parameters, const std::vector<std::string>& columns) {
            return image_change(
                {.name = "adjust_saturation"}, parameters, columns,
                [factor = static_cast<float>(parameters.number("factor"))](Tensor& image, Random) {
                  on_pixels(image, [&](const auto& row) { adjust_saturation(row, factor); });
                });
          }};
}

}  // namespace weir::detail
