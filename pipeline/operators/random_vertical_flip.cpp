#include <memory>

#include "pipeline/operators/columns.hpp"
#include "pipeline/operators/random_flip.hpp"

namespace weir::detail {

OperatorSpec random_vertical_flip_spec() {
  return {.name = "random_vertical_flip",
          .summary = "mirrors top to bottom with a probability",
          .parameters = {RandomFlip::probability_spec()},
          .make = [](const Parameters& parameters, const std::vector<std::string>& columns) {
            return SampleMap(std::make_shared<const RandomFlip>(
                "random_vertical_flip", /*left_to_right=*/false, parameters.number("probability"),
                columns_or(columns, "image")));
          }};
}

}  // namespace weir::detail
