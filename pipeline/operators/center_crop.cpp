#include <memory>
#include <utility>

#include <weir/sample_operator.hpp>

#include "pipeline/operators/columns.hpp"
#include "pipeline/operators/extent.hpp"
#include "pipeline/operators/image_link.hpp"
#include "pipeline/operators/raster.hpp"

namespace weir::detail {
namespace {

constexpr const char* kName = "center_crop";

/// Half of `room`, a tie to the even number, as torchvision does. Requires: room >= 0.
std::int64_t half_of(std::int64_t room) {
  const std::int64_t half = room / 2;
  return room % 2 != 0 && half % 2 != 0 ? half + 1 : half;
}

class CenterCrop final : public SampleOperator, public ImageLink {
 public:
  CenterCrop(const Parameters& parameters, std::vector<std::string> columns)
      : extent_(extent_in(parameters, "size")), columns_(std::move(columns)) {}

  void apply(Sample& sample, Context& context) const override {
    for (const std::string& column : columns_) {
      Tensor& image = column_of(sample, kName, column);
      const ImageSize size = image_size(image, kName, column);
      if (size.height == extent_.height && size.width == extent_.width) continue;
      Tensor result = result_for(context, column, {extent_.height, extent_.width, size.channels},
                                 image.dtype(), image);
      place(image, -offset(size.height, extent_.height), -offset(size.width, extent_.width), result,
            BorderMode::constant, {});
      image = std::move(result);
    }
  }

  [[nodiscard]] bool cheap() const override { return true; }

  [[nodiscard]] Kind kind() const override { return Kind::move; }
  [[nodiscard]] const std::vector<std::string>& image_columns() const override { return columns_; }
  [[nodiscard]] bool move(ImageFrame& frame, Random&) const override {
    const Region& now = frame.current();
    if (now.height < extent_.height || now.width < extent_.width) return false;
    frame.keep({half_of(now.height - extent_.height), half_of(now.width - extent_.width),
                extent_.height, extent_.width});
    return true;
  }

 private:
  /// Where the crop begins; negative where the picture is smaller and zeros are added around it.
  static std::int64_t offset(std::int64_t have, std::int64_t want) {
    if (have >= want) return half_of(have - want);
    return -((want - have) / 2);
  }

  Extent extent_;
  std::vector<std::string> columns_;
};

}  // namespace

OperatorSpec center_crop_spec() {
  return {.name = kName,
          .summary = "cuts the middle; a smaller picture is surrounded by zeros",
          .parameters = {{.name = "size",
                          .type = ParameterType::numbers,
                          .low = 1,
                          .high = kLargestExtent,
                          .meaning = "side of a square, or [height, width]"}},
          .make = [](const Parameters& parameters, const std::vector<std::string>& columns) {
            return SampleMap(
                std::make_shared<const CenterCrop>(parameters, columns_or(columns, "image")));
          }};
}

}  // namespace weir::detail
