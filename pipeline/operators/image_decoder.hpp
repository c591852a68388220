#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <weir/export.hpp>
#include <weir/operators.hpp>
#include <weir/tensor.hpp>

#include "pipeline/operators/image_format.hpp"

namespace weir::detail {

/// How `decode` was asked to decode.
struct DecodeRules {
  int channels = 3;  ///< 1, 3 or 4; 0: as the file has them
  Alpha alpha = Alpha::composite;
  std::array<double, 3> background{};  ///< under transparent pixels, 0 to 255
  Depth depth = Depth::refuse;
  bool apply_exif = true;
  bool accept_damaged = false;
  std::uint64_t max_pixels = 0;
  std::uint64_t max_bytes = 0;
  int max_scans = 0;
};

/// A decoded picture, rows x columns x channels, and what was odd about the file.
struct DecodedImage {
  Tensor tensor;
  std::vector<std::string> notes;
};

using AllocateImage = std::function<Tensor(const Shape& shape, DType dtype)>;

/// Decodes the bytes of an image file of any known format. Throws BadSample with the reason. Only
/// the final picture is made with `allocate`.
[[nodiscard]] WEIR_EXPORT DecodedImage decode_image(std::span<const std::byte> bytes,
                                                    const DecodeRules& rules,
                                                    const AllocateImage& allocate);

/// What a file tells before its pixels are decoded.
struct ImageFacts {
  ImageFormat format = ImageFormat::unknown;
  std::int64_t height = 0;  ///< upright, where the orientation is applied
  std::int64_t width = 0;
  int channels = 0;  ///< in the file, opacity included
  int bits = 8;      ///< per channel
  bool animated = false;
};

/// Looks at the header alone, with the limits and reasons of decode_image(). Throws BadSample.
[[nodiscard]] WEIR_EXPORT ImageFacts look_at_image(std::span<const std::byte> bytes,
                                                   const DecodeRules& rules);

/// Decodes what is not a jpeg, by libpng, giflib and OpenCV, without applying an orientation.
/// Requires: the header was read and is within the limits.
[[nodiscard]] DecodedImage decode_other(std::span<const std::byte> bytes, ImageFormat format,
                                        const ImageHeader& header, const DecodeRules& rules,
                                        const AllocateImage& allocate);

}  // namespace weir::detail
