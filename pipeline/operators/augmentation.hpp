#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <weir/operators.hpp>
#include <weir/sample_operator.hpp>

#include "pipeline/operators/columns.hpp"

/// The fourteen changes that RandAugment and TrivialAugment draw from, with the meanings that
/// torchvision gives their magnitudes.
namespace weir::detail {

enum class AugmentationKind : std::uint8_t {
  identity,
  shear_x,
  shear_y,
  translate_x,
  translate_y,
  rotate,
  brightness,
  saturation,
  contrast,
  sharpness,
  posterize,
  solarize,
  autocontrast,
  equalize,
};
inline constexpr std::uint64_t kAugmentationKinds = 14;

/// One change, drawn.
struct Augmentation {
  AugmentationKind kind = AugmentationKind::identity;
  double magnitude = 0;  ///< shear: slope; translate: pixels; rotate: degrees; posterize: bits;
                         ///< solarize: threshold; else the factor's distance from 1
};

/// How far changes go at the largest magnitude.
struct AugmentationReach {
  double shear = 0;
  double translate_pixels = 0;  ///< where `translate_share` is 0
  double translate_share = 0;   ///< of the side
  double rotate_degrees = 0;
  double factor = 0;
  double posterize_bits = 0;  ///< how many are taken away
};

/// A change of this kind at magnitude `bin` of `bins`, with a random sign where it has one.
[[nodiscard]] Augmentation drawn_augmentation(AugmentationKind kind, std::int64_t bin,
                                              std::int64_t bins, const AugmentationReach& reach,
                                              const ImageSize& size, Random& random);

/// What moves pixels looks like at the edge and in between.
struct AugmentationLook {
  Interpolation interpolation = Interpolation::nearest;
  std::vector<double> fill;
};
/// The parameters `interpolation` and `fill`.
[[nodiscard]] std::vector<ParameterSpec> look_specs();
[[nodiscard]] AugmentationLook look_in(const Parameters& parameters);

/// Changes all columns, which are of one size; masks move by nearest and keep their values.
void augment(Sample& sample, Context& context, const std::vector<std::string>& columns,
             const Augmentation& augmentation, const AugmentationLook& look);

/// The size that all columns have; throws Error for a column that is no image of u8.
[[nodiscard]] ImageSize augmentable_size(Sample& sample, const char* operator_name,
                                         const std::vector<std::string>& columns);

}  // namespace weir::detail
