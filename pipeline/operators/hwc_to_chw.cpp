#include <memory>
#include <utility>

#include <weir/sample_operator.hpp>

#include "pipeline/operators/columns.hpp"
#include "pipeline/operators/image_link.hpp"
#include "pipeline/operators/raster.hpp"

namespace weir::detail {
namespace {

constexpr const char* kName = "hwc_to_chw";

class HwcToChw final : public SampleOperator, public ImageLink {
 public:
  explicit HwcToChw(std::vector<std::string> columns) : columns_(std::move(columns)) {}

  void apply(Sample& sample, Context& context) const override {
    for (const std::string& column : columns_) {
      Tensor& image = column_of(sample, kName, column);
      const ImageSize size = image_size(image, kName, column);
      Tensor result = result_for(context, column, {size.channels, size.height, size.width},
                                 image.dtype(), image);
      split_channels(image, result);
      image = std::move(result);
    }
  }

  [[nodiscard]] bool cheap() const override { return true; }

  [[nodiscard]] Kind kind() const override { return Kind::layout; }
  [[nodiscard]] const std::vector<std::string>& image_columns() const override { return columns_; }

 private:
  std::vector<std::string> columns_;
};

}  // namespace

OperatorSpec hwc_to_chw_spec() {
  return {.name = kName,
          .summary = "turns rows x columns x channels into channels x rows x columns",
          .parameters = {},
          .make = [](const Parameters&, const std::vector<std::string>& columns) {
            return SampleMap(std::make_shared<const HwcToChw>(columns_or(columns, "image")));
          }};
}

}  // namespace weir::detail
