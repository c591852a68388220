#include "pipeline/operators/color.hpp"
#include "pipeline/operators/image_change.hpp"

namespace weir::detail {

OperatorSpec adjust_hue_spec() {
  return {.name = "adjust_hue",
          .summary = "turns the circle of colours",
          .parameters = {{.name = "turn",
                          .type = ParameterType::number,
                          .low = -0.5,
                          .high = 0.5,
                          .meaning = "in whole turns; 0 keeps, 0.5 gives the opposite colours"},
                         probability_spec("1")},
          .make = [](const Parameters& parameters, const std::vector<std::string>& columns) {
            return image_change(
                {.name = "adjust_hue"}, parameters, columns,
                [turn = static_cast<float>(parameters.number("turn"))](Tensor& image, Random) {
                  on_pixels(image, [&](const auto& row) { adjust_hue(row, turn); });
                });
          }};
}

}  // namespace weir::detail
