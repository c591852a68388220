#include <array>
#include <memory>
#include <utility>

#include <weir/sample_operator.hpp>

#include "pipeline/operators/columns.hpp"
#include "pipeline/operators/image_link.hpp"
#include "pipeline/operators/scaling.hpp"

namespace weir::detail {
namespace {

constexpr const char* kName = "to_float";

class ToFloat final : public SampleOperator, public ImageLink {
 public:
  ToFloat(bool scales, std::vector<std::string> columns)
      : scales_(scales), columns_(std::move(columns)) {}

  void apply(Sample& sample, Context& context) const override {
    for (const std::string& column : columns_) {
      Tensor& image = column_of(sample, kName, column);
      const float divisor = divisor_for(image.dtype(), scales_, kName, column);
      if (image.dtype() == DType::f32) continue;
      Tensor result = result_for(context, column, image.shape(), DType::f32, image);
      const auto count = static_cast<std::size_t>(image.shape().elements());
      float* out = result.data<float>();
      if (image.dtype() == DType::u8) {
        std::array<float, 256> table{};
        for (std::size_t i = 0; i < table.size(); ++i) table[i] = static_cast<float>(i) / divisor;
        const std::uint8_t* in = image.data<std::uint8_t>();
        for (std::size_t i = 0; i < count; ++i) out[i] = table[in[i]];
      } else {
        const std::uint16_t* in = image.data<std::uint16_t>();
        for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<float>(in[i]) / divisor;
      }
      image = std::move(result);
    }
  }

  [[nodiscard]] bool cheap() const override { return true; }

  [[nodiscard]] Kind kind() const override { return Kind::value; }
  [[nodiscard]] const std::vector<std::string>& image_columns() const override { return columns_; }
  [[nodiscard]] bool convert(FloatRule& rule, bool as_bytes, int) const override {
    if (as_bytes && scales_) rule.divisor = 255.0F;
    return true;
  }

 private:
  bool scales_;
  std::vector<std::string> columns_;
};

}  // namespace

OperatorSpec to_float_spec() {
  return {.name = kName,
          .summary = "turns u8 or u16 into f32 from 0 to 1",
          .parameters = {scale_spec()},
          .make = [](const Parameters& parameters, const std::vector<std::string>& columns) {
            return SampleMap(std::make_shared<const ToFloat>(parameters.text("scale") == "unit",
                                                             columns_or(columns, "image")));
          }};
}

}  // namespace weir::detail
