#include <memory>

#include "pipeline/operators/columns.hpp"
#include "pipeline/operators/random_flip.hpp"

namespace weir::detail {

OperatorSpec random_horizontal_flip_spec() {
  return {.name = "random_horizontal_flip",
          .summary = "mirrors left to right with a probability",
          .parameters = {RandomFlip::probability_spec()},
          .make = [](const Parameters& parameters, const std::vector<std::string>& columns) {
            return SampleMap(std::make_shared<const RandomFlip>(
                "random_horizontal_flip", /*left_to_right=*/true, parameters.number("probability"),
                columns_or(columns, "image")));
          }};
}

}  // namespace weir::detail
