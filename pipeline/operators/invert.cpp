#include "pipeline/operators/image_change.hpp"
#include "pipeline/operators/tone.hpp"

namespace weir::detail {

OperatorSpec invert_spec() {
  return {.name = "invert",
          .summary = "turns each colour into its opposite",
          .parameters = {probability_spec("1")},
          .make = [](const Parameters& parameters, const std::vector<std::string>& columns) {
            return image_change({.name = "invert", .cheap = true}, parameters, columns,
                                [](Tensor& image, Random) {
                                  on_pixels(image, [](const auto& row) { invert(row); });
                                });
          }};
}

}  // namespace weir::detail
