#include <initializer_list>
#include <utility>

#include <fmt/format.h>

#include <weir/batch_operators.hpp>
#include <weir/error.hpp>
#include <weir/operators.hpp>

/// The C++ makers turn their options into the values that a pipeline file would give, so that both
/// ways pass the same checks and build the same operators.
namespace weir {
namespace {

using Written = std::map<std::string, Value, std::less<>>;

SampleMap make(const char* name, Written written, const Columns& columns) {
  const OperatorSpec* spec = find_operator(name);
  if (spec == nullptr) {
    throw Error(ErrorKind::cannot, name, "this build of weir lacks the operator");
  }
  // What was left out in C++ is missing, not empty.
  std::erase_if(written, [](const auto& entry) {
    const auto* list = std::get_if<Value::List>(&entry.second.data);
    return list != nullptr && list->empty();
  });
  return spec->make(Parameters(name, spec->parameters, written, Location{}), columns);
}

Value value(bool flag) { return {flag, {}}; }
Value value(std::int64_t number) { return {number, {}}; }
Value value(double number) { return {number, {}}; }
Value value(const NumberList& numbers) {
  Value::List list;
  for (const double number : numbers.values()) list.push_back(value(number));
  return {std::move(list), {}};
}
Value value(const std::array<double, 2>& range) { return value(NumberList(range[0], range[1])); }
/// The name of an enumerator, from its names in order.
template <class E>
Value value(E chosen, std::initializer_list<const char*> names) {
  return {std::string(*(names.begin() + static_cast<std::size_t>(chosen))), {}};
}
Value value(Interpolation chosen) { return value(chosen, {"nearest", "linear", "area", "cubic"}); }
Value value(BorderMode chosen) {
  return value(chosen, {"constant", "edge", "reflect", "symmetric"});
}
Value value(PixelScale chosen) { return value(chosen, {"unit", "none"}); }
Value value(Channels chosen) { return value(chosen, {"keep", "1", "2", "3", "4"}); }
Value value(Alpha chosen) { return value(chosen, {"composite", "drop", "keep"}); }
Value value(Depth chosen) { return value(chosen, {"refuse", "u8", "keep"}); }
Value value(Exif chosen) { return value(chosen, {"apply", "ignore"}); }
Value value(OnDamaged chosen) { return value(chosen, {"fail", "accept"}); }
Value value(Distribution chosen) { return value(chosen, {"constant", "normal", "lognormal"}); }

void set_duration(Written& written, const char* name, const EmulatedTime& time) {
  if (time) written[name] = {fmt::format("{}s", time->count()), {}};
}

Written written_of(const DecodeOptions& options) {
  return {{"channels", value(options.channels)},
          {"alpha", value(options.alpha)},
          {"background", value(options.background)},
          {"depth", value(options.depth)},
          {"exif", value(options.exif)},
          {"on_damaged", value(options.on_damaged)},
          {"max_pixels", value(options.max_pixels)},
          {"max_bytes", value(options.max_bytes)},
          {"max_scans", value(options.max_scans)}};
}

SampleMap make_adjustment(const char* name, const AdjustOptions& options) {
  return make(name,
              {{"factor", value(options.factor)}, {"probability", value(options.probability)}},
              options.columns);
}

}  // namespace

SampleMap decode(const DecodeOptions& options) {
  return make("decode", written_of(options), options.columns);
}

SampleMap random_crop_decode_resize(const RandomCropDecodeResizeOptions& options) {
  Written written = written_of(options.decode);
  written["size"] = value(options.size);
  written["scale"] = value(options.scale);
  written["ratio"] = value(options.ratio);
  written["interpolation"] = value(options.interpolation);
  written["antialias"] = value(options.antialias);
  return make("random_crop_decode_resize", std::move(written), options.decode.columns);
}

SampleMap resize(const ResizeOptions& options) {
  return make("resize",
              {{"size", value(options.size)},
               {"interpolation", value(options.interpolation)},
               {"antialias", value(options.antialias)}},
              options.columns);
}

SampleMap center_crop(const CenterCropOptions& options) {
  return make("center_crop", {{"size", value(options.size)}}, options.columns);
}

SampleMap random_crop(const RandomCropOptions& options) {
  return make("random_crop",
              {{"size", value(options.size)},
               {"padding", value(options.padding)},
               {"pad_if_needed", value(options.pad_if_needed)},
               {"fill", value(options.fill)},
               {"mode", value(options.mode)}},
              options.columns);
}

SampleMap random_resized_crop(const RandomResizedCropOptions& options) {
  return make("random_resized_crop",
              {{"size", value(options.size)},
               {"scale", value(options.scale)},
               {"ratio", value(options.ratio)},
               {"interpolation", value(options.interpolation)},
               {"antialias", value(options.antialias)}},
              options.columns);
}

SampleMap random_horizontal_flip(const RandomFlipOptions& options) {
  return make("random_horizontal_flip", {{"probability", value(options.probability)}},
              options.columns);
}

SampleMap random_vertical_flip(const RandomFlipOptions& options) {
  return make("random_vertical_flip", {{"probability", value(options.probability)}},
              options.columns);
}

SampleMap color_jitter(const ColorJitterOptions& options) {
  return make("color_jitter",
              {{"brightness", value(options.brightness)},
               {"contrast", value(options.contrast)},
               {"saturation", value(options.saturation)},
               {"hue", value(options.hue)}},
              options.columns);
}

SampleMap random_grayscale(const RandomGrayscaleOptions& options) {
  return make("random_grayscale", {{"probability", value(options.probability)}}, options.columns);
}

SampleMap invert(const ChangeOptions& options) {
  return make("invert", {{"probability", value(options.probability)}}, options.columns);
}

SampleMap equalize(const ChangeOptions& options) {
  return make("equalize", {{"probability", value(options.probability)}}, options.columns);
}

SampleMap autocontrast(const AutocontrastOptions& options) {
  return make("autocontrast",
              {{"cutoff", value(options.cutoff)}, {"probability", value(options.probability)}},
              options.columns);
}

SampleMap solarize(const SolarizeOptions& options) {
  return make(
      "solarize",
      {{"threshold", value(options.threshold)}, {"probability", value(options.probability)}},
      options.columns);
}

SampleMap posterize(const PosterizeOptions& options) {
  return make("posterize",
              {{"bits", value(options.bits)}, {"probability", value(options.probability)}},
              options.columns);
}

SampleMap adjust_brightness(const AdjustOptions& options) {
  return make_adjustment("adjust_brightness", options);
}

SampleMap adjust_contrast(const AdjustOptions& options) {
  return make_adjustment("adjust_contrast", options);
}

SampleMap adjust_saturation(const AdjustOptions& options) {
  return make_adjustment("adjust_saturation", options);
}

SampleMap adjust_sharpness(const AdjustOptions& options) {
  return make_adjustment("adjust_sharpness", options);
}

SampleMap adjust_hue(const AdjustHueOptions& options) {
  return make("adjust_hue",
              {{"turn", value(options.turn)}, {"probability", value(options.probability)}},
              options.columns);
}

SampleMap gaussian_blur(const GaussianBlurOptions& options) {
  return make("gaussian_blur",
              {{"kernel_size", value(options.kernel_size)},
               {"sigma", value(options.sigma)},
               {"probability", value(options.probability)}},
              options.columns);
}

SampleMap random_rotation(const RandomRotationOptions& options) {
  return make("random_rotation",
              {{"degrees", value(options.degrees)},
               {"interpolation", value(options.interpolation)},
               {"expand", value(options.expand)},
               {"center", value(options.center)},
               {"fill", value(options.fill)}},
              options.columns);
}

SampleMap random_erasing(const RandomErasingOptions& options) {
  return make("random_erasing",
              {{"probability", value(options.probability)},
               {"scale", value(options.scale)},
               {"ratio", value(options.ratio)},
               {"value", value(options.value)},
               {"noise", value(options.noise)}},
              options.columns);
}

SampleMap cutout(const CutoutOptions& options) {
  return make("cutout",
              {{"length", value(options.length)},
               {"patches", value(options.patches)},
               {"value", value(options.value)}},
              options.columns);
}

SampleMap rand_augment(const RandAugmentOptions& options) {
  return make("rand_augment",
              {{"num_ops", value(options.num_ops)},
               {"magnitude", value(options.magnitude)},
               {"num_magnitude_bins", value(options.num_magnitude_bins)},
               {"interpolation", value(options.interpolation)},
               {"fill", value(options.fill)}},
              options.columns);
}

SampleMap trivial_augment_wide(const TrivialAugmentWideOptions& options) {
  return make("trivial_augment_wide",
              {{"num_magnitude_bins", value(options.num_magnitude_bins)},
               {"interpolation", value(options.interpolation)},
               {"fill", value(options.fill)}},
              options.columns);
}

SampleMap pad(const PadOptions& options) {
  return make("pad",
              {{"padding", value(options.padding)},
               {"fill", value(options.fill)},
               {"mode", value(options.mode)}},
              options.columns);
}

SampleMap pad_to_size(const PadToSizeOptions& options) {
  return make("pad_to_size",
              {{"size", value(options.size)},
               {"offset", value(options.offset)},
               {"fill", value(options.fill)},
               {"mode", value(options.mode)}},
              options.columns);
}

SampleMap to_float(const ToFloatOptions& options) {
  return make(
      "to_float",
      {{"scale", value(options.scale)}, {"type", Value{std::string(name_of(options.type)), {}}}},
      options.columns);
}

SampleMap normalize(const NormalizeOptions& options) {
  return make(
      "normalize",
      {{"mean", value(options.mean)}, {"std", value(options.std)}, {"scale", value(options.scale)}},
      options.columns);
}

SampleMap hwc_to_chw(const HwcToChwOptions& options) {
  return make("hwc_to_chw", {}, options.columns);
}

SampleMap convert_dtype(const ConvertDTypeOptions& options) {
  return make(
      "convert_dtype",
      {{"dtype", Value{std::string(name_of(options.dtype)), {}}}, {"scale", value(options.scale)}},
      options.columns);
}

SampleMap label_map(const LabelMapOptions& options) {
  Written written{{"to", value(options.to)}, {"from", value(options.from)}};
  if (options.other) written["other"] = value(*options.other);
  return make("label_map", std::move(written), options.columns);
}

SampleMap one_hot(const OneHotOptions& options) {
  return make("one_hot",
              {{"classes", value(options.classes)}, {"smoothing", value(options.smoothing)}},
              options.columns);
}

SampleMap emulate(const EmulateOptions& options) {
  Written written{{"cv", value(options.cv)}, {"distribution", value(options.distribution)}};
  set_duration(written, "wait", options.wait);
  set_duration(written, "cpu", options.cpu);
  if (options.stream) written["stream"] = value(*options.stream);
  if (options.limit) written["limit"] = value(*options.limit);
  return make("emulate", std::move(written), {});
}

namespace {

BatchMap make_batch(const char* name, Written written, std::int64_t classes,
                    const Columns& columns) {
  const BatchOperatorSpec* spec = find_batch_operator(name);
  if (classes != 0) written["classes"] = value(classes);
  return spec->make(Parameters(name, spec->parameters, written, Location{}), columns);
}

Written written_of(const MixupOptions& options) {
  return {{"alpha", value(options.alpha)},
          {"probability", value(options.probability)},
          {"labels", {options.labels, {}}}};
}

}  // namespace

BatchMap mixup(const MixupOptions& options) {
  return make_batch("mixup", written_of(options), options.classes, options.columns);
}

BatchMap cutmix(const CutmixOptions& options) {
  return make_batch("cutmix", written_of(options), options.classes, options.columns);
}

BatchMap mixup_or_cutmix(const MixupOrCutmixOptions& options) {
  return make_batch("mixup_or_cutmix",
                    {{"mixup_alpha", value(options.mixup_alpha)},
                     {"cutmix_alpha", value(options.cutmix_alpha)},
                     {"cutmix_share", value(options.cutmix_share)},
                     {"probability", value(options.probability)},
                     {"labels", {options.labels, {}}}},
                    options.classes, options.columns);
}

}  // namespace weir
