#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <weir/export.hpp>
#include <weir/sample_operator.hpp>

/// The built-in operators as C++ functions: `.map("resize", weir::resize({.size = 224}))`. The
/// options have the names, defaults and meanings of the keys in a pipeline file (`weir operators
/// NAME` prints them) and are checked the same way: Error(usage) for a value that is not allowed.
namespace weir {

/// One number or several: `.size = 224`, `.size = {224, 320}`.
class NumberList {
 public:
  NumberList() = default;
  template <class... Numbers>
  requires(sizeof...(Numbers) > 0 && (std::is_arithmetic_v<Numbers> && ...))
      NumberList(Numbers... numbers)
      : values_{static_cast<double>(numbers)...} {}
  NumberList(std::vector<double> numbers) : values_(std::move(numbers)) {}
  [[nodiscard]] const std::vector<double>& values() const { return values_; }

 private:
  std::vector<double> values_;
};

enum class Interpolation : std::uint8_t { nearest, linear, area, cubic };
enum class BorderMode : std::uint8_t { constant, edge, reflect, symmetric };
enum class PixelScale : std::uint8_t { unit, none };
enum class Channels : std::uint8_t { keep = 0, grey = 1, rgb = 3, rgba = 4 };
enum class Alpha : std::uint8_t { composite, drop, keep };
enum class Depth : std::uint8_t { refuse, u8, keep };
enum class Exif : std::uint8_t { apply, ignore };
enum class OnDamaged : std::uint8_t { fail, accept };
enum class Distribution : std::uint8_t { constant, normal, lognormal };

/// The columns to act on; empty: `image` (one_hot, label_map: `label`).
using Columns = std::vector<std::string>;
using EmulatedTime = std::optional<std::chrono::duration<double>>;

struct DecodeOptions {
  Channels channels = Channels::rgb;
  Alpha alpha = Alpha::composite;
  NumberList background = 0;
  Depth depth = Depth::refuse;
  Exif exif = Exif::apply;
  OnDamaged on_damaged = OnDamaged::fail;
  std::int64_t max_pixels = 64'000'000;
  std::int64_t max_bytes = std::int64_t{256} << 20;
  std::int64_t max_scans = 500;
  Columns columns = {};
};
struct ResizeOptions {
  NumberList size;
  Interpolation interpolation = Interpolation::linear;
  bool antialias = false;
  Columns columns = {};
};
struct CenterCropOptions {
  NumberList size;
  Columns columns = {};
};
struct RandomCropOptions {
  NumberList size;
  NumberList padding = 0;
  bool pad_if_needed = false;
  NumberList fill = 0;
  BorderMode mode = BorderMode::constant;
  Columns columns = {};
};
struct RandomResizedCropOptions {
  NumberList size;
  std::array<double, 2> scale = {0.08, 1.0};
  std::array<double, 2> ratio = {3.0 / 4.0, 4.0 / 3.0};
  Interpolation interpolation = Interpolation::linear;
  bool antialias = false;
  Columns columns = {};
};
/// `decode` and `random_resized_crop` in one.
struct RandomCropDecodeResizeOptions {
  NumberList size;
  std::array<double, 2> scale = {0.08, 1.0};
  std::array<double, 2> ratio = {3.0 / 4.0, 4.0 / 3.0};
  Interpolation interpolation = Interpolation::linear;
  bool antialias = false;
  DecodeOptions decode = {};  ///< its columns are those of both
};
struct RandomFlipOptions {
  double probability = 0.5;
  Columns columns = {};
};
struct ColorJitterOptions {
  NumberList brightness = 0;
  NumberList contrast = 0;
  NumberList saturation = 0;
  NumberList hue = 0;
  Columns columns = {};
};
/// Of what changes colours and knows no more than how often: invert, equalize, random_grayscale.
struct ChangeOptions {
  double probability = 1.0;
  Columns columns = {};
};
struct RandomGrayscaleOptions {
  double probability = 0.1;
  Columns columns = {};
};
struct AutocontrastOptions {
  double cutoff = 0.0;
  double probability = 1.0;
  Columns columns = {};
};
struct SolarizeOptions {
  double threshold = 128.0;
  double probability = 1.0;
  Columns columns = {};
};
struct PosterizeOptions {
  std::int64_t bits = 8;
  double probability = 1.0;
  Columns columns = {};
};
/// Of adjust_brightness, adjust_contrast, adjust_saturation, adjust_sharpness.
struct AdjustOptions {
  double factor = 1.0;
  double probability = 1.0;
  Columns columns = {};
};
struct AdjustHueOptions {
  double turn = 0.0;
  double probability = 1.0;
  Columns columns = {};
};
struct GaussianBlurOptions {
  NumberList kernel_size;
  NumberList sigma = {0.1, 2.0};
  double probability = 1.0;
  Columns columns = {};
};
struct RandomRotationOptions {
  NumberList degrees;
  Interpolation interpolation = Interpolation::nearest;
  bool expand = false;
  NumberList center = {};  ///< [x, y]; empty: the middle
  NumberList fill = 0;
  Columns columns = {};
};
struct RandomErasingOptions {
  double probability = 0.5;
  std::array<double, 2> scale = {0.02, 0.33};
  std::array<double, 2> ratio = {0.3, 3.3};
  NumberList value = 0;
  bool noise = false;
  Columns columns = {};
};
struct CutoutOptions {
  std::int64_t length = 0;
  std::int64_t patches = 1;
  NumberList value = 0;
  Columns columns = {};
};
struct RandAugmentOptions {
  std::int64_t num_ops = 2;
  std::int64_t magnitude = 9;
  std::int64_t num_magnitude_bins = 31;
  Interpolation interpolation = Interpolation::nearest;
  NumberList fill = 0;
  Columns columns = {};
};
struct TrivialAugmentWideOptions {
  std::int64_t num_magnitude_bins = 31;
  Interpolation interpolation = Interpolation::nearest;
  NumberList fill = 0;
  Columns columns = {};
};
struct PadOptions {
  NumberList padding;
  NumberList fill = 0;
  BorderMode mode = BorderMode::constant;
  Columns columns = {};
};
struct PadToSizeOptions {
  NumberList size;
  NumberList offset = {};  ///< [top, left]; empty: the middle
  NumberList fill = 0;
  BorderMode mode = BorderMode::constant;
  Columns columns = {};
};
struct ToFloatOptions {
  PixelScale scale = PixelScale::unit;
  DType type = DType::f32;  ///< or f16
  Columns columns = {};
};
struct NormalizeOptions {
  NumberList mean;
  NumberList std;
  PixelScale scale = PixelScale::unit;
  Columns columns = {};
};
struct HwcToChwOptions {
  Columns columns = {};
};
struct ConvertDTypeOptions {
  DType dtype = DType::f32;
  PixelScale scale = PixelScale::unit;
  Columns columns = {};
};
struct LabelMapOptions {
  NumberList to;
  NumberList from = {};  ///< empty: 0, 1, 2 and so on
  std::optional<std::int64_t> other = std::nullopt;
  Columns columns = {};
};
struct OneHotOptions {
  std::int64_t classes = 0;
  double smoothing = 0.0;
  Columns columns = {};
};
/// Exactly one of `wait`, `cpu` and `stream`.
struct EmulateOptions {
  EmulatedTime wait = std::nullopt;
  EmulatedTime cpu = std::nullopt;
  std::optional<std::int64_t> stream = std::nullopt;
  double cv = 0.0;
  Distribution distribution = Distribution::lognormal;
  std::optional<std::int64_t> limit = std::nullopt;
};

[[nodiscard]] WEIR_EXPORT SampleMap decode(const DecodeOptions& options = {});
[[nodiscard]] WEIR_EXPORT SampleMap resize(const ResizeOptions& options);
[[nodiscard]] WEIR_EXPORT SampleMap center_crop(const CenterCropOptions& options);
[[nodiscard]] WEIR_EXPORT SampleMap random_crop(const RandomCropOptions& options);
[[nodiscard]] WEIR_EXPORT SampleMap random_resized_crop(const RandomResizedCropOptions& options);
[[nodiscard]] WEIR_EXPORT SampleMap random_horizontal_flip(const RandomFlipOptions& options = {});
[[nodiscard]] WEIR_EXPORT SampleMap random_vertical_flip(const RandomFlipOptions& options = {});
[[nodiscard]] WEIR_EXPORT SampleMap color_jitter(const ColorJitterOptions& options);
[[nodiscard]] WEIR_EXPORT SampleMap
random_crop_decode_resize(const RandomCropDecodeResizeOptions& options);
[[nodiscard]] WEIR_EXPORT SampleMap random_grayscale(const RandomGrayscaleOptions& options = {});
[[nodiscard]] WEIR_EXPORT SampleMap invert(const ChangeOptions& options = {});
[[nodiscard]] WEIR_EXPORT SampleMap equalize(const ChangeOptions& options = {});
[[nodiscard]] WEIR_EXPORT SampleMap autocontrast(const AutocontrastOptions& options = {});
[[nodiscard]] WEIR_EXPORT SampleMap solarize(const SolarizeOptions& options = {});
[[nodiscard]] WEIR_EXPORT SampleMap posterize(const PosterizeOptions& options);
[[nodiscard]] WEIR_EXPORT SampleMap adjust_brightness(const AdjustOptions& options);
[[nodiscard]] WEIR_EXPORT SampleMap adjust_contrast(const AdjustOptions& options);
[[nodiscard]] WEIR_EXPORT SampleMap adjust_saturation(const AdjustOptions& options);
[[nodiscard]] WEIR_EXPORT SampleMap adjust_sharpness(const AdjustOptions& options);
[[nodiscard]] WEIR_EXPORT SampleMap adjust_hue(const AdjustHueOptions& options);
[[nodiscard]] WEIR_EXPORT SampleMap gaussian_blur(const GaussianBlurOptions& options);
[[nodiscard]] WEIR_EXPORT SampleMap random_rotation(const RandomRotationOptions& options);
[[nodiscard]] WEIR_EXPORT SampleMap random_erasing(const RandomErasingOptions& options = {});
[[nodiscard]] WEIR_EXPORT SampleMap cutout(const CutoutOptions& options);
[[nodiscard]] WEIR_EXPORT SampleMap rand_augment(const RandAugmentOptions& options = {});
[[nodiscard]] WEIR_EXPORT SampleMap
trivial_augment_wide(const TrivialAugmentWideOptions& options = {});
[[nodiscard]] WEIR_EXPORT SampleMap pad(const PadOptions& options);
[[nodiscard]] WEIR_EXPORT SampleMap pad_to_size(const PadToSizeOptions& options);
[[nodiscard]] WEIR_EXPORT SampleMap to_float(const ToFloatOptions& options = {});
[[nodiscard]] WEIR_EXPORT SampleMap normalize(const NormalizeOptions& options);
[[nodiscard]] WEIR_EXPORT SampleMap hwc_to_chw(const HwcToChwOptions& options = {});
[[nodiscard]] WEIR_EXPORT SampleMap convert_dtype(const ConvertDTypeOptions& options);
[[nodiscard]] WEIR_EXPORT SampleMap label_map(const LabelMapOptions& options);
[[nodiscard]] WEIR_EXPORT SampleMap one_hot(const OneHotOptions& options);
[[nodiscard]] WEIR_EXPORT SampleMap emulate(const EmulateOptions& options);

}  // namespace weir
