#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include <weir/error.hpp>
#include <weir/sample_operator.hpp>

#include "pipeline/operators/columns.hpp"
#include "pipeline/operators/erasing.hpp"
#include "pipeline/operators/image_change.hpp"

namespace weir::detail {
namespace {

constexpr const char* kName = "random_erasing";

class RandomErasing final : public SampleOperator {
 public:
  RandomErasing(const Parameters& parameters, std::vector<std::string> columns)
      : probability_(parameters.number("probability")),
        scale_(parameters.numbers("scale")),
        ratio_(parameters.numbers("ratio")),
        value_(parameters.numbers("value")),
        noise_(parameters.flag("noise")),
        columns_(std::move(columns)) {}

  void apply(Sample& sample, Context& context) const override {
    Random& random = context.random();
    const bool erases = random.chance(probability_);
    std::optional<Region> region;
    std::int64_t height = 0;
    std::int64_t width = 0;
    for (const std::string& column : columns_) {
      Tensor& image = column_of(sample, kName, column);
      // What is hidden from the network is still what it is: masks stay.
      if (is_mask(column)) continue;
      const PixelPlaces places = pixel_places(image, kName, column);
      if (!erases) continue;
      if (height == 0) {
        height = places.height;
        width = places.width;
        region = draw(height, width, random);
      } else if (places.height != height || places.width != width) {
        throw BadSample("'" + column + "' is " + std::to_string(places.width) + "x" +
                        std::to_string(places.height) + " but the columns before it are " +
                        std::to_string(width) + "x" + std::to_string(height) +
                        "; columns that share a draw must agree in size");
      }
      if (!region) continue;
      make_own(image, column, context);
      if (noise_)
        erase_with_noise(image, places, *region, random);
      else
        erase(image, places, *region, value_);
    }
  }

  [[nodiscard]] bool cheap() const override { return true; }

 private:
  /// Ten tries at an area and an aspect that fit, as torchvision; none: nothing is erased.
  [[nodiscard]] std::optional<Region> draw(std::int64_t height, std::int64_t width,
                                           Random& random) const {
    const double area = static_cast<double>(height) * static_cast<double>(width);
    for (int attempt = 0; attempt < 10; ++attempt) {
      const double erased = area * random.uniform(scale_[0], scale_[1]);
      const double aspect = std::exp(random.uniform(std::log(ratio_[0]), std::log(ratio_[1])));
      const auto rows = static_cast<std::int64_t>(std::llrint(std::sqrt(erased * aspect)));
      const auto columns = static_cast<std::int64_t>(std::llrint(std::sqrt(erased / aspect)));
      if (rows >= height || columns >= width || rows < 1 || columns < 1) continue;
      const std::uint64_t top = random.below(static_cast<std::uint64_t>(height - rows) + 1);
      const std::uint64_t left = random.below(static_cast<std::uint64_t>(width - columns) + 1);
      return Region{static_cast<std::int64_t>(top), static_cast<std::int64_t>(left), rows, columns};
    }
    return std::nullopt;
  }

  double probability_;
  std::vector<double> scale_;
  std::vector<double> ratio_;
  std::vector<double> value_;
  bool noise_;
  std::vector<std::string> columns_;
};

}  // namespace

OperatorSpec random_erasing_spec() {
  return {.name = kName,
          .summary = "hides a rectangle of random area and aspect, with a probability",
          .parameters = {probability_spec("0.5"),
                         {.name = "scale",
                          .type = ParameterType::range,
                          .fallback = "0.02, 0.33",
                          .low = 1e-6,
                          .high = 1,
                          .meaning = "smallest and largest share of the picture's area"},
                         {.name = "ratio",
                          .type = ParameterType::range,
                          .fallback = "0.3, 3.3",
                          .low = 1e-3,
                          .high = 1e3,
                          .meaning = "smallest and largest height / width"},
                         {.name = "value",
                          .type = ParameterType::numbers,
                          .fallback = "0",
                          .meaning = "what is put there, one value or one a channel"},
                         {.name = "noise",
                          .type = ParameterType::flag,
                          .fallback = "false",
                          .meaning = "noise in place of `value`: f32 of deviation 1, u8 of any"}},
          .make = [](const Parameters& parameters, const std::vector<std::string>& columns) {
            return SampleMap(
                std::make_shared<const RandomErasing>(parameters, columns_or(columns, "image")));
          }};
}

}  // namespace weir::detail
