#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>

#include <weir/error.hpp>
#include <weir/sample_operator.hpp>

#include "pipeline/operators/columns.hpp"
#include "pipeline/operators/image_link.hpp"

namespace weir::detail {
namespace {

constexpr const char* kName = "convert_dtype";

template <class T>
constexpr double kWhole = std::is_same_v<T, std::uint8_t>    ? 255
                          : std::is_same_v<T, std::uint16_t> ? 65535
                                                             : 1;

/// Whole numbers are rounded to the nearest and kept inside of what the type holds. To a half by
/// way of a float.
template <class To>
To held(double value) {
  if constexpr (std::is_same_v<To, Half>) {
    return half_of(static_cast<float>(value));
  } else if constexpr (std::is_floating_point_v<To>) {
    return static_cast<To>(value);
  } else {
    if (std::isnan(value)) return 0;
    constexpr auto kLeast = std::numeric_limits<To>::lowest();
    constexpr auto kMost = std::numeric_limits<To>::max();
    if (value <= static_cast<double>(kLeast)) return kLeast;
    if (value >= static_cast<double>(kMost)) return kMost;
    return static_cast<To>(std::nearbyint(value));
  }
}

template <class T>
double number_of(T value) {
  if constexpr (std::is_same_v<T, Half>)
    return float_of(value);
  else
    return static_cast<double>(value);
}

template <class From, class To>
void convert_elements(const Tensor& source, Tensor& target, bool scales) {
  const From* in = source.data<From>();
  To* out = target.data<To>();
  const std::int64_t count = source.shape().elements();
  if constexpr (std::is_same_v<From, std::uint16_t> && std::is_same_v<To, std::uint8_t>) {
    if (scales) {
      // As decode's `depth: u8`.
      for (std::int64_t i = 0; i < count; ++i) out[i] = static_cast<To>((in[i] + 128U) / 257U);
      return;
    }
  }
  if constexpr (std::is_integral_v<From> && std::is_integral_v<To>) {
    // No way over floating point, which does not hold all of i64.
    const auto factor =
        scales && sizeof(From) == 1 && sizeof(To) == 2 ? std::int64_t{257} : std::int64_t{1};
    for (std::int64_t i = 0; i < count; ++i) {
      const auto value = static_cast<std::int64_t>(in[i]) * factor;
      out[i] = static_cast<To>(std::clamp<std::int64_t>(value, std::numeric_limits<To>::lowest(),
                                                        std::numeric_limits<To>::max()));
    }
  } else {
    // A division, so that 255 becomes 1 exactly and `to_float` agrees.
    for (std::int64_t i = 0; i < count; ++i) {
      if constexpr (std::is_integral_v<From> && sizeof(From) <= 2 &&
                    (std::is_same_v<To, float> || std::is_same_v<To, Half>))
        out[i] = held<To>(static_cast<float>(in[i]) /
                          (scales ? static_cast<float>(kWhole<From>) : 1.0F));
      else
        out[i] = held<To>(number_of(in[i]) * (scales ? kWhole<To> / kWhole<From> : 1.0));
    }
  }
}

/// Calls `f` with a value of the type.
template <class F>
void with_type(DType dtype, F&& f) {
  switch (dtype) {
    case DType::u8:
      return f(std::uint8_t{});
    case DType::u16:
      return f(std::uint16_t{});
    case DType::i32:
      return f(std::int32_t{});
    case DType::i64:
      return f(std::int64_t{});
    case DType::f32:
      return f(float{});
    case DType::f64:
      return f(double{});
    case DType::f16:
      return f(Half{});
  }
}

DType dtype_in(const Parameters& parameters) {
  const std::string& text = parameters.text("dtype");
  for (const DType dtype : {DType::u8, DType::u16, DType::i32, DType::i64, DType::f32, DType::f16})
    if (text == name_of(dtype)) return dtype;
  return DType::f64;
}

bool is_pixel(DType dtype) { return dtype == DType::u8 || dtype == DType::u16; }
bool is_float(DType dtype) {
  return dtype == DType::f16 || dtype == DType::f32 || dtype == DType::f64;
}

class ConvertDType final : public SampleOperator, public ImageLink {
 public:
  ConvertDType(const Parameters& parameters, std::vector<std::string> columns)
      : dtype_(dtype_in(parameters)),
        scales_(parameters.text("scale") == "unit"),
        columns_(std::move(columns)) {
    if (scales_ && !is_pixel(dtype_) && !is_float(dtype_))
      parameters.reject("scale", std::string("pixels of ") + name_of(dtype_) +
                                     " have no largest value to scale to; say `scale: none`");
  }

  void apply(Sample& sample, Context& context) const override {
    for (const std::string& column : columns_) {
      Tensor& source = column_of(sample, kName, column);
      if (source.dtype() == dtype_) continue;
      const bool scales = scales_ && !is_mask(column);
      if (scales && !is_pixel(source.dtype()) && !is_float(source.dtype()))
        throw Error(ErrorKind::usage, kName,
                    "column '" + column + "' holds " + name_of(source.dtype()) +
                        ", which has no largest value to scale from; say `scale: none`");
      Tensor result = result_for(context, column, source.shape(), dtype_, source);
      with_type(source.dtype(), [&](auto from) {
        with_type(dtype_, [&](auto to) {
          convert_elements<decltype(from), decltype(to)>(source, result, scales);
        });
      });
      source = std::move(result);
    }
  }

  [[nodiscard]] bool cheap() const override { return true; }

  [[nodiscard]] Kind kind() const override { return Kind::value; }
  [[nodiscard]] const std::vector<std::string>& image_columns() const override { return columns_; }
  [[nodiscard]] bool convert(FloatRule& rule, bool as_bytes, int) const override {
    if (rule.halves || (dtype_ != DType::f32 && dtype_ != DType::f16)) return false;
    if (as_bytes && scales_) rule.divisor = 255.0F;
    rule.halves = dtype_ == DType::f16;
    return true;
  }

 private:
  DType dtype_;
  bool scales_;
  std::vector<std::string> columns_;
};

}  // namespace

OperatorSpec convert_dtype_spec() {
  return {.name = kName,
          .summary = "converts the elements to another type",
          .parameters = {{.name = "dtype",
                          .type = ParameterType::choice,
                          .choices = {"u8", "u16", "i32", "i64", "f16", "f32", "f64"},
                          .meaning = "the type to convert to"},
                         {.name = "scale",
                          .type = ParameterType::choice,
                          .fallback = "unit",
                          .choices = {"unit", "none"},
                          .meaning = "unit takes 255 of u8, 65535 of u16 and 1 of floats for the "
                                     "same; none keeps the numbers; masks are never scaled"}},
          .make = [](const Parameters& parameters, const std::vector<std::string>& columns) {
            return SampleMap(
                std::make_shared<const ConvertDType>(parameters, columns_or(columns, "image")));
          }};
}

}  // namespace weir::detail
