#pragma once

#include <cstdint>
#include <vector>

#include <weir/tensor.hpp>

#include "pipeline/operators/picture_part.hpp"

namespace weir::detail {

/// What is made of resampled pixels: bytes, floats or halves, channels last or first.
struct PixelLayout {
  bool floats = false;
  bool planes = false;
  FloatRule rule;

  [[nodiscard]] Shape shape(std::int64_t height, std::int64_t width, int channels) const {
    return planes ? Shape{channels, height, width} : Shape{height, width, channels};
  }
  [[nodiscard]] DType dtype() const {
    return !floats ? DType::u8 : rule.halves ? DType::f16 : DType::f32;
  }
};

/// Resamples a part of a picture row by row and writes it as a network takes it.
///
/// Thread safety: belongs to one thread.
class RowRenderer {
 public:
  [[nodiscard]] static RowRenderer& of_this_thread();

  /// `part` must outlive the rendering.
  void begin(const PicturePart& part, const RenderPlan& plan, const PixelLayout& layout,
             Tensor& target);
  /// Resamples up to kRows rows; false: there are no more.
  [[nodiscard]] bool resample();
  /// Writes what was resampled to the target.
  void write();

  static constexpr std::int64_t kRows = 16;

 private:
  void write_floats(const std::uint8_t* in, std::size_t line);
  void write_halves(const std::uint8_t* in, std::size_t line);
  void write_bytes(const std::uint8_t* in, std::size_t line);
  [[nodiscard]] bool planes() const { return layout_.planes && part_->channels == 3; }

  const PicturePart* part_ = nullptr;
  PixelLayout layout_;
  Tensor* target_ = nullptr;
  std::int64_t height_ = 0;
  std::int64_t width_ = 0;
  std::int64_t begun_ = 0;  ///< first row of those resampled
  std::int64_t done_ = 0;   ///< behind the last
  AxisFilter down_;
  AxisFilter across_;
  std::vector<const std::uint8_t*> tap_rows_;
  std::vector<std::int16_t> middle_;
  std::vector<std::uint8_t> rows_;
  std::vector<float> floats_;  ///< of one row, on the way to halves
};

}  // namespace weir::detail
