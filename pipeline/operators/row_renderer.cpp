#include "pipeline/operators/row_renderer.hpp"

#include <algorithm>
#include <cstring>

namespace weir::detail {

RowRenderer& RowRenderer::of_this_thread() {
  thread_local RowRenderer renderer;
  return renderer;
}

void RowRenderer::begin(const PicturePart& part, const RenderPlan& plan, const PixelLayout& layout,
                        Tensor& target) {
  part_ = &part;
  layout_ = layout;
  target_ = &target;
  height_ = plan.out_height();
  width_ = plan.out_width();
  begun_ = done_ = 0;
  down_.build(plan.kind, part.in_cells(plan.rows, true));
  across_.build(plan.kind, part.in_cells(plan.columns, false));
  const std::size_t values = part.row_bytes + kRowSlack;
  if (middle_.size() < values) middle_.resize(values);
  const auto row = static_cast<std::size_t>(width_) * static_cast<std::size_t>(part.channels);
  const std::size_t needed = row * static_cast<std::size_t>(kRows) + kRowSlack;
  if (rows_.size() < needed) rows_.resize(needed);
  if (layout.rule.halves && floats_.size() < row) floats_.resize(row);
}

bool RowRenderer::resample() {
  begun_ = done_;
  if (begun_ == height_) return false;
  done_ = std::min(begun_ + kRows, height_);
  const RowKernels& kernels = row_kernels();
  const std::size_t values = part_->row_bytes;
  const auto pixels = static_cast<std::size_t>(width_);
  std::uint8_t* out = rows_.data();
  const auto row_of = [this](std::int64_t cell) {
    return part_->pixels + static_cast<std::size_t>(cell) * part_->row_bytes;
  };
  for (std::int64_t y = begun_; y < done_; ++y) {
    if (down_.pairs()) {
      const std::int64_t first = down_.first()[y];
      const std::int64_t second = std::min(first + 1, part_->height - 1);
      kernels.blend_pair(row_of(first), row_of(second), down_.pair_weights()[y], middle_.data(),
                         values);
    } else {
      const TapPlace& place = down_.places()[y];
      tap_rows_.clear();
      for (std::int64_t k = 0; k < place.count; ++k) tap_rows_.push_back(row_of(place.first + k));
      kernels.blend_taps(tap_rows_.data(), down_.tap_weights() + place.weights, place.count,
                         middle_.data(), values);
    }
    // The kernels write a little beyond the last pixel: into the next row, which comes later.
    if (across_.pairs())
      kernels.across_pair(middle_.data(), across_.first(), across_.pair_weights(), out, pixels,
                          part_->channels);
    else
      kernels.across_taps(middle_.data(), across_.places(), across_.tap_weights(), out, pixels,
                          part_->channels);
    out += pixels * static_cast<std::size_t>(part_->channels);
  }
  return true;
}

void RowRenderer::write() {
  const std::uint8_t* in = rows_.data();
  const std::size_t row =
      static_cast<std::size_t>(width_) * static_cast<std::size_t>(part_->channels);
  for (std::int64_t y = begun_; y < done_; ++y, in += row) {
    const auto line = static_cast<std::size_t>(y);
    if (!layout_.floats)
      write_bytes(in, line);
    else if (layout_.rule.halves)
      write_halves(in, line);
    else
      write_floats(in, line);
  }
}

void RowRenderer::write_floats(const std::uint8_t* in, std::size_t line) {
  const auto pixels = static_cast<std::size_t>(width_);
  const std::size_t plane = pixels * static_cast<std::size_t>(height_);
  auto* const first = target_->data<float>();
  if (planes()) {
    float* const at = first + line * pixels;
    float* const out[3] = {at, at + plane, at + 2 * plane};
    row_kernels().to_float_planes(in, layout_.rule, out, pixels);
  } else {
    row_kernels().to_floats(in, layout_.rule,
                            first + line * pixels * static_cast<std::size_t>(part_->channels),
                            pixels, part_->channels);
  }
}

void RowRenderer::write_halves(const std::uint8_t* in, std::size_t line) {
  const RowKernels& kernels = row_kernels();
  const auto pixels = static_cast<std::size_t>(width_);
  const std::size_t plane = pixels * static_cast<std::size_t>(height_);
  auto* const first = target_->data<Half>();
  float* const floats = floats_.data();
  if (planes()) {
    float* const out[3] = {floats, floats + pixels, floats + 2 * pixels};
    kernels.to_float_planes(in, layout_.rule, out, pixels);
    for (std::size_t c = 0; c < 3; ++c)
      kernels.to_halves(out[c], first + c * plane + line * pixels, pixels);
  } else {
    const std::size_t values = pixels * static_cast<std::size_t>(part_->channels);
    kernels.to_floats(in, layout_.rule, floats, pixels, part_->channels);
    kernels.to_halves(floats, first + line * values, values);
  }
}

void RowRenderer::write_bytes(const std::uint8_t* in, std::size_t line) {
  const auto pixels = static_cast<std::size_t>(width_);
  const std::size_t plane = pixels * static_cast<std::size_t>(height_);
  const std::size_t row = pixels * static_cast<std::size_t>(part_->channels);
  auto* const first = target_->data<std::uint8_t>();
  if (planes()) {
    std::uint8_t* const at = first + line * pixels;
    std::uint8_t* const out[3] = {at, at + plane, at + 2 * plane};
    row_kernels().to_planes(in, out, pixels);
  } else {
    std::memcpy(first + line * row, in, row);
  }
}

}  // namespace weir::detail
