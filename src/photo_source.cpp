#include "src/photo_source.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include <weir/random.hpp>

#include "src/jpeg_writer.hpp"

namespace weir::detail {
namespace {

// What a draw is for; part of its key.
constexpr std::uint64_t kLabelDraw = 1;
constexpr std::uint64_t kBadDraw = 2;
constexpr std::uint64_t kPixelDraw = 3;

/// Whole numbers only, so that every machine draws the same picture: a coarse grid of colours
/// blended linearly (large soft areas, as sky and walls), three discs (edges), and noise (texture).
std::vector<std::uint8_t> draw(int width, int height, std::uint64_t key) {
  constexpr int kGrid = 5;
  Random random(key, kPixelDraw);
  std::uint8_t grid[kGrid + 1][kGrid + 1][3];
  for (auto& row : grid)
    for (auto& point : row)
      for (std::uint8_t& channel : point) channel = static_cast<std::uint8_t>(random.below(256));
  struct Disc {
    int x, y, radius;
    std::uint8_t colour[3];
  };
  Disc discs[3];
  for (Disc& disc : discs) {
    disc.x = static_cast<int>(random.below(static_cast<std::uint64_t>(width)));
    disc.y = static_cast<int>(random.below(static_cast<std::uint64_t>(height)));
    const int side = std::min(width, height);
    disc.radius = 1 + static_cast<int>(random.below(static_cast<std::uint64_t>(side / 4 + 1)));
    for (std::uint8_t& channel : disc.colour)
      channel = static_cast<std::uint8_t>(random.below(256));
  }

  std::vector<std::uint8_t> pixels(static_cast<std::size_t>(width) *
                                   static_cast<std::size_t>(height) * 3);
  std::uint8_t* out = pixels.data();
  std::uint64_t noise = random.bits() | 1U;
  for (int y = 0; y < height; ++y) {
    const int down = y * kGrid * 256 / height;
    for (int x = 0; x < width; ++x) {
      const int across = x * kGrid * 256 / width;
      const auto& top = grid[down >> 8];
      const auto& bottom = grid[(down >> 8) + 1];
      const int left = across >> 8;
      const int fx = across & 255;
      const int fy = down & 255;
      const Disc* inside = nullptr;
      for (const Disc& disc : discs) {
        const int dx = x - disc.x;
        const int dy = y - disc.y;
        if (dx * dx + dy * dy <= disc.radius * disc.radius) inside = &disc;
      }
      // xorshift (Marsaglia 2003): one draw a pixel decides its brightness noise.
      noise ^= noise << 13U;
      noise ^= noise >> 7U;
      noise ^= noise << 17U;
      const int grain = static_cast<int>(noise >> 59U) - 16;
      for (int channel = 0; channel < 3; ++channel) {
        const int above = top[left][channel] * (256 - fx) + top[left + 1][channel] * fx;
        const int below = bottom[left][channel] * (256 - fx) + bottom[left + 1][channel] * fx;
        int value = (above * (256 - fy) + below * fy) >> 16;
        if (inside != nullptr) value = inside->colour[channel];
        *out++ = static_cast<std::uint8_t>(std::clamp(value + grain, 0, 255));
      }
    }
  }
  return pixels;
}

}  // namespace

PhotoSource::PhotoSource(const PhotoSourceOptions& options) : options_(options) {
  for (int i = 0; i < options_.classes; ++i) classes_.push_back(fmt::format("class{}", i));
}

std::uint64_t PhotoSource::key(std::uint64_t sample_id) const {
  return mix_bits(mix_bits(options_.seed) + sample_id);
}

std::int32_t PhotoSource::label(std::uint64_t sample_id) const {
  Random random(key(sample_id), kLabelDraw);
  return static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(options_.classes)));
}

bool PhotoSource::bad(std::uint64_t sample_id) const {
  return Random(key(sample_id), kBadDraw).chance(options_.bad_share);
}

std::string PhotoSource::describe(std::uint64_t sample_id) const {
  return fmt::format("generated photograph {}", sample_id);
}

std::vector<std::uint8_t> PhotoSource::encoded(std::uint64_t sample_id) const {
  const std::uint64_t mine = key(sample_id);
  const int way = bad(sample_id) ? static_cast<int>(mix_bits(mine) % 3) : -1;
  if (way == 1) {
    constexpr char kText[] = "this is no image";
    return {kText, kText + sizeof kText - 1};
  }
  if (way == 2) return {};
  std::vector<std::uint8_t> bytes = write_jpeg(draw(options_.width, options_.height, mine).data(),
                                               options_.width, options_.height, options_.quality);
  if (way == 0) bytes.resize(bytes.size() / 2);
  return bytes;
}

void PhotoSource::make(std::uint64_t sample_id, SlotHeader* out) const {
  const std::vector<std::uint8_t> bytes = encoded(sample_id);
  Tensor image(Shape{static_cast<std::int64_t>(bytes.size())}, DType::u8);
  if (!bytes.empty()) std::memcpy(image.bytes(), bytes.data(), bytes.size());
  Tensor number(Shape{}, DType::i64);
  *number.data<std::int64_t>() = label(sample_id);
  Sample sample;
  sample.set("image", std::move(image));
  sample.set("label", std::move(number));
  static_cast<Slot<Sample>*>(out)->emplace(std::move(sample));
}

}  // namespace weir::detail
