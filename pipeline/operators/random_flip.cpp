#include "pipeline/operators/random_flip.hpp"

#include <utility>

#include "pipeline/operators/columns.hpp"
#include "pipeline/operators/raster.hpp"

namespace weir::detail {

RandomFlip::RandomFlip(const char* name, bool left_to_right, double probability,
                       std::vector<std::string> columns)
    : name_(name),
      left_to_right_(left_to_right),
      probability_(probability),
      columns_(std::move(columns)) {}

void RandomFlip::apply(Sample& sample, Context& context) const {
  const bool flips = context.random().chance(probability_);
  for (const std::string& column : columns_) {
    Tensor& image = column_of(sample, name_, column);
    // Checked also when nothing is done, so that a mistake shows at the first sample.
    (void)image_size(image, name_, column);
    if (!flips) continue;
    if (is_own(image)) {
      mirror(image, image, left_to_right_);
    } else {
      Tensor result = result_for(context, column, image.shape(), image.dtype(), image);
      mirror(image, result, left_to_right_);
      image = std::move(result);
    }
  }
}

bool RandomFlip::move(ImageFrame& frame, Random& random) const {
  if (!random.chance(probability_)) return true;
  if (left_to_right_)
    frame.mirror_left_right();
  else
    frame.mirror_upside_down();
  return true;
}

ParameterSpec RandomFlip::probability_spec() {
  return {.name = "probability",
          .type = ParameterType::share,
          .fallback = "0.5",
          .low = 0,
          .high = 1,
          .meaning = "how often"};
}

}  // namespace weir::detail
