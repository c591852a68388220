#include "pipeline/operators/image_change.hpp"
#include "pipeline/operators/tone.hpp"

namespace weir::detail {

OperatorSpec equalize_spec() {
  return {.name = "equalize",
          .summary = "spreads each channel so that all values are equally frequent, of u8",
          .parameters = {probability_spec("1")},
          .make = [](const Parameters& parameters, const std::vector<std::string>& columns) {
            return image_change({.name = "equalize", .floats = false}, parameters, columns,
                                [](Tensor& image, Random) { equalize(bytes_in(image)); });
          }};
}

}  // namespace weir::detail
