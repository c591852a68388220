// Any bytes are a picture within the limits, or a bad sample with a reason, whatever is asked for.
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include <weir/error.hpp>

#include "fuzz/requirement.hpp"
#include "pipeline/operators/image_decoder.hpp"

namespace weir::fuzz {
namespace {

constexpr std::uint64_t kMostPixels = 100'000;

detail::DecodeRules usual() {
  detail::DecodeRules rules;
  rules.max_pixels = kMostPixels;
  rules.max_bytes = 1U << 20U;
  rules.max_scans = 20;
  return rules;
}

std::array<detail::DecodeRules, 3> all_rules() {
  detail::DecodeRules plain = usual();
  detail::DecodeRules keeping = usual();
  keeping.channels = 0;
  keeping.alpha = Alpha::keep;
  keeping.depth = Depth::keep;
  keeping.apply_exif = false;
  keeping.accept_damaged = true;
  detail::DecodeRules grey = usual();
  grey.channels = 1;
  grey.alpha = Alpha::drop;
  grey.depth = Depth::u8;
  return {plain, keeping, grey};
}

void decode(std::span<const std::byte> bytes, const detail::DecodeRules& rules) {
  std::optional<detail::ImageFacts> facts;
  try {
    facts = detail::look_at_image(bytes, rules);
  } catch (const BadSample& bad) {
    require(bad.what() != std::string(), "a bad header has a reason");
  }
  try {
    const detail::DecodedImage image =
        detail::decode_image(bytes, rules, [](const Shape& shape, DType dtype) {
          require(static_cast<std::uint64_t>(shape[0] * shape[1]) <= kMostPixels,
                  "no picture is above max_pixels");
          return Tensor(shape, dtype);
        });
    const Shape& shape = image.tensor.shape();
    require(facts.has_value(), "what decodes has a header");
    require(shape.rank() == 3 && shape[0] == facts->height && shape[1] == facts->width,
            "the picture has the size of its header");
    require(rules.channels == 0 || shape[2] == rules.channels, "as many channels as asked for");
  } catch (const BadSample& bad) {
    require(bad.what() != std::string(), "a bad picture has a reason");
  }
}

}  // namespace
}  // namespace weir::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::array<weir::detail::DecodeRules, 3> all = weir::fuzz::all_rules();
  for (const weir::detail::DecodeRules& rules : all)
    weir::fuzz::decode(std::as_bytes(std::span(data, size)), rules);
  return 0;
}
