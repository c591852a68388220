#include <memory>
#include <utility>

#include <weir/sample_operator.hpp>

#include "pipeline/operators/columns.hpp"
#include "pipeline/operators/extent.hpp"
#include "pipeline/operators/raster.hpp"

namespace weir::detail {
namespace {

constexpr const char* kName = "pad";

class Pad final : public SampleOperator {
 public:
  Pad(const Parameters& parameters, std::vector<std::string> columns)
      : padding_(padding_in(parameters, "padding")),
        border_(border_in(parameters)),
        fill_(parameters.numbers("fill")),
        columns_(std::move(columns)) {}

  void apply(Sample& sample, Context& context) const override {
    for (const std::string& column : columns_) {
      Tensor& image = column_of(sample, kName, column);
      const ImageSize size = image_size(image, kName, column);
      Tensor result = result_for(context, column,
                                 {size.height + padding_.top + padding_.bottom,
                                  size.width + padding_.left + padding_.right, size.channels},
                                 image.dtype(), image);
      place(image, padding_.top, padding_.left, result, border_,
            is_mask(column) ? std::vector<double>{} : fill_);
      image = std::move(result);
    }
  }

 private:
  Padding padding_;
  BorderMode border_;
  std::vector<double> fill_;
  std::vector<std::string> columns_;
};

}  // namespace

OperatorSpec pad_spec() {
  std::vector<ParameterSpec> parameters{
      {.name = "padding",
       .type = ParameterType::numbers,
       .low = 0,
       .high = kLargestExtent,
       .meaning = "pixels added: on every side, [left and right, top and bottom] or [left, top, "
                  "right, bottom]"}};
  for (ParameterSpec& spec : border_specs()) parameters.push_back(std::move(spec));
  return {.name = kName,
          .summary = "adds pixels around the picture",
          .parameters = std::move(parameters),
          .make = [](const Parameters& checked, const std::vector<std::string>& columns) {
            return SampleMap(std::make_shared<const Pad>(checked, columns_or(columns, "image")));
          }};
}

}  // namespace weir::detail
