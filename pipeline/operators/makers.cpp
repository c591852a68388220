#include <initializer_list>
#include <utility>

#include <fmt/format.h>

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

}  // namespace

SampleMap decode(const DecodeOptions& options) {
  return make("decode",
              {{"channels", value(options.channels)},
               {"alpha", value(options.alpha)},
               {"background", value(options.background)},
               {"depth", value(options.depth)},
               {"exif", value(options.exif)},
               {"on_damaged", value(options.on_damaged)},
               {"max_pixels", value(options.max_pixels)},
               {"max_bytes", value(options.max_bytes)},
               {"max_scans", value(options.max_scans)}},
              options.columns);
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

SampleMap pad(const PadOptions& options) {
  return make("pad",
              {{"padding", value(options.padding)},
               {"fill", value(options.fill)},
               {"mode", value(options.mode)}},
              options.columns);
}

SampleMap to_float(const ToFloatOptions& options) {
  return make("to_float", {{"scale", value(options.scale)}}, options.columns);
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

SampleMap one_hot(const OneHotOptions& options) {
  return make("one_hot", {{"classes", value(options.classes)}}, options.columns);
}

SampleMap emulate(const EmulateOptions& options) {
  Written written{{"cv", value(options.cv)}, {"distribution", value(options.distribution)}};
  set_duration(written, "wait", options.wait);
  set_duration(written, "cpu", options.cpu);
  if (options.stream) written["stream"] = value(*options.stream);
  if (options.limit) written["limit"] = value(*options.limit);
  return make("emulate", std::move(written), {});
}

}  // namespace weir
