#include <weir/sample_operator.hpp>

#include <algorithm>

#include "pipeline/operators/raster.hpp"

// One line an operator: `WEIR_OPERATOR(name)` stands for name_spec() in operators/name.cpp.
#define WEIR_OPERATORS                     \
  WEIR_OPERATOR(adjust_brightness)         \
  WEIR_OPERATOR(adjust_contrast)           \
  WEIR_OPERATOR(adjust_hue)                \
  WEIR_OPERATOR(adjust_saturation)         \
  WEIR_OPERATOR(adjust_sharpness)          \
  WEIR_OPERATOR(autocontrast)              \
  WEIR_OPERATOR(center_crop)               \
  WEIR_OPERATOR(color_jitter)              \
  WEIR_OPERATOR(convert_dtype)             \
  WEIR_OPERATOR(cutout)                    \
  WEIR_OPERATOR(decode)                    \
  WEIR_OPERATOR(emulate)                   \
  WEIR_OPERATOR(equalize)                  \
  WEIR_OPERATOR(gaussian_blur)             \
  WEIR_OPERATOR(hwc_to_chw)                \
  WEIR_OPERATOR(invert)                    \
  WEIR_OPERATOR(label_map)                 \
  WEIR_OPERATOR(normalize)                 \
  WEIR_OPERATOR(one_hot)                   \
  WEIR_OPERATOR(pad)                       \
  WEIR_OPERATOR(pad_to_size)               \
  WEIR_OPERATOR(posterize)                 \
  WEIR_OPERATOR(rand_augment)              \
  WEIR_OPERATOR(random_crop)               \
  WEIR_OPERATOR(random_crop_decode_resize) \
  WEIR_OPERATOR(random_erasing)            \
  WEIR_OPERATOR(random_grayscale)          \
  WEIR_OPERATOR(random_horizontal_flip)    \
  WEIR_OPERATOR(random_resized_crop)       \
  WEIR_OPERATOR(random_rotation)           \
  WEIR_OPERATOR(random_vertical_flip)      \
  WEIR_OPERATOR(resize)                    \
  WEIR_OPERATOR(solarize)                  \
  WEIR_OPERATOR(to_float)                  \
  WEIR_OPERATOR(trivial_augment_wide)

namespace weir {
namespace detail {

#define WEIR_OPERATOR(name) OperatorSpec name##_spec();
WEIR_OPERATORS
#undef WEIR_OPERATOR

}  // namespace detail

namespace {

std::vector<OperatorSpec> make_table() {
  // Who looks operators up is about to use OpenCV.
  detail::register_image_thread_pool();
#define WEIR_OPERATOR(name) detail::name##_spec(),
  std::vector<OperatorSpec> table{WEIR_OPERATORS};
#undef WEIR_OPERATOR
  std::sort(table.begin(), table.end(),
            [](const OperatorSpec& a, const OperatorSpec& b) { return a.name < b.name; });
  return table;
}

}  // namespace

SampleOperator::~SampleOperator() = default;

std::vector<detail::ChainPart> SampleOperator::replace(std::span<const detail::ChainLink>) const {
  return {};
}

std::optional<MeasuredWait> SampleOperator::measured_wait() const { return std::nullopt; }

std::span<const OperatorSpec> operator_table() {
  static const std::vector<OperatorSpec> table = make_table();
  return table;
}

const OperatorSpec* find_operator(std::string_view name) {
  for (const OperatorSpec& spec : operator_table()) {
    if (spec.name == name) return &spec;
  }
  return nullptr;
}

}  // namespace weir
