#include "pipeline/operators/image_format.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include <weir/error.hpp>

#include "pipeline/operators/byte_reader.hpp"
#include "pipeline/operators/gif_reader.hpp"

namespace weir::detail {
namespace {

using Bytes = std::span<const std::byte>;
using std::string_view_literals::operator""sv;

BadSample damaged(const std::string& what) { return BadSample("damaged: " + what); }

/// The first directory of a tiff, which is also the form of EXIF data.
class TiffDirectory {
 public:
  explicit TiffDirectory(Bytes bytes)
      : reader_(bytes, /*big_endian=*/ByteReader(bytes).matches(0, "MM")), at_(reader_.u32(4)) {}

  /// Where the values of one tag lie.
  struct Entry {
    std::size_t start = 0;
    std::size_t width = 0;
    std::uint32_t values = 0;
  };

  /// The entry of `tag` if it holds short or long numbers.
  [[nodiscard]] std::optional<Entry> find(std::uint32_t tag) const {
    const std::uint32_t count = reader_.u16(at_);
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::size_t entry = std::size_t{at_} + 2 + std::size_t{12} * i;
      if (!reader_.has(entry, 12)) return std::nullopt;
      if (reader_.u16(entry) != tag) continue;
      const std::uint32_t type = reader_.u16(entry + 2);
      const std::size_t width = type == 3 ? 2 : 4;
      const std::uint32_t values = reader_.u32(entry + 4);
      if ((type != 3 && type != 4) || values == 0) return std::nullopt;
      // What fits into four bytes stands in the entry itself.
      const bool here = std::size_t{values} * width <= 4;
      return Entry{here ? entry + 8 : std::size_t{reader_.u32(entry + 8)}, width, values};
    }
    return std::nullopt;
  }

  [[nodiscard]] std::uint32_t value(const Entry& entry, std::uint32_t index) const {
    const std::size_t place = entry.start + index * entry.width;
    return entry.width == 2 ? reader_.u16(place) : reader_.u32(place);
  }

  [[nodiscard]] std::uint32_t value_or(std::uint32_t tag, std::uint32_t otherwise) const {
    const std::optional<Entry> entry = find(tag);
    return entry ? value(*entry, 0) : otherwise;
  }

  /// True when the pixel data that `offsets` and `counts` name lie inside the file.
  [[nodiscard]] bool holds(std::uint32_t offsets, std::uint32_t counts) const {
    const std::optional<Entry> starts = find(offsets);
    const std::optional<Entry> lengths = find(counts);
    if (!starts || !lengths) return true;
    const std::uint32_t parts = std::min(starts->values, lengths->values);
    if (!reader_.has(starts->start, parts * starts->width)) return false;
    if (!reader_.has(lengths->start, parts * lengths->width)) return false;
    for (std::uint32_t i = 0; i < parts; ++i) {
      if (!reader_.has(value(*starts, i), value(*lengths, i))) return false;
    }
    return true;
  }

  [[nodiscard]] bool complete() const {
    return reader_.has(at_, 2) &&
           reader_.has(std::size_t{at_} + 2, std::size_t{12} * reader_.u16(at_));
  }

