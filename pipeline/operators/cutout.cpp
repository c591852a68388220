#include <algorithm>
#include <memory>
#include <utility>

#include <weir/sample_operator.hpp>

#include "pipeline/operators/columns.hpp"
#include "pipeline/operators/erasing.hpp"
#include "pipeline/operators/extent.hpp"
#include "pipeline/operators/image_change.hpp"

namespace weir::detail {
namespace {

constexpr const char* kName = "cutout";

class Cutout final : public SampleOperator {
 public:
  Cutout(const Parameters& parameters, std::vector<std::string> columns)
      : length_(parameters.integer("length")),
        patches_(parameters.integer("patches")),
        value_(parameters.numbers("value")),
        columns_(std::move(columns)) {}

  void apply(Sample& sample, Context& context) const override {
    for (const std::string& column : columns_) {
      Tensor& image = column_of(sample, kName, column);
      if (is_mask(column)) continue;
      const PixelPlaces places = pixel_places(image, kName, column);
      make_own(image, column, context);
      // A copy for each column, so that all get the same draws.
      Random random = context.random();
      for (std::int64_t i = 0; i < patches_; ++i)
        erase(image, places, draw(places, random), value_);
    }
  }

  [[nodiscard]] bool cheap() const override { return true; }

 private:
  /// A square around any pixel, as far as it lies in the picture (DeVries and Taylor, 2017).
  [[nodiscard]] Region draw(const PixelPlaces& places, Random& random) const {
    const auto middle = [&](std::int64_t extent) {
      return static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(extent)));
    };
    const std::int64_t y = middle(places.height);
    const std::int64_t x = middle(places.width);
    const std::int64_t top = std::max<std::int64_t>(y - length_ / 2, 0);
    const std::int64_t left = std::max<std::int64_t>(x - length_ / 2, 0);
    const std::int64_t bottom = std::min(y - length_ / 2 + length_, places.height);
    const std::int64_t right = std::min(x - length_ / 2 + length_, places.width);
    return {top, left, bottom - top, right - left};
  }

  std::int64_t length_;
  std::int64_t patches_;
  std::vector<double> value_;
  std::vector<std::string> columns_;
};

}  // namespace

OperatorSpec cutout_spec() {
  return {
      .name = kName,
      .summary = "hides squares around random pixels",
      .parameters = {{.name = "length",
                      .type = ParameterType::integer,
                      .low = 1,
                      .high = kLargestExtent,
                      .meaning = "side of a square in pixels; at an edge less of it is seen"},
                     {.name = "patches",
                      .type = ParameterType::integer,
                      .fallback = "1",
                      .low = 1,
                      .high = 1000,
                      .meaning = "how many squares"},
                     {.name = "value",
                      .type = ParameterType::numbers,
                      .fallback = "0",
                      .meaning = "what is put there, one value or one a channel"}},
      .make = [](const Parameters& parameters, const std::vector<std::string>& columns) {
        return SampleMap(std::make_shared<const Cutout>(parameters, columns_or(columns, "image")));
      }};
}

}  // namespace weir::detail
