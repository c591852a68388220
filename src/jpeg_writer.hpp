#pragma once

#include <cstdint>
#include <vector>

namespace weir::detail {

/// `rgb`, width * height * 3 bytes, as a baseline JPEG with halved chroma. The whole-number
/// transform, so that the bytes are the same on any machine with the same libjpeg. Throws
/// Error(cannot) when libjpeg refuses.
[[nodiscard]] std::vector<std::uint8_t> write_jpeg(const std::uint8_t* rgb, int width, int height,
                                                   int quality);

}  // namespace weir::detail
