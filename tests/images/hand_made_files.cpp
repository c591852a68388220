#include "tests/images/hand_made_files.hpp"

#include <array>

namespace weir::test {
namespace {

void put_low_first(Bytes* bytes, std::uint32_t value, int count) {
  for (int i = 0; i < count; ++i) {
    bytes->push_back(static_cast<std::uint8_t>(value));
    value >>= 8U;
  }
}

/// Codes of nine bits, with a clear code so often that they never grow.
Bytes lzw_of(const std::vector<std::uint8_t>& indices) {
  constexpr std::uint32_t kClear = 256;
  constexpr std::uint32_t kEnd = 257;
  constexpr std::size_t kCodesBetweenClears = 200;
  Bytes bytes;
  std::uint32_t waiting = 0;
  int bits = 0;
  const auto put = [&](std::uint32_t code) {
    waiting |= code << static_cast<unsigned>(bits);
    for (bits += 9; bits >= 8; bits -= 8) {
      bytes.push_back(static_cast<std::uint8_t>(waiting));
      waiting >>= 8U;
    }
  };
  for (std::size_t i = 0; i < indices.size(); ++i) {
    if (i % kCodesBetweenClears == 0) put(kClear);
    put(indices[i]);
  }
  put(kEnd);
  if (bits > 0) bytes.push_back(static_cast<std::uint8_t>(waiting));
  return bytes;
}

/// The packed field of a colour table.
std::uint8_t table_field(const Bytes& colours) {
  if (colours.empty()) return 0;
  unsigned power = 0;
  while ((std::size_t{2} << power) < colours.size() / 3) ++power;
  return static_cast<std::uint8_t>(0x80U | power);
}

void put_frame(Bytes* file, const GifFrame& frame) {
  if (frame.transparent >= 0) {
    for (const int byte : {0x21, 0xf9, 4, 1, 0, 0, frame.transparent, 0})
      file->push_back(static_cast<std::uint8_t>(byte));
  }
  file->push_back(0x2c);
  for (const int value : {frame.left, frame.top, frame.width, frame.height})
    put_low_first(file, static_cast<std::uint32_t>(value), 2);
  file->push_back(
      static_cast<std::uint8_t>(table_field(frame.colours) | (frame.interlaced ? 0x40U : 0U)));
  file->insert(file->end(), frame.colours.begin(), frame.colours.end());
  std::vector<std::uint8_t> indices;
  const auto put_row = [&](int row) {
    const auto begin = frame.indices.begin() + row * frame.width;
    indices.insert(indices.end(), begin, begin + frame.width);
  };
  constexpr std::array<std::array<int, 2>, 4> kPasses{{{0, 8}, {4, 8}, {2, 4}, {1, 2}}};
  for (const auto& [first, step] : kPasses)
    for (int row = first; frame.interlaced && row < frame.height; row += step) put_row(row);
  for (int row = 0; !frame.interlaced && row < frame.height; ++row) put_row(row);
  const Bytes codes = lzw_of(indices);
  file->push_back(8);
  for (std::size_t at = 0; at < codes.size(); at += 255) {
    const std::size_t count = std::min<std::size_t>(255, codes.size() - at);
    file->push_back(static_cast<std::uint8_t>(count));
    file->insert(file->end(), codes.begin() + static_cast<std::ptrdiff_t>(at),
                 codes.begin() + static_cast<std::ptrdiff_t>(at + count));
  }
  file->push_back(0);
}

std::uint32_t channels_of(int colour_type) {
  switch (colour_type) {
    case 2:
      return 3;
    case 4:
      return 2;
    case 6:
      return 4;
    default:
      return 1;
  }
}

}  // namespace

Bytes gif_file(int width, int height, const Bytes& colours, const std::vector<GifFrame>& frames) {
  Bytes file{'G', 'I', 'F', '8', '9', 'a'};
  put_low_first(&file, static_cast<std::uint32_t>(width), 2);
  put_low_first(&file, static_cast<std::uint32_t>(height), 2);
  file.push_back(table_field(colours));
  file.push_back(0);
  file.push_back(0);
  file.insert(file.end(), colours.begin(), colours.end());
  for (const GifFrame& frame : frames) put_frame(&file, frame);
  file.push_back(0x3b);
  return file;
}

Bytes png_of(std::uint32_t width, std::uint32_t height, int bits, int colour_type,
             const PngSamples& samples, const std::vector<PngChunk>& extra, bool interlaced) {
  struct Pass {
    std::uint32_t left, top, across, down;
  };
  constexpr std::array<Pass, 7> kPasses{{{0, 0, 8, 8},
                                         {4, 0, 8, 8},
                                         {0, 4, 4, 8},
                                         {2, 0, 4, 4},
                                         {0, 2, 2, 4},
                                         {1, 0, 2, 2},
                                         {0, 1, 1, 2}}};
  const std::vector<Pass> passes = interlaced ? std::vector<Pass>(kPasses.begin(), kPasses.end())
                                              : std::vector<Pass>{{0, 0, 1, 1}};
  Bytes rows;
  for (const Pass& pass : passes) {
    if (pass.left >= width) continue;
    for (std::uint32_t y = pass.top; y < height; y += pass.down) {
      rows.push_back(0);
      std::uint32_t waiting = 0;
      int filled = 0;
      for (std::uint32_t x = pass.left; x < width; x += pass.across) {
        for (std::uint32_t c = 0; c < channels_of(colour_type); ++c) {
          const std::uint32_t sample = samples(y, x, c);
          if (bits == 16) rows.push_back(static_cast<std::uint8_t>(sample >> 8U));
          waiting = waiting << static_cast<unsigned>(bits == 16 ? 8 : bits) | (sample & 0xffU);
          filled += bits == 16 ? 8 : bits;
          if (filled < 8) continue;
          rows.push_back(static_cast<std::uint8_t>(waiting));
          filled = 0;
        }
      }
      if (filled > 0)
        rows.push_back(static_cast<std::uint8_t>(waiting << static_cast<unsigned>(8 - filled)));
    }
  }
  return png_file(width, height, bits, colour_type, rows, extra, interlaced);
}

Bytes bmp_file(std::int32_t width, std::int32_t height, int bits, const Bytes& rows,
               const Bytes& palette, std::uint32_t compression) {
  Bytes file{'B', 'M'};
  constexpr std::uint32_t kHeaders = 14 + 40;
  const std::uint32_t pixels_at = kHeaders + static_cast<std::uint32_t>(palette.size());
  put_low_first(&file, pixels_at + static_cast<std::uint32_t>(rows.size()), 4);
  put_low_first(&file, 0, 4);
  put_low_first(&file, pixels_at, 4);
  put_low_first(&file, 40, 4);
  put_low_first(&file, static_cast<std::uint32_t>(width), 4);
  put_low_first(&file, static_cast<std::uint32_t>(height), 4);
  put_low_first(&file, 1, 2);
  put_low_first(&file, static_cast<std::uint32_t>(bits), 2);
  put_low_first(&file, compression, 4);
  put_low_first(&file, static_cast<std::uint32_t>(rows.size()), 4);
  put_low_first(&file, 2835, 4);
  put_low_first(&file, 2835, 4);
  put_low_first(&file, static_cast<std::uint32_t>(palette.size() / 4), 4);
  put_low_first(&file, 0, 4);
  file.insert(file.end(), palette.begin(), palette.end());
  file.insert(file.end(), rows.begin(), rows.end());
  return file;
}

}  // namespace weir::test
