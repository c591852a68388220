#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <weir/operators.hpp>
#include <weir/random.hpp>

#include "pipeline/operators/extent.hpp"
#include "pipeline/operators/image_decoder.hpp"
#include "pipeline/operators/raster.hpp"
#include "pipeline/operators/row_kernels.hpp"

/// What operators on images say of themselves, so that one kernel can do the work of a chain of
/// them.
namespace weir::detail {

/// Which pixels of the upright picture make the result, and how. Operators that move pixels change
/// it one after another, as they would the picture.
struct ImageFrame {
  std::int64_t height = 0;  ///< of the picture
  std::int64_t width = 0;
  Region region;  ///< of the picture
  bool resampled = false;
  Extent target;  ///< once resampled: what the region is resampled to
  Region window;  ///< once resampled: the part of the target that is kept
  Filter filter;
  bool left_right = false;   ///< both rectangles are counted in the picture mirrored like this
  bool upside_down = false;  ///< likewise

  /// What an operator would find: the picture so far.
  [[nodiscard]] const Region& current() const { return resampled ? window : region; }
  /// Keeps a part of the picture so far. Requires: it lies inside.
  void keep(const Region& part) {
    Region& now = resampled ? window : region;
    now = {now.top + part.top, now.left + part.left, part.height, part.width};
  }
  /// Requires: not resampled yet.
  void resample_to(const Extent& extent, const Filter& by) {
    resampled = true;
    target = extent;
    window = {0, 0, extent.height, extent.width};
    filter = by;
  }
  void mirror_left_right() {
    region.left = width - region.left - region.width;
    window.left = target.width - window.left - window.width;
    left_right = !left_right;
  }
  void mirror_upside_down() {
    region.top = height - region.top - region.height;
    window.top = target.height - window.top - window.height;
    upside_down = !upside_down;
  }
};

/// An operator that the image kernel knows. Implemented beside SampleOperator.
class ImageLink {
 public:
  enum class Kind : std::uint8_t {
    decode,  ///< bytes to pixels; begins a chain
    move,    ///< cuts, resizes or mirrors: changes an ImageFrame
    value,   ///< pixels to floats: changes a FloatRule
    layout,  ///< channels last to channels first
  };
  virtual ~ImageLink() = default;
  [[nodiscard]] virtual Kind kind() const = 0;
  [[nodiscard]] virtual const std::vector<std::string>& image_columns() const = 0;
  /// decode: how.
  [[nodiscard]] virtual const DecodeRules* decode_rules() const { return nullptr; }
  /// move: false where the plain operator would do more than that, as add a border.
  [[nodiscard]] virtual bool move(ImageFrame&, Random&) const { return false; }
  /// move: true for what resamples pictures, of which a kernel takes one.
  [[nodiscard]] virtual bool resamples() const { return false; }
  /// move: true for what only mirrors.
  [[nodiscard]] virtual bool mirrors() const { return false; }
  /// value: adds itself to what is done with values so far; false where that is not a FloatRule.
  /// `as_bytes`: nothing was done so far. `channels` 1 or 3.
  [[nodiscard]] virtual bool convert(FloatRule&, bool /*as_bytes*/, int /*channels*/) const {
    return false;
  }
};

}  // namespace weir::detail