 private:
  ByteReader reader_;
  std::uint32_t at_;
};

constexpr std::uint32_t kOrientation = 274;

int orientation_in(const TiffDirectory& directory) {
  const std::uint32_t orientation = directory.value_or(kOrientation, 1);
  return orientation >= 1 && orientation <= 8 ? static_cast<int>(orientation) : 1;
}

/// The orientation in EXIF data, with or without the words "Exif" before it.
int exif_orientation(Bytes bytes) {
  if (ByteReader(bytes).matches(0, "Exif\0\0"sv)) bytes = bytes.subspan(6);
  const ByteReader reader(bytes);
  if (!reader.matches(0, "II*\0"sv) && !reader.matches(0, "MM\0*"sv)) return 1;
  return orientation_in(TiffDirectory(bytes));
}

ImageHeader png_header(Bytes bytes) {
  const ByteReader reader(bytes);
  if (!reader.has(8, 25) || !reader.matches(12, "IHDR")) throw damaged("the png header is cut off");
  ImageHeader header;
  header.width = reader.u32(16);
  header.height = reader.u32(20);
  header.bits = static_cast<int>(reader.u8(24)) == 16 ? 16 : 8;
  const std::uint32_t colour_type = reader.u8(25);
  header.channels = ((colour_type & 2U) != 0 ? 3 : 1) + ((colour_type & 4U) != 0 ? 1 : 0);
  for (std::size_t at = 8; reader.has(at, 12);) {
    const std::size_t length = reader.u32(at);
    if (reader.matches(at + 4, "eXIf"))
      header.orientation = exif_orientation(reader.part(at + 8, length));
    if (reader.matches(at + 4, "tRNS") && (colour_type & 4U) == 0) ++header.channels;
    if (reader.matches(at + 4, "IEND")) return header;
    at += 12 + length;
  }
  throw damaged("the png data ends before its end mark");
}

ImageHeader webp_header(Bytes bytes) {
  const ByteReader reader(bytes, /*big_endian=*/false);
  if (!reader.has(12, 18)) throw damaged("the webp header is cut off");
  if (reader.size() < std::size_t{reader.u32(4)} + 8) {
    throw damaged("the webp data is shorter than its header says");
  }
  ImageHeader header;
  if (reader.matches(12, "VP8 ")) {
    header.width = reader.u16(26) & 0x3fffU;
    header.height = reader.u16(28) & 0x3fffU;
  } else if (reader.matches(12, "VP8L")) {
    const std::uint32_t bits = reader.u32(21);
    header.width = (bits & 0x3fffU) + 1;
    header.height = ((bits >> 14U) & 0x3fffU) + 1;
    if ((bits >> 28U & 1U) != 0) header.channels = 4;
  } else if (reader.matches(12, "VP8X")) {
    constexpr std::uint32_t kAnimated = 0x02;
    constexpr std::uint32_t kOpacity = 0x10;
    if ((reader.u8(20) & kOpacity) != 0) header.channels = 4;
    if ((reader.u8(20) & kAnimated) != 0) throw BadSample("not supported: an animated webp");
    header.width = std::int64_t{reader.u24(24)} + 1;
    header.height = std::int64_t{reader.u24(27)} + 1;
    for (std::size_t at = 12; reader.has(at, 8);) {
      const std::size_t length = reader.u32(at + 4);
      if (reader.matches(at, "EXIF"))
        header.orientation = exif_orientation(reader.part(at + 8, length));
      at += 8 + length + length % 2;
    }
  } else {
    throw damaged("the webp header names no picture");
  }
  return header;
}

ImageHeader bmp_header(Bytes bytes) {
  const ByteReader reader(bytes, /*big_endian=*/false);
  const std::uint32_t header_bytes = reader.u32(14);
  ImageHeader header;
  std::int64_t bits_per_pixel = 0;
  std::uint32_t compression = 0;
  if (header_bytes == 12) {
    if (!reader.has(14, 12)) throw damaged("the bmp header is cut off");
    header.width = reader.u16(18);
    header.height = reader.u16(20);
    bits_per_pixel = reader.u16(24);
  } else {
    if (header_bytes < 36 || !reader.has(14, 36)) throw damaged("the bmp header is cut off");
    header.width = static_cast<std::int32_t>(reader.u32(18));
    header.height = std::abs(std::int64_t{static_cast<std::int32_t>(reader.u32(22))});
    bits_per_pixel = reader.u16(28);
    compression = reader.u32(30);
  }
  constexpr std::uint32_t kPlain = 0;
  constexpr std::uint32_t kMasks = 3;
  if ((compression == kPlain || compression == kMasks) && header.width > 0 &&
      header.width < (1 << 30)) {
    const std::int64_t row_bytes = (header.width * bits_per_pixel + 31) / 32 * 4;
    const std::int64_t room = static_cast<std::int64_t>(reader.size()) - reader.u32(10);
    if (row_bytes > 0 && room / row_bytes < header.height) {
      throw damaged("the bmp data is shorter than its header says");
    }
  }
  return header;
}

ImageHeader tiff_header(Bytes bytes) {
  const ByteReader reader(bytes);
  if (reader.matches(0, "II+\0"sv) || reader.matches(0, "MM\0+"sv)) {
    throw BadSample("not supported: a BigTIFF");
  }
  const TiffDirectory directory(bytes);
  if (!directory.complete()) throw damaged("the tiff directory is cut off");
  ImageHeader header;
  header.width = directory.value_or(256, 0);
  header.height = directory.value_or(257, 0);
  header.bits = static_cast<int>(std::min<std::uint32_t>(directory.value_or(258, 1), 64));
  header.channels = static_cast<int>(std::min<std::uint32_t>(directory.value_or(277, 1), 64));
  constexpr std::uint32_t kPaletteColour = 3;
  if (directory.value_or(262, 1) == kPaletteColour) header.channels = 3;
  header.orientation = orientation_in(directory);
  constexpr std::uint32_t kStripOffsets = 273;
  constexpr std::uint32_t kStripBytes = 279;
  constexpr std::uint32_t kTileWidth = 322;
  constexpr std::uint32_t kTileHeight = 323;
  constexpr std::uint32_t kTileOffsets = 324;
  constexpr std::uint32_t kTileBytes = 325;
  if (const std::int64_t across = directory.value_or(kTileWidth, 0); across > 0) {
    // A tile is decoded whole, however little of the picture it covers.
    header.tile_pixels = across * std::int64_t{directory.value_or(kTileHeight, 0)};
  }
  if (!directory.holds(kStripOffsets, kStripBytes) || !directory.holds(kTileOffsets, kTileBytes)) {
    throw damaged("the tiff data is shorter than its header says");
  }
  return header;
}

/// The next number of a pnm header, past spaces and comments; nullopt at anything else.
std::optional<std::int64_t> pnm_number(const ByteReader& reader, std::size_t* at) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  while (reader.has(*at, 1)) {
    const std::uint32_t c = reader.u8(*at);
    if (c == '#') {
      while (reader.has(*at, 1) && reader.u8(*at) != '\n') ++*at;
    } else if (c == ' ' || (c >= '\t' && c <= '\r')) {
      ++*at;
    } else {
      break;
    }
  }
  std::int64_t number = 0;
  std::size_t digits = 0;
  for (; reader.u8(*at) >= '0' && reader.u8(*at) <= '9'; ++*at, ++digits) {
    number = std::min(kMost, number * 10 + (reader.u8(*at) - '0'));
  }
  if (digits == 0) return std::nullopt;
  return number;
}

