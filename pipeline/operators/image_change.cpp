#include "pipeline/operators/image_change.hpp"

#include <cstring>
#include <memory>
#include <utility>

#include <weir/error.hpp>

#include "pipeline/operators/columns.hpp"
#include "pipeline/operators/tone.hpp"

namespace weir::detail {

ImageChange::ImageChange(const Traits& traits, double probability, std::vector<std::string> columns,
                         Change change)
    : traits_(traits),
      probability_(probability),
      columns_(std::move(columns)),
      change_(std::move(change)) {}

void ImageChange::apply(Sample& sample, Context& context) const {
  Random& random = context.random();
  const bool changes = random.chance(probability_);
  for (const std::string& column : columns_) {
    Tensor& image = column_of(sample, traits_.name, column);
    // Checked also when nothing is done, so that a mistake shows at the first sample.
    (void)image_size(image, traits_.name, column);
    if (is_mask(column)) continue;
    require_pixels(image, traits_.floats, traits_.name, column);
    if (!changes) continue;
    make_own(image, column, context);
    change_(image, random);
  }
}

ParameterSpec probability_spec(const char* fallback) {
  return {.name = "probability",
          .type = ParameterType::share,
          .fallback = fallback,
          .low = 0,
          .high = 1,
          .meaning = "how often"};
}

SampleMap image_change(const ImageChange::Traits& traits, const Parameters& parameters,
                       const std::vector<std::string>& columns, ImageChange::Change change) {
  return SampleMap(std::make_shared<const ImageChange>(
      traits, parameters.number("probability"), columns_or(columns, "image"), std::move(change)));
}

void require_pixels(const Tensor& image, bool floats, const char* operator_name,
                    const std::string& column) {
  if (image.dtype() == DType::u8 || (floats && image.dtype() == DType::f32)) return;
  throw Error(ErrorKind::usage, operator_name,
              "column '" + column + "' holds " + name_of(image.dtype()) + ", needed " +
                  (floats ? "are u8, or f32 from 0 to 1"
                          : "is u8; place the operator before "
                            "`to_float`"));
}

void make_own(Tensor& image, const std::string& column, Context& context) {
  if (is_own(image)) return;
  Tensor result = result_for(context, column, image.shape(), image.dtype(), image);
  std::memcpy(result.bytes(), image.bytes(), image.size_bytes());
  image = std::move(result);
}

void sharpen(Tensor& image, float factor) {
  // Scratch of the pool.
  const Tensor before = image.clone();
  const auto width = static_cast<std::size_t>(image.shape()[1]);
  on_pixels(image, [&]<class T>(const PixelRow<T>& row) {
    adjust_sharpness(row, before.data<T>(), width, factor);
  });
}

}  // namespace weir::detail
