#include "pipeline/operators/image_change.hpp"
#include "pipeline/operators/tone.hpp"

namespace weir::detail {

OperatorSpec posterize_spec() {
  return {.name = "posterize",
          .summary = "keeps the upper bits of each value, of u8",
          .parameters = {{.name = "bits",
                          .type = ParameterType::integer,
                          .low = 0,
                          .high = 8,
                          .meaning = "how many bits are kept"},
                         probability_spec("1")},
          .make = [](const Parameters& parameters, const std::vector<std::string>& columns) {
            return image_change({.name = "posterize", .floats = false, .cheap = true}, parameters,
                                columns,
                                [bits = static_cast<int>(parameters.integer("bits"))](
                                    Tensor& image, Random) { posterize(bytes_in(image), bits); });
          }};
}

}  // namespace weir::detail
