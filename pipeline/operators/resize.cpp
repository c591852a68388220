#include <algorithm>
#include <memory>
#include <utility>

#include <weir/sample_operator.hpp>

#include "pipeline/operators/columns.hpp"
#include "pipeline/operators/extent.hpp"
#include "pipeline/operators/image_link.hpp"
#include "pipeline/operators/raster.hpp"

namespace weir::detail {
namespace {

constexpr const char* kName = "resize";

class Resize final : public SampleOperator, public ImageLink {
 public:
  Resize(const Parameters& parameters, std::vector<std::string> columns)
      : extent_(extent_in(parameters, "size")),
        by_short_side_(parameters.numbers("size").size() == 1),
        filter_(filter_in(parameters)),
        columns_(std::move(columns)) {}

  void apply(Sample& sample, Context& context) const override {
    for (const std::string& column : columns_) {
      Tensor& image = column_of(sample, kName, column);
      const ImageSize size = image_size(image, kName, column);
      const Extent wanted = target_of(size);
      if (wanted.height == size.height && wanted.width == size.width) continue;
      Tensor result = result_for(context, column, {wanted.height, wanted.width, size.channels},
                                 image.dtype(), image);
      resample(image, {0, 0, size.height, size.width}, result,
               is_mask(column) ? Filter{Interpolation::nearest} : filter_);
      image = std::move(result);
    }
  }

  [[nodiscard]] Kind kind() const override { return Kind::move; }
  [[nodiscard]] const std::vector<std::string>& image_columns() const override { return columns_; }
  [[nodiscard]] bool resamples() const override { return true; }
  [[nodiscard]] bool move(ImageFrame& frame, Random&) const override {
    const Region& now = frame.current();
    const Extent wanted = target_of({now.height, now.width, 0});
    if (wanted.height == now.height && wanted.width == now.width) return true;
    if (wanted.height < 1 || wanted.width < 1) return false;
    frame.resample_to(wanted, filter_);
    return true;
  }

 private:
  [[nodiscard]] Extent target_of(const ImageSize& size) const {
    if (!by_short_side_) return extent_;
    // The longer side is cut to whole pixels, as torchvision does.
    const std::int64_t side = extent_.height;
    const std::int64_t short_side = std::min(size.height, size.width);
    const std::int64_t long_side = side * std::max(size.height, size.width) / short_side;
    return size.height <= size.width ? Extent{side, long_side} : Extent{long_side, side};
  }

  Extent extent_;
  bool by_short_side_;
  Filter filter_;
  std::vector<std::string> columns_;
};

}  // namespace

OperatorSpec resize_spec() {
  return {
      .name = kName,
      .summary = "resizes to a length of the shorter side, or to [height, width] exactly",
      .parameters = with_filter({{.name = "size",
                                  .type = ParameterType::numbers,
                                  .low = 1,
                                  .high = kLargestExtent,
                                  .meaning = "length of the shorter side, or [height, width]"}}),
      .make = [](const Parameters& parameters, const std::vector<std::string>& columns) {
        return SampleMap(std::make_shared<const Resize>(parameters, columns_or(columns, "image")));
      }};
}

}  // namespace weir::detail
