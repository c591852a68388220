#include "pipeline/operators/color.hpp"
#include "pipeline/operators/image_change.hpp"

namespace weir::detail {

OperatorSpec random_grayscale_spec() {
  return {.name = "random_grayscale",
          .summary = "takes the colour away with a probability; the number of channels stays",
          .parameters = {probability_spec("0.1")},
          .make = [](const Parameters& parameters, const std::vector<std::string>& columns) {
            return image_change({.name = "random_grayscale", .cheap = true}, parameters, columns,
                                [](Tensor& image, Random) {
                                  on_pixels(image,
                                            [](const auto& row) { adjust_saturation(row, 0.0F); });
                                });
          }};
}

}  // namespace weir::detail
