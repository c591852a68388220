#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "tests/images/pictures.hpp"

/// Files of kinds that no library at hand writes, byte by byte.
namespace weir::test {

/// One picture of a gif.
struct GifFrame {
  int left = 0;
  int top = 0;
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> indices;  ///< into the colours, row by row
  bool interlaced = false;
  int transparent = -1;  ///< this index shows what lies below
  Bytes colours = {};    ///< of its own, red, green, blue each; empty: those of the file
};

/// A gif; `colours` has 2 to 256 colours, a power of two.
Bytes gif_file(int width, int height, const Bytes& colours, const std::vector<GifFrame>& frames);

/// The samples of a png: row, column, channel to a number of the png's bits.
using PngSamples = std::function<std::uint32_t(std::uint32_t y, std::uint32_t x, std::uint32_t c)>;
/// A png of any colour type and depth, interlaced or not.
Bytes png_of(std::uint32_t width, std::uint32_t height, int bits, int colour_type,
             const PngSamples& samples, const std::vector<PngChunk>& extra = {},
             bool interlaced = false);

/// A bmp without compression or, with `compression`, of the rows as given. `palette`: blue, green,
/// red and 0 each. A negative height: rows from the top.
Bytes bmp_file(std::int32_t width, std::int32_t height, int bits, const Bytes& rows,
               const Bytes& palette = {}, std::uint32_t compression = 0);

}  // namespace weir::test