ImageHeader pnm_header(Bytes bytes) {
  const ByteReader reader(bytes);
  const std::uint32_t kind = reader.u8(1) - '0';
  std::size_t at = 2;
  const std::optional<std::int64_t> width = pnm_number(reader, &at);
  const std::optional<std::int64_t> height = pnm_number(reader, &at);
  const bool bitmap = kind == 1 || kind == 4;
  const std::optional<std::int64_t> largest = bitmap ? 1 : pnm_number(reader, &at);
  if (!width || !height || !largest) throw damaged("the pnm header is cut off");
  ImageHeader header{*width, *height, *largest > 255 ? 16 : 8};
  header.channels = kind == 3 || kind == 6 ? 3 : 1;
  if (kind >= 4 && *width > 0) {
    const std::int64_t channels = kind == 6 ? 3 : 1;
    const std::int64_t row_bytes =
        bitmap ? (*width + 7) / 8 : *width * channels * (header.bits / 8);
    const std::int64_t room = static_cast<std::int64_t>(reader.size() - at) - 1;
    if (room / row_bytes < *height) throw damaged("the pnm data is shorter than its header says");
  }
  return header;
}

/// First bytes of things that turn up among images and are none that can be read.
constexpr std::array<std::pair<std::string_view, std::string_view>, 18> kKnown{
    {{"\x1f\x8b"sv, "gzip data"},
     {"PK\x03\x04"sv, "a zip archive"},
     {"\xfd"
      "7zXZ"sv,
      "xz data"},
     {"\x28\xb5\x2f\xfd"sv, "zstd data"},
     {"BZh"sv, "bzip2 data"},
     {"%PDF"sv, "a pdf"},
     {"%!PS"sv, "PostScript"},
     {"8BPS"sv, "a Photoshop file"},
     {"\0\0\x01\0"sv, "an icon file"},
     {"\0\0\0\x0cjP  "sv, "a jpeg 2000"},
     {"\xff\x4f\xff\x51"sv, "a jpeg 2000"},
     {"\xff\x0a"sv, "a jpeg xl"},
     {"\0\0\0\x0cJXL "sv, "a jpeg xl"},
     {"v/1\x01"sv, "an OpenEXR file"},
     {"#?RADIANCE"sv, "a Radiance picture"},
     {"\x89HDF"sv, "an HDF5 file"},
     {"\x93NUMPY"sv, "a numpy array"},
     {"\x7f"
      "ELF"sv,
      "a program"}}};

bool looks_like_text(Bytes bytes) {
  const Bytes begin = ByteReader(bytes).part(0, 256);
  // ASCII without control characters, or bytes that UTF-8 has.
  return std::all_of(begin.begin(), begin.end(), [](std::byte b) {
    const unsigned c = static_cast<unsigned>(b);
    return (c >= 0x20 && c != 0x7f && c < 0xf5) || (c >= '\t' && c <= '\r');
  });
}

/// Requires: a text.
bool is_svg(Bytes bytes) {
  const Bytes begin = ByteReader(bytes).part(0, 1024);
  const std::string_view text(reinterpret_cast<const char*>(begin.data()), begin.size());
  return text.find("<svg") != std::string_view::npos;
}

}  // namespace

const char* name_of(ImageFormat format) {
  switch (format) {
    case ImageFormat::jpeg:
      return "jpeg";
    case ImageFormat::png:
      return "png";
    case ImageFormat::webp:
      return "webp";
    case ImageFormat::bmp:
      return "bmp";
    case ImageFormat::tiff:
      return "tiff";
    case ImageFormat::pnm:
      return "pnm";
    case ImageFormat::gif:
      return "gif";
    case ImageFormat::unknown:
      break;
  }
  return "unknown";
}

