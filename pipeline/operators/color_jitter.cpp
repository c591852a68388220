#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include <weir/error.hpp>
#include <weir/sample_operator.hpp>

#include "pipeline/operators/color.hpp"
#include "pipeline/operators/columns.hpp"

namespace weir::detail {
namespace {

constexpr const char* kName = "color_jitter";

/// Where a factor is drawn from.
struct FactorRange {
  double low = 1.0;
  double high = 1.0;
  bool changes = false;
};

/// `0.4` means around 1 by so much, but not below 0; a pair is the range itself.
FactorRange factor_range_in(const Parameters& parameters, std::string_view name) {
  const std::vector<double> given = parameters.numbers(name);
  if (given.size() == 1) {
    return {std::max(0.0, 1.0 - given[0]), 1.0 + given[0], given[0] > 0.0};
  }
  if (given.size() != 2 || given[0] > given[1]) {
    parameters.reject(name, "give one number or [low, high]");
  }
  return {given[0], given[1], given[0] != 1.0 || given[1] != 1.0};
}

/// The same around 0, in turns of the colour circle.
FactorRange hue_range_in(const Parameters& parameters) {
  const std::vector<double> given = parameters.numbers("hue");
  if (given.size() == 1) {
    if (given[0] < 0.0) parameters.reject("hue", "a single number must not be negative");
    return {-given[0], given[0], given[0] > 0.0};
  }
  if (given.size() != 2 || given[0] > given[1]) {
    parameters.reject("hue", "give one number or [low, high]");
  }
  return {given[0], given[1], given[0] != 0.0 || given[1] != 0.0};
}

class ColorJitter final : public SampleOperator {
 public:
  ColorJitter(const Parameters& parameters, std::vector<std::string> columns)
      : ranges_{factor_range_in(parameters, "brightness"), factor_range_in(parameters, "contrast"),
                factor_range_in(parameters, "saturation"), hue_range_in(parameters)},
        columns_(std::move(columns)) {}

  void apply(Sample& sample, Context& context) const override {
    Random& random = context.random();
    std::array<std::size_t, 4> order{0, 1, 2, 3};
    for (std::size_t i = order.size() - 1; i > 0; --i)
      std::swap(order[i], order[random.below(i + 1)]);
    std::array<double, 4> factors{};
    for (std::size_t i = 0; i < factors.size(); ++i) {
      if (ranges_[i].changes) factors[i] = random.uniform(ranges_[i].low, ranges_[i].high);
    }
    for (const std::string& column : columns_) {
      if (is_mask(column)) continue;  // Class numbers have no colour.
      Tensor& image = column_of(sample, kName, column);
      const ImageSize size = image_size(image, kName, column);
      if (image.dtype() != DType::u8 && image.dtype() != DType::f32) {
        throw Error(ErrorKind::usage, kName,
                    "column '" + column + "' holds " + name_of(image.dtype()) +
                        ", needed are u8, or f32 from 0 to 1");
      }
      if (!is_own(image)) {
        Tensor result = result_for(context, column, image.shape(), image.dtype(), image);
        std::memcpy(result.bytes(), image.bytes(), image.size_bytes());
        image = std::move(result);
      }
      for (const std::size_t step : order) {
        if (ranges_[step].changes) change(image, size, step, factors[step]);
      }
    }
  }

 private:
  static void change(Tensor& image, const ImageSize& size, std::size_t step, double factor) {
    const auto pixels = static_cast<std::size_t>(size.height * size.width);
    const auto channels = static_cast<std::size_t>(size.channels);
    if (image.dtype() == DType::u8) {
      change_pixels(PixelRow<std::uint8_t>{image.data<std::uint8_t>(), pixels, channels}, step,
                    static_cast<float>(factor));
    } else {
      change_pixels(PixelRow<float>{image.data<float>(), pixels, channels}, step,
                    static_cast<float>(factor));
    }
  }

  template <class T>
  static void change_pixels(const PixelRow<T>& pixels, std::size_t step, float factor) {
    switch (step) {
      case 0:
        adjust_brightness(pixels, factor);
        break;
      case 1:
        adjust_contrast(pixels, factor);
        break;
      case 2:
        adjust_saturation(pixels, factor);
        break;
      default:
        adjust_hue(pixels, factor);
        break;
    }
  }

  std::array<FactorRange, 4> ranges_;  ///< brightness, contrast, saturation, hue
  std::vector<std::string> columns_;
};

ParameterSpec factor_spec(const char* name, const char* meaning) {
  return {.name = name,
          .type = ParameterType::numbers,
          .fallback = "0",
          .low = 0,
          .high = 100,
          .meaning = meaning};
}

}  // namespace

OperatorSpec color_jitter_spec() {
  return {.name = kName,
          .summary = "changes brightness, contrast, saturation and hue, in random order",
          .parameters = {factor_spec("brightness", "largest change, or [low, high] factors"),
                         factor_spec("contrast", "largest change, or [low, high] factors"),
                         factor_spec("saturation", "largest change, or [low, high] factors"),
                         {.name = "hue",
                          .type = ParameterType::numbers,
                          .fallback = "0",
                          .low = -0.5,
                          .high = 0.5,
                          .meaning = "largest turn of the colour circle, or [low, high] turns"}},
          .make = [](const Parameters& parameters, const std::vector<std::string>& columns) {
            return SampleMap(
                std::make_shared<const ColorJitter>(parameters, columns_or(columns, "image")));
          }};
}

}  // namespace weir::detail
