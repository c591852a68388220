#include <array>
#include <memory>
#include <string>
#include <utility>

#include <weir/error.hpp>
#include <weir/sample_operator.hpp>

#include "pipeline/operators/columns.hpp"
#include "pipeline/operators/image_link.hpp"
#include "pipeline/operators/scaling.hpp"

namespace weir::detail {
namespace {

constexpr const char* kName = "normalize";
constexpr std::size_t kMostChannels = 4;

/// How the values of one channel lie in a tensor.
struct Layout {
  std::size_t channels;
  std::size_t per_channel;
  bool channels_last;
};

/// Applies `f(channel, value)` to every value.
template <class T, class F>
void for_each_value(const T* in, float* out, const Layout& layout, F&& f) {
  if (!layout.channels_last) {
    for (std::size_t c = 0; c < layout.channels; ++c) {
      for (std::size_t i = 0; i < layout.per_channel; ++i) *out++ = f(c, *in++);
    }
  } else if (layout.channels == 3) {
    for (std::size_t i = 0; i < layout.per_channel; ++i, in += 3, out += 3) {
      out[0] = f(0, in[0]);
      out[1] = f(1, in[1]);
      out[2] = f(2, in[2]);
    }
  } else {
    for (std::size_t i = 0; i < layout.per_channel; ++i) {
      for (std::size_t c = 0; c < layout.channels; ++c) *out++ = f(c, *in++);
    }
  }
}

class Normalize final : public SampleOperator, public ImageLink {
 public:
  Normalize(const Parameters& parameters, std::vector<std::string> columns)
      : scales_(parameters.text("scale") == "unit"), columns_(std::move(columns)) {
    const std::vector<double> means = parameters.numbers("mean");
    const std::vector<double> deviations = parameters.numbers("std");
    channels_ = means.size();
    if (channels_ > kMostChannels) parameters.reject("mean", "an image has at most 4 channels");
    if (deviations.size() != channels_) {
      parameters.reject("std", "it has " + std::to_string(deviations.size()) +
                                   " entries but `mean` has " + std::to_string(channels_));
    }
    for (std::size_t c = 0; c < kMostChannels; ++c) {
      // A single number holds for every channel.
      const double deviation = deviations[channels_ == 1 ? 0 : std::min(c, channels_ - 1)];
      const double mean = means[channels_ == 1 ? 0 : std::min(c, channels_ - 1)];
      factor_[c] = static_cast<float>(1.0 / deviation);
      offset_[c] = static_cast<float>(-mean / deviation);
    }
    for (std::size_t c = 0; c < kMostChannels; ++c) {
      for (std::size_t v = 0; v < table_[c].size(); ++v) {
        const float value = static_cast<float>(v) / (scales_ ? 255.0F : 1.0F);
        table_[c][v] = normalized(c, value);
      }
    }
  }

  void apply(Sample& sample, Context& context) const override {
    for (const std::string& column : columns_) {
      Tensor& image = column_of(sample, kName, column);
      const float divisor = divisor_for(image.dtype(), scales_, kName, column);
      const Layout layout = layout_of(image, column);
      const bool in_place = image.dtype() == DType::f32 && is_own(image);
      Tensor result =
          in_place ? image.share() : result_for(context, column, image.shape(), DType::f32, image);
      float* out = result.data<float>();
      if (image.dtype() == DType::u8) {
        for_each_value(image.data<std::uint8_t>(), out, layout,
                       [this](std::size_t c, std::uint8_t v) { return table_[c][v]; });
      } else if (image.dtype() == DType::u16) {
        for_each_value(image.data<std::uint16_t>(), out, layout,
                       [&](std::size_t c, std::uint16_t v) {
                         return normalized(c, static_cast<float>(v) / divisor);
                       });
      } else {
        for_each_value(image.data<float>(), out, layout,
                       [this](std::size_t c, float v) { return normalized(c, v); });
      }
      image = std::move(result);
    }
  }

  [[nodiscard]] bool cheap() const override { return true; }

  [[nodiscard]] Kind kind() const override { return Kind::value; }
  [[nodiscard]] const std::vector<std::string>& image_columns() const override { return columns_; }
  [[nodiscard]] bool convert(FloatRule& rule, bool as_bytes, int channels) const override {
    if (rule.halves) return false;
    if (channels_ != 1 && channels_ != static_cast<std::size_t>(channels)) return false;
    if (as_bytes && scales_) rule.divisor = 255.0F;
    for (std::size_t c = 0; c < 3; ++c) {
      // Of two normalisations in a row each rounds for itself.
      if (rule.factor[c] != 1.0F || rule.offset[c] != 0.0F) return false;
    }
    for (std::size_t c = 0; c < 3; ++c) {
      rule.factor[c] = factor_[c];
      rule.offset[c] = offset_[c];
    }
    return true;
  }

 private:
  [[nodiscard]] float normalized(std::size_t channel, float value) const {
    // A product and a sum, as the image kernel does it: no division a value, and the same bytes.
    return value * factor_[channel] + offset_[channel];
  }

  [[nodiscard]] Layout layout_of(const Tensor& image, const std::string& column) const {
    const Shape& shape = image.shape();
    const auto elements = static_cast<std::size_t>(shape.elements());
    if (shape.rank() == 3) {
      if (channels_ == 1) return {1, elements, true};
      if (shape[2] == static_cast<std::int64_t>(channels_)) {
        return {channels_, elements / channels_, true};
      }
      if (shape[0] == static_cast<std::int64_t>(channels_)) {
        return {channels_, elements / channels_, false};
      }
    }
    throw Error(ErrorKind::usage, kName,
                "column '" + column + "' has shape " + shape.text() + ", needed is an image of " +
                    std::to_string(channels_) + " channels, as many as `mean` has entries");
  }

  bool scales_;
  std::size_t channels_ = 0;
  std::array<float, kMostChannels> factor_{};  ///< 1 / std
  std::array<float, kMostChannels> offset_{};  ///< -mean / std
  /// The result for each value of a u8: the division is done 256 times, not once a pixel.
  std::array<std::array<float, 256>, kMostChannels> table_{};
  std::vector<std::string> columns_;
};

}  // namespace

OperatorSpec normalize_spec() {
  return {.name = kName,
          .summary = "subtracts the mean and divides by the deviation of each channel, to f32",
          .parameters = {{.name = "mean",
                          .type = ParameterType::numbers,
                          .meaning = "one number a channel, or one for all"},
                         {.name = "std",
                          .type = ParameterType::numbers,
                          .low = 1e-12,
                          .meaning = "as many as `mean`"},
                         scale_spec()},
          .make = [](const Parameters& parameters, const std::vector<std::string>& columns) {
            return SampleMap(
                std::make_shared<const Normalize>(parameters, columns_or(columns, "image")));
          }};
}

}  // namespace weir::detail
