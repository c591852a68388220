#include "src/short_name.hpp"

#include <algorithm>

namespace weir::program {

std::string short_name(const std::string& stage) {
  constexpr std::size_t kFits = 28;
  const auto more = std::count(stage.begin(), stage.end(), '+');
  if (stage.size() <= kFits || more == 0) return stage;
  return stage.substr(0, stage.find('+') + 1) + std::to_string(more);
}

}  // namespace weir::program
