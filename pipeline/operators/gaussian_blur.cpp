#include "pipeline/operators/extent.hpp"
#include "pipeline/operators/gaussian.hpp"
#include "pipeline/operators/image_change.hpp"

namespace weir::detail {
namespace {

constexpr const char* kName = "gaussian_blur";

struct Deviations {
  double low = 0;
  double high = 0;
};

Deviations deviations_in(const Parameters& parameters) {
  const std::vector<double> given = parameters.numbers("sigma");
  if (given.size() > 2 || given.front() > given.back())
    parameters.reject("sigma", "give one number or [low, high]");
  return {given.front(), given.back()};
}

Extent kernel_in(const Parameters& parameters) {
  const Extent kernel = extent_in(parameters, "kernel_size");
  if (kernel.height % 2 == 0 || kernel.width % 2 == 0)
    parameters.reject("kernel_size", "a kernel has a middle, so that its sides are odd");
  return kernel;
}

}  // namespace

OperatorSpec gaussian_blur_spec() {
  return {.name = kName,
          .summary = "blurs with a Gaussian of fixed or random width",
          .parameters = {{.name = "kernel_size",
                          .type = ParameterType::numbers,
                          .low = 1,
                          .high = 255,
                          .meaning = "odd side of a square in pixels, or [height, width]"},
                         {.name = "sigma",
                          .type = ParameterType::numbers,
                          .fallback = "0.1, 2",
                          .low = 0.01,
                          .high = 100,
                          .meaning = "standard deviation in pixels, or [low, high] to draw from"},
                         probability_spec("1")},
          .make = [](const Parameters& parameters, const std::vector<std::string>& columns) {
            const Extent kernel = kernel_in(parameters);
            const Deviations sigma = deviations_in(parameters);
            return image_change({.name = kName}, parameters, columns,
                                [kernel, sigma](Tensor& image, Random random) {
                                  gaussian_blur(image, kernel,
                                                random.uniform(sigma.low, sigma.high));
                                });
          }};
}

}  // namespace weir::detail
