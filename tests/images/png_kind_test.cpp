// PNGs of every depth, interlace and kind of transparency.
#include <cmath>
#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/images/hand_made_files.hpp"
#include "tests/images/operator_call.hpp"

namespace weir::test {
namespace {

constexpr std::uint32_t kWidth = 19;
constexpr std::uint32_t kHeight = 13;

/// Any samples, but always the same.
std::uint32_t noise(std::uint32_t y, std::uint32_t x, std::uint32_t c, int bits) {
  std::uint32_t value = (y * 131 + x * 17 + c * 7919 + 5) * 2654435761U;
  value ^= value >> 15U;
  return value & ((1U << static_cast<unsigned>(bits)) - 1);
}

Tensor decoded(const Bytes& file, const Written& written) {
  return apply_to_image(make_operator("decode", written), file_tensor(file));
}

std::uint32_t at(const Tensor& image, std::uint32_t y, std::uint32_t x, std::uint32_t c) {
  const auto i = static_cast<std::int64_t>(y * kWidth + x) * image.shape()[2] + c;
  return image.dtype() == DType::u8 ? image.data<std::uint8_t>()[i]
                                    : image.data<std::uint16_t>()[i];
}

/// What a sample of `bits` bits is in 8: stretched, or the nearest of 16.
std::uint32_t in_bytes(std::uint32_t sample, int bits) {
  if (bits == 16) return (sample + 128) / 257;
  return sample * 255 / ((1U << static_cast<unsigned>(bits)) - 1);
}

struct Kind {
  int colour_type;
  int bits;
  bool has_transparency;  ///< by a chunk of its own
};
std::vector<Kind> kinds() {
  std::vector<Kind> all;
  for (const bool transparency : {false, true}) {
    for (const int bits : {1, 2, 4, 8, 16}) all.push_back({0, bits, transparency});
    for (const int bits : {8, 16}) all.push_back({2, bits, transparency});
    for (const int bits : {1, 2, 4, 8}) all.push_back({3, bits, transparency});
  }
  for (const int type : {4, 6})
    for (const int bits : {8, 16}) all.push_back({type, bits, false});
  return all;
}

/// Red, green, blue and opacity of every pixel by the definition of the format, in the png's bits
/// (a palette's in 8).
struct Reference {
  Kind kind;
  Bytes palette;
  Bytes opacities;
  std::uint32_t most = 255;

