#include <cmath>
#include <memory>
#include <utility>

#include <weir/sample_operator.hpp>

#include "pipeline/operators/columns.hpp"
#include "pipeline/operators/extent.hpp"
#include "pipeline/operators/image_link.hpp"
#include "pipeline/operators/raster.hpp"

namespace weir::detail {
namespace {

constexpr const char* kName = "random_resized_crop";

/// The nearest whole number, a tie to the even one.
std::int64_t rounded(double x) { return std::llrint(x); }

class RandomResizedCrop final : public SampleOperator, public ImageLink {
 public:
  RandomResizedCrop(const Parameters& parameters, std::vector<std::string> columns)
      : extent_(extent_in(parameters, "size")),
        scale_(parameters.numbers("scale")),
        ratio_(parameters.numbers("ratio")),
        filter_(filter_in(parameters)),
        columns_(std::move(columns)) {}

  void apply(Sample& sample, Context& context) const override {
    const ImageSize size = common_size(sample, kName, columns_);
    const Region region = draw(size, context.random());
    for (const std::string& column : columns_) {
      Tensor& image = column_of(sample, kName, column);
      Tensor result = result_for(context, column, {extent_.height, extent_.width, image.shape()[2]},
                                 image.dtype(), image);
      resample(image, region, result, is_mask(column) ? Filter{Interpolation::nearest} : filter_);
      image = std::move(result);
    }
  }

  [[nodiscard]] Kind kind() const override { return Kind::move; }
  [[nodiscard]] const std::vector<std::string>& image_columns() const override { return columns_; }
  [[nodiscard]] bool resamples() const override { return true; }
  [[nodiscard]] bool move(ImageFrame& frame, Random& random) const override {
    const Region& now = frame.current();
    frame.keep(draw({now.height, now.width, 0}, random));
    frame.resample_to(extent_, filter_);
    return true;
  }

 private:
  /// Ten tries at an area and an aspect that fit, then the largest middle part of an allowed
  /// aspect: the procedure of torchvision, from the paper "Going deeper with convolutions" (CVPR
  /// 2015).
  [[nodiscard]] Region draw(const ImageSize& size, Random& random) const {
    const double area = static_cast<double>(size.height) * static_cast<double>(size.width);
    for (int attempt = 0; attempt < 10; ++attempt) {
      const double target_area = area * random.uniform(scale_[0], scale_[1]);
      const double aspect = std::exp(random.uniform(std::log(ratio_[0]), std::log(ratio_[1])));
      const std::int64_t width = rounded(std::sqrt(target_area * aspect));
      const std::int64_t height = rounded(std::sqrt(target_area / aspect));
      if (width < 1 || width > size.width || height < 1 || height > size.height) continue;
      const std::uint64_t top = random.below(static_cast<std::uint64_t>(size.height - height) + 1);
      const std::uint64_t left = random.below(static_cast<std::uint64_t>(size.width - width) + 1);
      return {static_cast<std::int64_t>(top), static_cast<std::int64_t>(left), height, width};
    }
    Region region{0, 0, size.height, size.width};
    const double aspect = static_cast<double>(size.width) / static_cast<double>(size.height);
    if (aspect < ratio_[0]) {
      region.height = rounded(static_cast<double>(size.width) / ratio_[0]);
    } else if (aspect > ratio_[1]) {
      region.width = rounded(static_cast<double>(size.height) * ratio_[1]);
    }
    region.height = std::max<std::int64_t>(1, std::min(region.height, size.height));
    region.width = std::max<std::int64_t>(1, std::min(region.width, size.width));
    region.top = (size.height - region.height) / 2;
    region.left = (size.width - region.width) / 2;
    return region;
  }

  Extent extent_;
  std::vector<double> scale_;
  std::vector<double> ratio_;
  Filter filter_;
  std::vector<std::string> columns_;
};

}  // namespace

OperatorSpec random_resized_crop_spec() {
  return {
      .name = kName,
      .summary = "cuts a part of random area and aspect and resizes it to a fixed size",
      .parameters = with_filter({{.name = "size",
                                  .type = ParameterType::numbers,
                                  .low = 1,
                                  .high = kLargestExtent,
                                  .meaning = "side of a square, or [height, width]"},
                                 {.name = "scale",
                                  .type = ParameterType::range,
                                  .fallback = "0.08, 1",
                                  .low = 1e-6,
                                  .high = 1,
                                  .meaning = "smallest and largest share of the picture's area"},
                                 {.name = "ratio",
                                  .type = ParameterType::range,
                                  .fallback = "0.75, 1.3333333333333333",
                                  .low = 1e-3,
                                  .high = 1e3,
                                  .meaning = "smallest and largest width / height"}}),
      .make = [](const Parameters& parameters, const std::vector<std::string>& columns) {
        return SampleMap(
            std::make_shared<const RandomResizedCrop>(parameters, columns_or(columns, "image")));
      }};
}

}  // namespace weir::detail
