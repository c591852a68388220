#include "pipeline/operators/image_decoder.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include <weir/error.hpp>

#include "pipeline/operators/jpeg_reader.hpp"
#include "pipeline/operators/raster.hpp"

namespace weir::detail {
namespace {

/// From this orientation on height and width change places.
constexpr int kFirstTurned = 5;

Shape oriented(const Shape& shape, int orientation) {
  return orientation >= kFirstTurned ? Shape{shape[1], shape[0], shape[2]} : shape;
}

JpegLimits limits_of(const DecodeRules& rules) {
  return {.max_pixels = rules.max_pixels, .max_scans = rules.max_scans};
}

/// Throws BadSample for what is no image, or has too many bytes.
ImageFormat format_of(std::span<const std::byte> bytes, const DecodeRules& rules) {
  // The decoders count in int.
  constexpr std::uint64_t kMostBytes = std::numeric_limits<std::int32_t>::max();
  if (bytes.size() > rules.max_bytes || bytes.size() > kMostBytes) {
    throw BadSample("too many bytes: " + std::to_string(bytes.size()) + " is above max_bytes " +
                    std::to_string(std::min(rules.max_bytes, kMostBytes)));
  }
  const ImageFormat format = sniff(bytes);
  if (format == ImageFormat::unknown) {
    throw BadSample("not an image: " + describe_unknown(bytes));
  }
  return format;
}

/// The header of what is not a jpeg, once it is within the limits.
ImageHeader header_of(std::span<const std::byte> bytes, ImageFormat format,
                      const DecodeRules& rules) {
  const ImageHeader header = read_header(bytes, format);
  const auto pixels =
      static_cast<std::uint64_t>(header.width) * static_cast<std::uint64_t>(header.height);
  if (pixels > rules.max_pixels) {
    throw BadSample("too many pixels: " + std::to_string(header.width) + "x" +
                    std::to_string(header.height) + " is above max_pixels " +
                    std::to_string(rules.max_pixels));
  }
  if (static_cast<std::uint64_t>(header.tile_pixels) > rules.max_pixels) {
    throw BadSample("too many pixels: a tile of " + std::to_string(header.tile_pixels) +
                    " is above max_pixels " + std::to_string(rules.max_pixels));
  }
  return header;
}

DecodedImage decode_jpeg(std::span<const std::byte> bytes, const DecodeRules& rules,
                         const AllocateImage& allocate) {
  JpegReader reader(bytes, limits_of(rules));
  int channels = rules.channels;
  if (channels == 0) channels = rules.alpha == Alpha::keep ? 4 : reader.channels();
  const Shape shape{reader.height(), reader.width(), channels};
  const int orientation = rules.apply_exif ? jpeg_orientation(bytes) : 1;

  DecodedImage image;
  if (orientation == 1) {
    image.tensor = allocate(shape, DType::u8);
    reader.read_pixels(image.tensor.data<std::uint8_t>(), channels, rules.accept_damaged);
  } else {
    const Tensor stored(shape, DType::u8);
    reader.read_pixels(stored.data<std::uint8_t>(), channels, rules.accept_damaged);
    image.tensor = allocate(oriented(shape, orientation), DType::u8);
    orient(stored, orientation, image.tensor);
  }
  image.notes = reader.notes();
  return image;
}

}  // namespace

DecodedImage decode_image(std::span<const std::byte> bytes, const DecodeRules& rules,
                          const AllocateImage& allocate) {
  const ImageFormat format = format_of(bytes, rules);
  if (format == ImageFormat::jpeg) return decode_jpeg(bytes, rules, allocate);

  const ImageHeader header = header_of(bytes, format, rules);
  const int orientation = rules.apply_exif ? header.orientation : 1;
  std::vector<std::byte> unturned;
  if (format == ImageFormat::tiff && header.orientation != 1) {
    unturned = without_orientation(bytes);
    bytes = unturned;
  }
  DecodedImage image;
  if (orientation == 1) {
    image = decode_other(bytes, format, header, rules, allocate);
  } else {
    image = decode_other(bytes, format, header, rules,
                         [](const Shape& shape, DType dtype) { return Tensor(shape, dtype); });
    const Tensor stored = std::move(image.tensor);
    image.tensor = allocate(oriented(stored.shape(), orientation), stored.dtype());
    orient(stored, orientation, image.tensor);
  }
  if (header.animated) image.notes.emplace_back("an animation, of which the first picture counts");
  return image;
}

ImageFacts look_at_image(std::span<const std::byte> bytes, const DecodeRules& rules) {
  ImageFacts facts;
  facts.format = format_of(bytes, rules);
  int orientation = 1;
  if (facts.format == ImageFormat::jpeg) {
    const JpegReader reader(bytes, limits_of(rules));
    facts.height = reader.height();
    facts.width = reader.width();
    facts.channels = reader.channels();
    orientation = jpeg_orientation(bytes);
  } else {
    const ImageHeader header = header_of(bytes, facts.format, rules);
    facts.height = header.height;
    facts.width = header.width;
    facts.channels = header.channels;
    facts.bits = header.bits;
    facts.animated = header.animated;
    orientation = header.orientation;
  }
  if (rules.apply_exif && orientation >= kFirstTurned) std::swap(facts.height, facts.width);
  return facts;
}

}  // namespace weir::detail
