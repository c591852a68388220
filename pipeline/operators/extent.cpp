#include "pipeline/operators/extent.hpp"

#include <cmath>
#include <string>
#include <vector>

namespace weir::detail {

std::vector<std::int64_t> whole_numbers_in(const Parameters& parameters, std::string_view name,
                                           std::size_t most) {
  std::vector<std::int64_t> whole;
  for (const double number : parameters.numbers(name)) {
    if (number != std::floor(number))
      parameters.reject(name, "pixels are counted in whole numbers");
    whole.push_back(static_cast<std::int64_t>(number));
  }
  if (whole.size() > most) {
    parameters.reject(name, "at most " + std::to_string(most) + " numbers are taken");
  }
  return whole;
}

Extent extent_in(const Parameters& parameters, std::string_view name) {
  const std::vector<std::int64_t> sides = whole_numbers_in(parameters, name, 2);
  return {sides.front(), sides.back()};
}

Padding padding_in(const Parameters& parameters, std::string_view name) {
  const std::vector<std::int64_t> sides = whole_numbers_in(parameters, name, 4);
  switch (sides.size()) {
    case 1:
      return {sides[0], sides[0], sides[0], sides[0]};
    case 2:
      return {sides[0], sides[1], sides[0], sides[1]};
    case 4:
      return {sides[0], sides[1], sides[2], sides[3]};
    default:
      parameters.reject(name,
                        "give one number, [left and right, top and bottom] or [left, top, "
                        "right, bottom]");
  }
}

}  // namespace weir::detail
