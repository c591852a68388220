#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include <weir/parameters.hpp>

/// Sizes and paddings as users write them: one number, or one for each side.
namespace weir::detail {

struct Extent {
  std::int64_t height = 0;
  std::int64_t width = 0;
};

/// Whole numbers in `name`; throws Error(usage) for a fraction or more than `most` of them.
[[nodiscard]] std::vector<std::int64_t> whole_numbers_in(const Parameters& parameters,
                                                         std::string_view name, std::size_t most);

/// `224` (a square) or `[height, width]`.
[[nodiscard]] Extent extent_in(const Parameters& parameters, std::string_view name);

struct Padding {
  std::int64_t left = 0;
  std::int64_t top = 0;
  std::int64_t right = 0;
  std::int64_t bottom = 0;
};

/// `4` on every side, `[4, 8]` left and right, top and bottom, or `[left, top, right, bottom]`.
[[nodiscard]] Padding padding_in(const Parameters& parameters, std::string_view name);

/// The largest extent that an operator makes; more is a slip of the pen.
inline constexpr double kLargestExtent = 65535;

}  // namespace weir::detail
