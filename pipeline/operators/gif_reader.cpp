#include "pipeline/operators/gif_reader.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <string>

#include <gif_lib.h>

#include <weir/error.hpp>

#include "pipeline/operators/byte_reader.hpp"

namespace weir::detail {
namespace {

using Bytes = std::span<const std::byte>;

BadSample damaged(const std::string& what) { return BadSample("damaged: " + what); }

constexpr std::uint32_t kExtension = 0x21;
constexpr std::uint32_t kPicture = 0x2c;
constexpr std::uint32_t kTrailer = 0x3b;

/// Bytes of the colour table that a packed field announces.
std::size_t table_bytes(std::uint32_t packed) {
  return (packed & 0x80U) != 0 ? std::size_t{3} << ((packed & 7U) + 1) : 0;
}

/// Behind the sub-blocks that begin at `at`, or past the end where they do not end.
std::size_t behind_blocks(const ByteReader& reader, std::size_t at) {
  while (reader.has(at, 1) && reader.u8(at) != 0) at += 1 + reader.u8(at);
  return at + 1;
}

/// Where giflib reads from.
struct Place {
  Bytes bytes;
  std::size_t at = 0;
};

int read_bytes(GifFileType* gif, GifByteType* to, int count) {
  Place& place = *static_cast<Place*>(gif->UserData);
  const std::size_t given =
      std::min(static_cast<std::size_t>(std::max(count, 0)), place.bytes.size() - place.at);
  if (given > 0) std::memcpy(to, place.bytes.data() + place.at, given);
  place.at += given;
  return static_cast<int>(given);
}

struct CloseGif {
  void operator()(GifFileType* gif) const {
    int ignored = 0;
    DGifCloseFile(gif, &ignored);
  }
};
using Gif = std::unique_ptr<GifFileType, CloseGif>;

[[noreturn]] void fail(int code) {
  const char* reason = GifErrorString(code);
  throw damaged(std::string("the gif data cannot be decoded: ") +
                (reason == nullptr ? "unknown reason" : reason));
}

/// Goes to the first picture; the index of its transparent colour, -1 for none.
int go_to_picture(GifFileType& gif) {
  int transparent = NO_TRANSPARENT_COLOR;
  while (true) {
    GifRecordType record = UNDEFINED_RECORD_TYPE;
    if (DGifGetRecordType(&gif, &record) == GIF_ERROR) fail(gif.Error);
    if (record == IMAGE_DESC_RECORD_TYPE) {
      if (DGifGetImageDesc(&gif) == GIF_ERROR) fail(gif.Error);
      return transparent;
    }
    if (record != EXTENSION_RECORD_TYPE) throw damaged("the gif holds no picture");
    int code = 0;
    GifByteType* block = nullptr;
    if (DGifGetExtension(&gif, &code, &block) == GIF_ERROR) fail(gif.Error);
    while (block != nullptr) {
      GraphicsControlBlock control{};
      if (code == GRAPHICS_EXT_FUNC_CODE &&
          DGifExtensionToGCB(block[0], block + 1, &control) == GIF_OK)
        transparent = control.TransparentColor;
      if (DGifGetExtensionNext(&gif, &block) == GIF_ERROR) fail(gif.Error);
    }
  }
}

/// The rows of a picture in the order in which they are stored.
std::vector<int> row_order(int rows, bool interlaced) {
  std::vector<int> order;
  order.reserve(static_cast<std::size_t>(rows));
  constexpr std::array<std::array<int, 2>, 4> kPasses{{{0, 8}, {4, 8}, {2, 4}, {1, 2}}};
  if (!interlaced) {
    for (int row = 0; row < rows; ++row) order.push_back(row);
  } else {
    for (const auto& [first, step] : kPasses)
      for (int row = first; row < rows; row += step) order.push_back(row);
  }
  return order;
}

}  // namespace

ImageHeader read_gif_header(Bytes bytes) {
  const ByteReader reader(bytes, /*big_endian=*/false);
  if (!reader.has(0, 13)) throw damaged("the gif header is cut off");
  ImageHeader header;
  std::size_t at = 13 + table_bytes(reader.u8(10));
  int pictures = 0;
  while (reader.has(at, 1)) {
    const std::uint32_t kind = reader.u8(at);
    if (kind == kTrailer) {
      if (pictures == 0) throw damaged("the gif holds no picture");
      header.animated = pictures > 1;
      return header;
    }
    if (kind == kExtension) {
      // What stands before the first picture says whether it has a transparent colour.
      const bool has_control = reader.u8(at + 1) == GRAPHICS_EXT_FUNC_CODE;
      if (pictures == 0 && has_control && (reader.u8(at + 3) & 1U) != 0) header.channels = 4;
      at = behind_blocks(reader, at + 2);
    } else if (kind == kPicture) {
      if (!reader.has(at, 11)) break;
      if (++pictures == 1) {
        // A first picture that is larger than the screen makes the screen larger.
        header.width = std::max(reader.u16(6), reader.u16(at + 1) + reader.u16(at + 5));
        header.height = std::max(reader.u16(8), reader.u16(at + 3) + reader.u16(at + 7));
      }
      at = behind_blocks(reader, at + 11 + table_bytes(reader.u8(at + 9)));
    } else {
      throw damaged("the gif has a block of no known kind");
    }
  }
  throw damaged("the gif data ends before its end mark");
}

GifPicture read_gif(Bytes bytes, const ImageHeader& header) {
  Place place{bytes};
  int error = 0;
  const Gif gif(DGifOpen(&place, &read_bytes, &error));
  if (!gif) fail(error);
  const int transparent = go_to_picture(*gif);
  const GifImageDesc& frame = gif->Image;
  const ColorMapObject* const colours = frame.ColorMap != nullptr ? frame.ColorMap : gif->SColorMap;
  if (colours == nullptr) throw damaged("the gif has no colours");
  if (frame.Width <= 0 || frame.Height <= 0 || frame.Left < 0 || frame.Top < 0 ||
      frame.Left + frame.Width > header.width || frame.Top + frame.Height > header.height)
    throw damaged("the gif picture lies outside of its screen");

  GifPicture picture;
  picture.height = header.height;
  picture.width = header.width;
  picture.transparent = frame.Width < header.width || frame.Height < header.height;
  picture.pixels.resize(static_cast<std::size_t>(header.width * header.height * 4));
  std::vector<GifPixelType> row(static_cast<std::size_t>(frame.Width));
  for (const int y : row_order(frame.Height, frame.Interlace)) {
    if (DGifGetLine(gif.get(), row.data(), frame.Width) == GIF_ERROR) fail(gif->Error);
    std::uint8_t* out = picture.pixels.data() +
                        static_cast<std::size_t>(((frame.Top + y) * header.width + frame.Left) * 4);
    for (const GifPixelType index : row) {
      if (index == transparent) {
        picture.transparent = true;
      } else if (index < colours->ColorCount) {
        const GifColorType& colour = colours->Colors[index];
        out[0] = colour.Blue;
        out[1] = colour.Green;
        out[2] = colour.Red;
        out[3] = 255;
      } else {
        throw damaged("the gif has a colour outside of its table");
      }
      out += 4;
    }
  }
  return picture;
}

}  // namespace weir::detail
