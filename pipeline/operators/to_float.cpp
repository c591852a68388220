#include <array>
#include <memory>
#include <utility>

#include <weir/sample_operator.hpp>

#include "pipeline/operators/columns.hpp"
#include "pipeline/operators/image_link.hpp"
#include "pipeline/operators/row_kernels.hpp"
#include "pipeline/operators/scaling.hpp"

namespace weir::detail {
namespace {

constexpr const char* kName = "to_float";

/// Writes `make(pixel / divisor)` for every pixel of u8 or u16.
template <class T, class F>
void convert_pixels(const Tensor& image, float divisor, T* out, F&& make) {
  const auto count = static_cast<std::size_t>(image.shape().elements());
  if (image.dtype() == DType::u8) {
    std::array<T, 256> table{};
    for (std::size_t i = 0; i < table.size(); ++i) table[i] = make(static_cast<float>(i) / divisor);
    const std::uint8_t* in = image.data<std::uint8_t>();
    for (std::size_t i = 0; i < count; ++i) out[i] = table[in[i]];
  } else {
    const std::uint16_t* in = image.data<std::uint16_t>();
    for (std::size_t i = 0; i < count; ++i) out[i] = make(static_cast<float>(in[i]) / divisor);
  }
}

class ToFloat final : public SampleOperator, public ImageLink {
 public:
  ToFloat(bool scales, DType type, std::vector<std::string> columns)
      : scales_(scales), type_(type), columns_(std::move(columns)) {}

  void apply(Sample& sample, Context& context) const override {
    for (const std::string& column : columns_) {
      Tensor& image = column_of(sample, kName, column);
      if (image.dtype() == type_) continue;
      const float divisor = divisor_for(image.dtype(), scales_, kName, column);
      Tensor result = result_for(context, column, image.shape(), type_, image);
      if (type_ == DType::f32)
        convert_pixels(image, divisor, result.data<float>(), [](float value) { return value; });
      else if (image.dtype() == DType::f32)
        row_kernels().to_halves(image.data<float>(), result.data<Half>(),
                                static_cast<std::size_t>(image.shape().elements()));
      else
        convert_pixels(image, divisor, result.data<Half>(), half_of);
      image = std::move(result);
    }
  }

  [[nodiscard]] bool cheap() const override { return true; }

  [[nodiscard]] Kind kind() const override { return Kind::value; }
  [[nodiscard]] const std::vector<std::string>& image_columns() const override { return columns_; }
  [[nodiscard]] bool convert(FloatRule& rule, bool as_bytes, int) const override {
    if (rule.halves) return false;
    if (as_bytes && scales_) rule.divisor = 255.0F;
    rule.halves = type_ == DType::f16;
    return true;
  }

 private:
  bool scales_;
  DType type_;
  std::vector<std::string> columns_;
};

}  // namespace

OperatorSpec to_float_spec() {
  return {.name = kName,
          .summary = "turns u8 or u16 into f32 from 0 to 1, or into f16",
          .parameters = {scale_spec(),
                         {.name = "type",
                          .type = ParameterType::choice,
                          .fallback = "f32",
                          .choices = {"f32", "f16"},
                          .meaning = "f16 rounds to IEEE halves, f32 too; nothing but flips and "
                                     "`hwc_to_chw` takes them then"}},
          .make = [](const Parameters& parameters, const std::vector<std::string>& columns) {
            const DType type = parameters.text("type") == "f16" ? DType::f16 : DType::f32;
            return SampleMap(std::make_shared<const ToFloat>(parameters.text("scale") == "unit",
                                                             type, columns_or(columns, "image")));
          }};
}

}  // namespace weir::detail
