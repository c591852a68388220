#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace weir::detail {

/// The pixels of a png: grey, or blue, green, red, or these and opacity.
struct PngPicture {
  std::int64_t height = 0;
  std::int64_t width = 0;
  int channels = 0;                  ///< 1, 3 or 4
  int bits = 8;                      ///< per channel, 8 or 16
  std::vector<std::uint8_t> pixels;  ///< row by row; 16 bits in the order of the machine
  std::vector<std::string> notes;    ///< what was odd but cost no pixel
};

/// Decodes by libpng: palettes become colours, fewer than 8 bits are stretched to 8, transparency
/// of any kind becomes opacity. Gamma and profiles are ignored. Throws BadSample for damage.
/// Requires: the header is within the limits.
[[nodiscard]] PngPicture read_png(std::span<const std::byte> bytes);

}  // namespace weir::detail
