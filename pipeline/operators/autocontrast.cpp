#include "pipeline/operators/image_change.hpp"
#include "pipeline/operators/tone.hpp"

namespace weir::detail {

OperatorSpec autocontrast_spec() {
  return {
      .name = "autocontrast",
      .summary = "stretches each channel to the whole range",
      .parameters = {{.name = "cutoff",
                      .type = ParameterType::share,
                      .fallback = "0",
                      .low = 0,
                      .high = 0.5,
                      .meaning =
                          "share of the pixels at either end that may fall outside; with u8 alone"},
                     probability_spec("1")},
      .make = [](const Parameters& parameters, const std::vector<std::string>& columns) {
        const double cutoff = parameters.number("cutoff");
        return image_change({.name = "autocontrast", .floats = cutoff == 0}, parameters, columns,
                            [cutoff](Tensor& image, Random) {
                              on_pixels(image, [&](const auto& row) { autocontrast(row, cutoff); });
                            });
      }};
}

}  // namespace weir::detail
