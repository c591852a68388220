#pragma once

#include <bit>
#include <cstdint>

namespace weir {

/// An IEEE 754 half: the element type f16. Holds the bits; arithmetic is done in floats.
struct Half {
  std::uint16_t bits = 0;
  friend bool operator==(const Half&, const Half&) = default;
};

/// Rounded to the nearest, of two equally near to the even one, as processors do it: from 65520 on
/// infinite, and a NaN stays one with the upper bits of its payload. Without a branch, so that
/// loops over it become vector instructions.
[[nodiscard]] constexpr Half half_of(float value) {
  constexpr std::int32_t kInfinity = 0x7f800000;
  constexpr std::int32_t kBehindLargest = 0x47800000;  // 2^16
  constexpr std::int32_t kLeastNormal = 0x38800000;    // 2^-14
  constexpr std::int32_t kRebias = (127 - 15) << 23;
  constexpr float kSubnormalUnit = 0.5F;  // its last bit counts 2^-24
  const auto bits = std::bit_cast<std::int32_t>(value);
  const std::int32_t magnitude = bits & 0x7fffffff;
  const std::int32_t normal = (magnitude - kRebias + 0xfff + ((magnitude >> 13) & 1)) >> 13;
  // The sum rounds: what a half cannot hold falls off behind the last bit.
  const float sum = std::bit_cast<float>(magnitude) + kSubnormalUnit;
  const std::int32_t subnormal =
      std::bit_cast<std::int32_t>(sum) - std::bit_cast<std::int32_t>(kSubnormalUnit);
  const std::int32_t not_a_number = 0x7e00 | ((magnitude >> 13) & 0x3ff);
  // All bits where the left is less than the right, which are both 0 or more.
  constexpr auto less = [](std::int32_t left, std::int32_t right) { return (left - right) >> 31; };
  constexpr auto choose = [](std::int32_t mask, std::int32_t one, std::int32_t other) {
    return other ^ ((one ^ other) & mask);
  };
  std::int32_t half = choose(less(magnitude, kLeastNormal), subnormal, normal);
  half = choose(less(magnitude, kBehindLargest), half, 0x7c00);
  half = choose(less(kInfinity, magnitude), not_a_number, half);
  return {static_cast<std::uint16_t>(half | ((bits >> 16) & 0x8000))};
}

/// Exact.
[[nodiscard]] constexpr float float_of(Half half) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half.bits & 0x8000) << 16;
  const std::uint32_t exponent = (half.bits >> 10) & 0x1f;
  const std::uint32_t fraction = half.bits & 0x3ff;
  if (exponent == 0) {
    const float magnitude = static_cast<float>(fraction) * 0x1p-24F;
    return sign != 0 ? -magnitude : magnitude;
  }
  const std::uint32_t wide = exponent == 0x1f ? 0xff : exponent + (127 - 15);
  return std::bit_cast<float>(sign | (wide << 23) | (fraction << 13));
}

}  // namespace weir
