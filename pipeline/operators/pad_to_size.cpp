#include <memory>
#include <utility>

#include <weir/error.hpp>
#include <weir/sample_operator.hpp>

#include "pipeline/operators/columns.hpp"
#include "pipeline/operators/extent.hpp"
#include "pipeline/operators/raster.hpp"

namespace weir::detail {
namespace {

constexpr const char* kName = "pad_to_size";

class PadToSize final : public SampleOperator {
 public:
  PadToSize(const Parameters& parameters, std::vector<std::string> columns)
      : extent_(extent_in(parameters, "size")),
        centred_(!parameters.has("offset")),
        border_(border_in(parameters)),
        fill_(parameters.numbers("fill")),
        columns_(std::move(columns)) {
    if (!centred_) offset_ = extent_in(parameters, "offset");
  }

  void apply(Sample& sample, Context& context) const override {
    for (const std::string& column : columns_) {
      Tensor& image = column_of(sample, kName, column);
      const ImageSize size = image_size(image, kName, column);
      const std::int64_t room_down = extent_.height - size.height;
      const std::int64_t room_right = extent_.width - size.width;
      const std::int64_t top = centred_ ? room_down / 2 : offset_.height;
      const std::int64_t left = centred_ ? room_right / 2 : offset_.width;
      if (room_down < top || room_right < left || room_down < 0 || room_right < 0)
        throw BadSample("the picture is " + size.text() + ", which does not fit into " +
                        std::to_string(extent_.width) + "x" + std::to_string(extent_.height) +
                        (centred_ ? "" : " at its offset") + "; resize or crop first");
      Tensor result = result_for(context, column, {extent_.height, extent_.width, size.channels},
                                 image.dtype(), image);
      place(image, top, left, result, border_, is_mask(column) ? std::vector<double>{} : fill_);
      image = std::move(result);
    }
  }

 private:
  Extent extent_;
  bool centred_;
  Extent offset_;
  BorderMode border_;
  std::vector<double> fill_;
  std::vector<std::string> columns_;
};

}  // namespace

OperatorSpec pad_to_size_spec() {
  std::vector<ParameterSpec> parameters{
      {.name = "size",
       .type = ParameterType::numbers,
       .low = 1,
       .high = kLargestExtent,
       .meaning = "side of a square, or [height, width]; a larger picture is a bad sample"},
      {.name = "offset",
       .type = ParameterType::numbers,
       .fallback = "none",
       .low = 0,
       .high = kLargestExtent,
       .meaning = "pixels added above and on the left, [top, left]; none: as many as behind"}};
  for (ParameterSpec& spec : border_specs()) parameters.push_back(std::move(spec));
  return {
      .name = kName,
      .summary = "adds pixels around the picture up to a fixed size",
      .parameters = std::move(parameters),
      .make = [](const Parameters& checked, const std::vector<std::string>& columns) {
        return SampleMap(std::make_shared<const PadToSize>(checked, columns_or(columns, "image")));
      }};
}

}  // namespace weir::detail
