#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <weir/tensor.hpp>

/// Pictures and image files that the tests make for themselves.
namespace weir::test {

using Bytes = std::vector<std::uint8_t>;

/// A smooth picture with some noise, so that jpeg keeps it and crops differ: rows x columns x
/// channels.
Tensor picture(std::int64_t height, std::int64_t width, std::int64_t channels = 3,
               unsigned seed = 1);

/// Like a photograph: most of its detail is coarse, some is fine, and colours follow brightness.
Tensor photograph(std::int64_t height, std::int64_t width, std::int64_t channels = 3,
                  unsigned seed = 1);

/// The bytes of a file as `read` gives them.
Tensor file_tensor(const Bytes& bytes);

struct JpegWriting {
  int quality = 90;
  bool progressive = false;
  bool arithmetic = false;
  int restart_rows = 0;
  bool ycck = false;          ///< for four channels
  bool adobe_marker = true;   ///< for four channels
  bool rgb = false;           ///< three channels are stored as they are
  Bytes app1 = {};            ///< put into an APP1 marker
  int brightness_across = 2;  ///< samples of brightness for one of colour, for three channels
  int brightness_down = 2;
};

/// A jpeg of 1 (grey), 3 (RGB) or 4 (inks) channels.
Bytes jpeg_file(const Tensor& image, const JpegWriting& writing = {});

/// EXIF data with nothing but an orientation.
Bytes exif_orientation(int orientation, bool big_endian = false);

/// One chunk of a png.
struct PngChunk {
  std::string type;
  Bytes data;
};
/// A png of the given header and raw rows (each with its filter byte), written without compression.
/// `extra` goes before the picture data. `interlaced`: the rows are those of the seven passes.
Bytes png_file(std::uint32_t width, std::uint32_t height, int bits, int colour_type,
               const Bytes& rows, const std::vector<PngChunk>& extra = {}, bool interlaced = false);

/// A grey tiff in one strip, with an orientation.
Bytes tiff_file(std::uint32_t width, std::uint32_t height, const Bytes& pixels, int orientation,
                bool big_endian);

/// What OpenCV writes for `extension`, from RGB, RGBA or grey.
Bytes opencv_file(const std::string& extension, const Tensor& image);
/// What OpenCV reads, as RGB, RGBA or grey, without applying an orientation.
Tensor opencv_read(const Bytes& bytes);

}  // namespace weir::test
