#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <weir/export.hpp>

namespace weir::detail {

enum class ImageFormat : std::uint8_t { jpeg, png, webp, bmp, tiff, pnm, gif, unknown };

[[nodiscard]] WEIR_EXPORT const char* name_of(ImageFormat format);

/// The format by the first bytes; the file's name has no say.
[[nodiscard]] WEIR_EXPORT ImageFormat sniff(std::span<const std::byte> bytes);

/// What bytes of an unknown format look like: "an empty file", "gzip data", "text".
[[nodiscard]] std::string describe_unknown(std::span<const std::byte> bytes);

/// What a file claims about its picture, before anything of it is decoded.
struct ImageHeader {
  std::int64_t width = 0;
  std::int64_t height = 0;
  int bits = 8;                  ///< per channel
  int channels = 3;              ///< opacity counts; 1 for shades of grey
  int orientation = 1;           ///< as EXIF numbers them
  std::int64_t tile_pixels = 0;  ///< of one tile of a tiff that is made of them
  bool animated = false;         ///< more pictures follow, which are not read
};

/// The header of a png, webp, bmp, tiff, pnm or gif. Throws BadSample for one that is cut or not
/// supported, and for pixel data that visibly ends too early. Requires: sniff() gave `format`.
[[nodiscard]] ImageHeader read_header(std::span<const std::byte> bytes, ImageFormat format);

/// A copy of a tiff that says nothing of its orientation: OpenCV applies that of a tiff unasked,
/// and only that. Requires: read_header() accepted it.
[[nodiscard]] std::vector<std::byte> without_orientation(std::span<const std::byte> tiff);

/// The orientation that the EXIF block of a jpeg gives; 1 where there is none.
[[nodiscard]] int jpeg_orientation(std::span<const std::byte> bytes);

}  // namespace weir::detail
