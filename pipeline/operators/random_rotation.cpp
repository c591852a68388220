#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include <weir/sample_operator.hpp>

#include "pipeline/operators/affine.hpp"
#include "pipeline/operators/columns.hpp"

namespace weir::detail {
namespace {

constexpr const char* kName = "random_rotation";

class RandomRotation final : public SampleOperator {
 public:
  RandomRotation(const Parameters& parameters, std::vector<std::string> columns)
      : interpolation_(parameters.text("interpolation") == "linear" ? Interpolation::linear
                                                                    : Interpolation::nearest),
        expand_(parameters.flag("expand")),
        fill_(parameters.numbers("fill")),
        columns_(std::move(columns)) {
    const std::vector<double> degrees = parameters.numbers("degrees");
    if (degrees.size() == 1 && degrees[0] < 0)
      parameters.reject("degrees", "a single number must not be negative");
    if (degrees.size() > 2 || (degrees.size() == 2 && degrees[0] > degrees[1]))
      parameters.reject("degrees", "give one number or [low, high]");
    low_ = degrees.size() == 1 ? -degrees[0] : degrees[0];
    high_ = degrees.back();
    if (!parameters.has("center")) return;
    const std::vector<double> center = parameters.numbers("center");
    if (center.size() != 2) parameters.reject("center", "give [x, y]");
    if (expand_) parameters.reject("center", "`expand` keeps the whole picture around its middle");
    center_ = Point{center[0], center[1]};
  }

  void apply(Sample& sample, Context& context) const override {
    const ImageSize size = common_size(sample, kName, columns_);
    const double degrees = context.random().uniform(low_, high_);
    Extent extent{size.height, size.width};
    AffineMap map;
    if (expand_) {
      const ExpandedRotation expanded = expanded_rotation(degrees, extent);
      map = expanded.map;
      extent = expanded.extent;
    } else {
      map = rotation(degrees, center_.value_or(Point{static_cast<double>(size.width) / 2,
                                                     static_cast<double>(size.height) / 2}));
    }
    for (const std::string& column : columns_) {
      Tensor& image = column_of(sample, kName, column);
      Tensor result = result_for(context, column, {extent.height, extent.width, image.shape()[2]},
                                 image.dtype(), image);
      if (is_mask(column))
        warp(image, result, map, Interpolation::nearest, {});
      else
        warp(image, result, map, interpolation_, fill_);
      image = std::move(result);
    }
  }

 private:
  double low_ = 0;
  double high_ = 0;
  Interpolation interpolation_;
  bool expand_;
  std::vector<double> fill_;
  std::optional<Point> center_;
  std::vector<std::string> columns_;
};

}  // namespace

OperatorSpec random_rotation_spec() {
  return {
      .name = kName,
      .summary = "turns the picture by a random angle",
      .parameters = {{.name = "degrees",
                      .type = ParameterType::numbers,
                      .low = -360,
                      .high = 360,
                      .meaning =
                          "largest turn either way, or [low, high]; positive is against the clock"},
                     {.name = "interpolation",
                      .type = ParameterType::choice,
                      .fallback = "nearest",
                      .choices = {"nearest", "linear"},
                      .meaning = "how pixels between pixels are made; masks take the nearest"},
                     {.name = "expand",
                      .type = ParameterType::flag,
                      .fallback = "false",
                      .meaning = "makes the result large enough for all of the picture"},
                     {.name = "center",
                      .type = ParameterType::numbers,
                      .fallback = "none",
                      .meaning = "[x, y] in pixels from the upper left corner; none: the middle"},
                     {.name = "fill",
                      .type = ParameterType::numbers,
                      .fallback = "0",
                      .meaning =
                          "value of what the turn uncovers, one or one a channel; masks take 0"}},
      .make = [](const Parameters& parameters, const std::vector<std::string>& columns) {
        return SampleMap(
            std::make_shared<const RandomRotation>(parameters, columns_or(columns, "image")));
      }};
}

}  // namespace weir::detail
