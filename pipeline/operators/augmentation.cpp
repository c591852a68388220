#include "pipeline/operators/augmentation.hpp"

#include <cmath>
#include <utility>

#include "pipeline/operators/affine.hpp"
#include "pipeline/operators/image_change.hpp"
#include "pipeline/operators/tone.hpp"

namespace weir::detail {
namespace {

bool has_sign(AugmentationKind kind) {
  return kind >= AugmentationKind::shear_x && kind <= AugmentationKind::sharpness;
}

bool moves(AugmentationKind kind) {
  return kind >= AugmentationKind::shear_x && kind <= AugmentationKind::rotate;
}

AffineMap map_of(const Augmentation& augmentation, const ImageSize& size) {
  AffineMap map;
  switch (augmentation.kind) {
    case AugmentationKind::shear_x:
      map.b = augmentation.magnitude;
      break;
    case AugmentationKind::shear_y:
      map.d = augmentation.magnitude;
      break;
    case AugmentationKind::translate_x:
      map.c = -augmentation.magnitude;
      break;
    case AugmentationKind::translate_y:
      map.f = -augmentation.magnitude;
      break;
    default:
      map = rotation(augmentation.magnitude,
                     {static_cast<double>(size.width) / 2, static_cast<double>(size.height) / 2});
  }
  return map;
}

void change_pixels(Tensor& image, const Augmentation& augmentation) {
  const PixelRow<std::uint8_t> row = bytes_in(image);
  const auto factor = static_cast<float>(1.0 + augmentation.magnitude);
  switch (augmentation.kind) {
    case AugmentationKind::brightness:
      return adjust_brightness(row, factor);
    case AugmentationKind::saturation:
      return adjust_saturation(row, factor);
    case AugmentationKind::contrast:
      return adjust_contrast(row, factor);
    case AugmentationKind::sharpness:
      return sharpen(image, factor);
    case AugmentationKind::posterize:
      return posterize(row, static_cast<int>(augmentation.magnitude));
    case AugmentationKind::solarize:
      return solarize(row, static_cast<float>(augmentation.magnitude));
    case AugmentationKind::autocontrast:
      return autocontrast(row, 0);
    case AugmentationKind::equalize:
      return equalize(row);
    default:
      return;
  }
}

}  // namespace

Augmentation drawn_augmentation(AugmentationKind kind, std::int64_t bin, std::int64_t bins,
                                const AugmentationReach& reach, const ImageSize& size,
                                Random& random) {
  const double share = static_cast<double>(bin) / static_cast<double>(bins - 1);
  const auto shift = [&](std::int64_t side) {
    const double most = reach.translate_share > 0
                            ? reach.translate_share * static_cast<double>(side)
                            : reach.translate_pixels;
    return std::floor(share * most);
  };
  Augmentation drawn{kind, share * reach.factor};
  switch (kind) {
    case AugmentationKind::shear_x:
    case AugmentationKind::shear_y:
      drawn.magnitude = share * reach.shear;
      break;
    case AugmentationKind::translate_x:
      drawn.magnitude = shift(size.width);
      break;
    case AugmentationKind::translate_y:
      drawn.magnitude = shift(size.height);
      break;
    case AugmentationKind::rotate:
      drawn.magnitude = share * reach.rotate_degrees;
      break;
    case AugmentationKind::posterize:
      drawn.magnitude = 8 - std::nearbyint(share * reach.posterize_bits);
      break;
    case AugmentationKind::solarize:
      drawn.magnitude = 255 * (1 - share);
      break;
    default:
      break;
  }
  if (has_sign(kind) && random.chance(0.5)) drawn.magnitude = -drawn.magnitude;
  return drawn;
}

std::vector<ParameterSpec> look_specs() {
  return {{.name = "interpolation",
           .type = ParameterType::choice,
           .fallback = "nearest",
           .choices = {"nearest", "linear"},
           .meaning = "how pixels between pixels are made; masks take the nearest"},
          {.name = "fill",
           .type = ParameterType::numbers,
           .fallback = "0",
           .meaning = "value of pixels from beyond the edge, one or one a channel; masks take 0"}};
}

AugmentationLook look_in(const Parameters& parameters) {
  return {
      parameters.text("interpolation") == "linear" ? Interpolation::linear : Interpolation::nearest,
      parameters.numbers("fill")};
}

void augment(Sample& sample, Context& context, const std::vector<std::string>& columns,
             const Augmentation& augmentation, const AugmentationLook& look) {
  if (augmentation.kind == AugmentationKind::identity) return;
  for (const std::string& column : columns) {
    Tensor& image = column_of(sample, "", column);
    const ImageSize size = image_size(image, "", column);
    const bool mask = is_mask(column);
    if (moves(augmentation.kind)) {
      Tensor result = result_for(context, column, image.shape(), image.dtype(), image);
      const AffineMap map = map_of(augmentation, size);
      if (mask)
        warp(image, result, map, Interpolation::nearest, {});
      else
        warp(image, result, map, look.interpolation, look.fill);
      image = std::move(result);
    } else if (!mask) {
      make_own(image, column, context);
      change_pixels(image, augmentation);
    }
  }
}

ImageSize augmentable_size(Sample& sample, const char* operator_name,
                           const std::vector<std::string>& columns) {
  for (const std::string& column : columns)
    if (!is_mask(column))
      require_pixels(column_of(sample, operator_name, column), /*floats=*/false, operator_name,
                     column);
  return common_size(sample, operator_name, columns);
}

}  // namespace weir::detail