  [[nodiscard]] std::uint32_t value(std::uint32_t y, std::uint32_t x, std::uint32_t c) const {
    const auto sample = [&](std::uint32_t i) { return noise(y, x, i, kind.bits); };
    switch (kind.colour_type) {
      case 0:
        if (c < 3) return sample(0);
        return kind.has_transparency && sample(0) == noise(3, 4, 0, kind.bits) ? 0 : most;
      case 2:
        if (c < 3) return sample(c);
        for (std::uint32_t i = 0; i < 3; ++i)
          if (sample(i) != noise(3, 4, i, kind.bits)) return most;
        return kind.has_transparency ? 0 : most;
      case 3:
        if (c < 3) return palette[sample(0) * 3 + c];
        return sample(0) < opacities.size() ? opacities[sample(0)] : most;
      case 4:
        return c < 3 ? sample(0) : sample(1);
      default:
        return sample(c);
    }
  }
};

Reference reference_of(const Kind& kind) {
  Reference reference{kind, {}, {}, 255};
  if (kind.colour_type != 3) {
    reference.most = (1U << static_cast<unsigned>(kind.bits)) - 1;
    return reference;
  }
  for (std::uint32_t i = 0; i < 3U << static_cast<unsigned>(kind.bits); ++i)
    reference.palette.push_back(static_cast<std::uint8_t>(noise(i, 1, 2, 8)));
  if (kind.has_transparency)
    for (std::uint32_t i = 0; i + 1 < 1U << static_cast<unsigned>(kind.bits); ++i)
      reference.opacities.push_back(static_cast<std::uint8_t>(noise(i, 9, 9, 8)));
  return reference;
}

Bytes file_of(const Kind& kind, const Reference& reference, bool interlaced) {
  std::vector<PngChunk> chunks;
  if (kind.colour_type == 3) chunks.push_back({"PLTE", reference.palette});
  if (kind.has_transparency) {
    PngChunk chunk{"tRNS", reference.opacities};
    for (std::uint32_t c = 0; kind.colour_type != 3 && c < (kind.colour_type == 0 ? 1U : 3U); ++c) {
      const std::uint32_t sample = noise(3, 4, c, kind.bits);
      chunk.data.push_back(static_cast<std::uint8_t>(sample >> 8U));
      chunk.data.push_back(static_cast<std::uint8_t>(sample));
    }
    chunks.push_back(std::move(chunk));
  }
  return png_of(
      kWidth, kHeight, kind.bits, kind.colour_type,
      [&](std::uint32_t y, std::uint32_t x, std::uint32_t c) { return noise(y, x, c, kind.bits); },
      chunks, interlaced);
}

std::string text_of(const Kind& kind, bool interlaced) {
  return "colour type " + std::to_string(kind.colour_type) + ", bits " + std::to_string(kind.bits) +
         (kind.has_transparency ? ", transparency" : "") + (interlaced ? ", interlaced" : "");
}

TEST(PngKind, GivesItsColoursAndOpacity) {
  const Written keep{{"channels", whole(4)}, {"alpha", text("keep")}, {"depth", text("u8")}};
  const Written drop{{"alpha", text("drop")}, {"depth", text("u8")}};
  const Written over{{"background", list({250, 130, 10})}, {"depth", text("u8")}};
  for (const bool interlaced : {false, true}) {
    for (const Kind& kind : kinds()) {
      const std::string name = text_of(kind, interlaced);
      const Reference reference = reference_of(kind);
      const Bytes file = file_of(kind, reference, interlaced);
      const Tensor kept = decoded(file, keep);
      const Tensor dropped = decoded(file, drop);
      const Tensor laid = decoded(file, over);
      const int bits = kind.colour_type == 3 ? 8 : kind.bits;
      const std::uint32_t backgrounds[] = {250, 130, 10};
      ASSERT_EQ(kept.shape(), (Shape{kHeight, kWidth, 4})) << name;
      for (std::uint32_t y = 0; y < kHeight; ++y) {
        for (std::uint32_t x = 0; x < kWidth; ++x) {
          const std::uint32_t opacity = in_bytes(reference.value(y, x, 3), bits);
          ASSERT_EQ(at(kept, y, x, 3), opacity) << name << " at " << y << ", " << x;
          for (std::uint32_t c = 0; c < 3; ++c) {
            const std::uint32_t colour = in_bytes(reference.value(y, x, c), bits);
            ASSERT_EQ(at(kept, y, x, c), colour) << name << " at " << y << ", " << x;
            ASSERT_EQ(at(dropped, y, x, c), colour) << name << " at " << y << ", " << x;
            const double mixed = (colour * opacity + backgrounds[c] * (255.0 - opacity)) / 255.0;
            ASSERT_NEAR(at(laid, y, x, c), mixed, 1.01) << name << " at " << y << ", " << x;
          }
        }
      }
    }
  }
}

TEST(PngKind, OfSixteenBitsIsKeptOrConvertedOnDemandAlone) {
  for (const Kind& kind : kinds()) {
    if (kind.bits != 16) continue;
    const std::string name = text_of(kind, false);
    const Reference reference = reference_of(kind);
    const Bytes file = file_of(kind, reference, false);
    EXPECT_EQ(failure_of([&] { (void)decoded(file, {}); }),
              "16 bits a channel: say `depth: u8` or `depth: keep`")
        << name;
    const Tensor kept =
        decoded(file, {{"channels", whole(4)}, {"alpha", text("keep")}, {"depth", text("keep")}});
    ASSERT_EQ(kept.dtype(), DType::u16) << name;
    for (std::uint32_t y = 0; y < kHeight; ++y)
      for (std::uint32_t x = 0; x < kWidth; ++x)
        for (std::uint32_t c = 0; c < 4; ++c)
          ASSERT_EQ(at(kept, y, x, c), reference.value(y, x, c)) << name;
  }
}

TEST(PngKind, ColourProfilesAndGammaChangeNothing) {
  const auto samples = [](std::uint32_t y, std::uint32_t x, std::uint32_t c) {
    return noise(y, x, c, 8);
  };
  const Tensor bare = decoded(png_of(kWidth, kHeight, 8, 2, samples), {});
  const Tensor marked = decoded(
      png_of(kWidth, kHeight, 8, 2, samples, {{"gAMA", {0, 1, 0x86, 0xa0}}, {"sRGB", {0}}}), {});
  EXPECT_EQ(std::memcmp(bare.bytes(), marked.bytes(), bare.size_bytes()), 0);
}

}  // namespace
}  // namespace weir::test