ImageFormat sniff(Bytes bytes) {
  const ByteReader reader(bytes);
  if (reader.matches(0, "\xff\xd8\xff"sv)) return ImageFormat::jpeg;
  if (reader.matches(0, "\x89PNG\r\n\x1a\n"sv)) return ImageFormat::png;
  if (reader.matches(0, "RIFF") && reader.matches(8, "WEBP")) return ImageFormat::webp;
  for (const std::string_view magic : {"II*\0"sv, "MM\0*"sv, "II+\0"sv, "MM\0+"sv}) {
    if (reader.matches(0, magic)) return ImageFormat::tiff;
  }
  if (reader.matches(0, "GIF87a") || reader.matches(0, "GIF89a")) return ImageFormat::gif;
  // Two letters are little to go by: the size of the second header must be one that exists.
  if (reader.matches(0, "BM")) {
    const std::uint32_t header_bytes = ByteReader(bytes, /*big_endian=*/false).u32(14);
    if (header_bytes == 12 || (header_bytes >= 16 && header_bytes <= 256)) return ImageFormat::bmp;
  }
  if (reader.u8(0) == 'P' && reader.u8(1) >= '1' && reader.u8(1) <= '6' &&
      (reader.u8(2) == '\n' || reader.u8(2) == ' ' || reader.u8(2) == '\r' ||
       reader.u8(2) == '\t')) {
    return ImageFormat::pnm;
  }
  return ImageFormat::unknown;
}

std::string describe_unknown(Bytes bytes) {
  if (bytes.empty()) return "an empty file";
  const ByteReader reader(bytes);
  for (const auto& [magic, name] : kKnown) {
    if (reader.matches(0, magic)) return std::string(name);
  }
  if (reader.matches(4, "ftypheic") || reader.matches(4, "ftypmif1")) return "a heif picture";
  if (reader.matches(4, "ftypavif")) return "an avif picture";
  if (reader.matches(4, "ftyp")) return "a video";
  if (reader.matches(257, "ustar")) return "a tar archive";
  if (looks_like_text(bytes)) return is_svg(bytes) ? "an svg drawing" : "text";
  std::string text = "unknown data that begins with";
  for (const std::byte b : reader.part(0, 4)) {
    std::array<char, 8> digits{};
    std::snprintf(digits.data(), digits.size(), " %02x", static_cast<unsigned>(b));
    text += digits.data();
  }
  return text;
}

ImageHeader read_header(Bytes bytes, ImageFormat format) {
  ImageHeader header;
  switch (format) {
    case ImageFormat::png:
      header = png_header(bytes);
      break;
    case ImageFormat::webp:
      header = webp_header(bytes);
      break;
    case ImageFormat::bmp:
      header = bmp_header(bytes);
      break;
    case ImageFormat::tiff:
      header = tiff_header(bytes);
      break;
    case ImageFormat::pnm:
      header = pnm_header(bytes);
      break;
    case ImageFormat::gif:
      header = read_gif_header(bytes);
      break;
    case ImageFormat::jpeg:
    case ImageFormat::unknown:
      break;
  }
  if (header.width <= 0 || header.height <= 0) {
    throw damaged(std::string("the ") + name_of(format) + " header gives " +
                  std::to_string(header.width) + "x" + std::to_string(header.height) + " pixels");
  }
  return header;
}

std::vector<std::byte> without_orientation(Bytes tiff) {
  std::vector<std::byte> copy(tiff.begin(), tiff.end());
  const std::optional<TiffDirectory::Entry> entry = TiffDirectory(tiff).find(kOrientation);
  if (!entry || entry->start + entry->width > copy.size()) return copy;
  const bool big_endian = ByteReader(tiff).matches(0, "MM");
  const auto begin = copy.begin() + static_cast<std::ptrdiff_t>(entry->start);
  const auto width = static_cast<std::ptrdiff_t>(entry->width);
  std::fill(begin, begin + width, std::byte{0});
  *(big_endian ? begin + width - 1 : begin) = std::byte{1};
  return copy;
}

int jpeg_orientation(Bytes bytes) {
  const ByteReader reader(bytes);
  constexpr std::uint32_t kApp1 = 0xe1;
  constexpr std::uint32_t kStartOfScan = 0xda;
  for (std::size_t at = 2; reader.u8(at) == 0xff;) {
    const std::uint32_t marker = reader.u8(at + 1);
    if (marker == 0xff) {  // A fill byte.
      ++at;
      continue;
    }
    if (marker == kStartOfScan) break;
    const std::size_t length = reader.u16(at + 2);
    if (length < 2) break;
    if (marker == kApp1 && reader.matches(at + 4, "Exif")) {
      return exif_orientation(reader.part(at + 4, length - 2));
    }
    at += 2 + length;
  }
  return 1;
}

}  // namespace weir::detail
