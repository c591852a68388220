#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "pipeline/operators/image_format.hpp"

namespace weir::detail {

/// The first picture of a gif, placed on its screen.
struct GifPicture {
  std::int64_t height = 0;
  std::int64_t width = 0;
  bool transparent = false;          ///< some of it may be
  std::vector<std::uint8_t> pixels;  ///< blue, green, red and opacity, row by row
};

/// The size that the first picture and the screen have together. Goes through every block to the
/// end mark, so that a cut is found wherever it is; throws BadSample for one.
[[nodiscard]] ImageHeader read_gif_header(std::span<const std::byte> bytes);

/// Decodes the first picture by giflib. Where it leaves the screen free the screen is transparent,
/// as browsers have it. Throws BadSample for damage. Requires: read_gif_header() gave `header`.
[[nodiscard]] GifPicture read_gif(std::span<const std::byte> bytes, const ImageHeader& header);

}  // namespace weir::detail
