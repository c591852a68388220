#pragma once

#include <functional>
#include <string>
#include <vector>

#include <weir/sample_operator.hpp>

#include "pipeline/operators/color.hpp"

namespace weir::detail {

/// Changes the pixels of all its columns where they are, with a probability, by one draw. Masks are
/// left alone: class numbers have no colour.
///
/// Thread safety: as SampleOperator.
class ImageChange final : public SampleOperator {
 public:
  struct Traits {
    const char* name = "";
    bool floats = true;  ///< takes f32 from 0 to 1 beside u8
    bool cheap = false;
  };
  /// Draws from its own copy of the generator, so that each column gets the same numbers.
  using Change = std::function<void(Tensor& image, Random random)>;

  ImageChange(const Traits& traits, double probability, std::vector<std::string> columns,
              Change change);

  void apply(Sample& sample, Context& context) const override;
  [[nodiscard]] bool cheap() const override { return traits_.cheap; }

 private:
  Traits traits_;
  double probability_;
  std::vector<std::string> columns_;
  Change change_;
};

/// The parameter `probability`: how often.
[[nodiscard]] ParameterSpec probability_spec(const char* fallback);

/// The operator whose parameters have a `probability`.
[[nodiscard]] SampleMap image_change(const ImageChange::Traits& traits,
                                     const Parameters& parameters,
                                     const std::vector<std::string>& columns,
                                     ImageChange::Change change);

/// Throws Error for a column whose elements are no u8 or f32.
void require_pixels(const Tensor& image, bool floats, const char* operator_name,
                    const std::string& column);

/// Makes the memory of `image` its own, so that it may be changed in place.
void make_own(Tensor& image, const std::string& column, Context& context);

/// adjust_sharpness() of a whole image of u8 or f32.
void sharpen(Tensor& image, float factor);

/// Calls `f` with all pixels of an image of u8 or f32.
template <class F>
void on_pixels(Tensor& image, F&& f) {
  const auto channels = static_cast<std::size_t>(image.shape()[2]);
  const auto pixels = static_cast<std::size_t>(image.shape()[0] * image.shape()[1]);
  if (image.dtype() == DType::u8)
    f(PixelRow<std::uint8_t>{image.data<std::uint8_t>(), pixels, channels});
  else
    f(PixelRow<float>{image.data<float>(), pixels, channels});
}

/// The same for what takes u8 alone.
[[nodiscard]] inline PixelRow<std::uint8_t> bytes_in(Tensor& image) {
  return {image.data<std::uint8_t>(), static_cast<std::size_t>(image.shape()[0] * image.shape()[1]),
          static_cast<std::size_t>(image.shape()[2])};
}

}  // namespace weir::detail
