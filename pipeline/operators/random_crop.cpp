#include <algorithm>
#include <memory>
#include <utility>

#include <weir/error.hpp>
#include <weir/sample_operator.hpp>

#include "pipeline/operators/columns.hpp"
#include "pipeline/operators/extent.hpp"
#include "pipeline/operators/image_link.hpp"
#include "pipeline/operators/raster.hpp"

namespace weir::detail {
namespace {

constexpr const char* kName = "random_crop";

class RandomCrop final : public SampleOperator, public ImageLink {
 public:
  RandomCrop(const Parameters& parameters, std::vector<std::string> columns)
      : extent_(extent_in(parameters, "size")),
        padding_(padding_in(parameters, "padding")),
        pad_if_needed_(parameters.flag("pad_if_needed")),
        border_(border_in(parameters)),
        fill_(parameters.numbers("fill")),
        columns_(std::move(columns)) {}

  void apply(Sample& sample, Context& context) const override {
    const ImageSize size = common_size(sample, kName, columns_);
    const Padding padding = padding_for(size);
    const std::int64_t room_down = size.height + padding.top + padding.bottom - extent_.height;
    const std::int64_t room_right = size.width + padding.left + padding.right - extent_.width;
    if (room_down < 0 || room_right < 0) {
      throw BadSample("the picture is " + size.text() + ", too small for a crop of " +
                      std::to_string(extent_.width) + "x" + std::to_string(extent_.height) +
                      "; say `pad_if_needed: true` or resize first");
    }
    const auto [top, left] = draw(room_down, room_right, context.random());
    for (const std::string& column : columns_) {
      Tensor& image = column_of(sample, kName, column);
      Tensor padded;
      const Tensor* source = &image;
      if (border_ != BorderMode::constant && has(padding)) {
        // A mirrored border needs the whole picture beside it.
        padded = Tensor({size.height + padding.top + padding.bottom,
                         size.width + padding.left + padding.right, image.shape()[2]},
                        image.dtype());
        place(image, padding.top, padding.left, padded, border_, fill_);
        source = &padded;
      }
      Tensor result = result_for(context, column, {extent_.height, extent_.width, image.shape()[2]},
                                 image.dtype(), image);
      const bool shifted = source == &image;
      place(*source, (shifted ? padding.top : 0) - top, (shifted ? padding.left : 0) - left, result,
            BorderMode::constant, is_mask(column) ? std::vector<double>{} : fill_);
      image = std::move(result);
    }
  }

  [[nodiscard]] Kind kind() const override { return Kind::move; }
  [[nodiscard]] const std::vector<std::string>& image_columns() const override { return columns_; }
  [[nodiscard]] bool move(ImageFrame& frame, Random& random) const override {
    const Region& now = frame.current();
    const std::int64_t room_down = now.height - extent_.height;
    const std::int64_t room_right = now.width - extent_.width;
    if (has(padding_) || room_down < 0 || room_right < 0) return false;
    const Offset offset = draw(room_down, room_right, random);
    frame.keep({offset.top, offset.left, extent_.height, extent_.width});
    return true;
  }

 private:
  struct Offset {
    std::int64_t top;
    std::int64_t left;
  };
  static Offset draw(std::int64_t room_down, std::int64_t room_right, Random& random) {
    const std::uint64_t top = random.below(static_cast<std::uint64_t>(room_down) + 1);
    const std::uint64_t left = random.below(static_cast<std::uint64_t>(room_right) + 1);
    return {static_cast<std::int64_t>(top), static_cast<std::int64_t>(left)};
  }

  static bool has(const Padding& padding) {
    return padding.left > 0 || padding.top > 0 || padding.right > 0 || padding.bottom > 0;
  }

  /// The padding as written, and on both sides what a too small picture lacks, as torchvision does.
  [[nodiscard]] Padding padding_for(const ImageSize& size) const {
    Padding padding = padding_;
    if (!pad_if_needed_) return padding;
    const std::int64_t lacks_width = extent_.width - (size.width + padding.left + padding.right);
    const std::int64_t lacks_height = extent_.height - (size.height + padding.top + padding.bottom);
    padding.left += std::max<std::int64_t>(lacks_width, 0);
    padding.right += std::max<std::int64_t>(lacks_width, 0);
    padding.top += std::max<std::int64_t>(lacks_height, 0);
    padding.bottom += std::max<std::int64_t>(lacks_height, 0);
    return padding;
  }

  Extent extent_;
  Padding padding_;
  bool pad_if_needed_;
  BorderMode border_;
  std::vector<double> fill_;
  std::vector<std::string> columns_;
};

}  // namespace

OperatorSpec random_crop_spec() {
  std::vector<ParameterSpec> parameters{
      {.name = "size",
       .type = ParameterType::numbers,
       .low = 1,
       .high = kLargestExtent,
       .meaning = "side of a square, or [height, width]"},
      {.name = "padding",
       .type = ParameterType::numbers,
       .fallback = "0",
       .low = 0,
       .high = kLargestExtent,
       .meaning = "pixels added first: on every side, [left and right, top and bottom] or [left, "
                  "top, right, bottom]"},
      {.name = "pad_if_needed",
       .type = ParameterType::flag,
       .fallback = "false",
       .meaning = "pads a picture smaller than the crop, which is else a bad sample"}};
  for (ParameterSpec& spec : border_specs()) parameters.push_back(std::move(spec));
  return {
      .name = kName,
      .summary = "cuts a part of fixed size from a random place",
      .parameters = std::move(parameters),
      .make = [](const Parameters& checked, const std::vector<std::string>& columns) {
        return SampleMap(std::make_shared<const RandomCrop>(checked, columns_or(columns, "image")));
      }};
}

}  // namespace weir::detail
