#include <weir/placement_mode.hpp>

namespace weir {

std::string_view to_string(PlacementMode mode) {
  switch (mode) {
    case PlacementMode::none:
      return "none";
    case PlacementMode::cache_domain:
      return "cache_domain";
    case PlacementMode::core:
      return "core";
    case PlacementMode::node:
      return "node";
  }
  return "none";
}

std::optional<PlacementMode> parse_placement_mode(std::string_view word) {
  for (const PlacementMode mode : {PlacementMode::none, PlacementMode::cache_domain,
                                   PlacementMode::core, PlacementMode::node}) {
    if (word == to_string(mode)) return mode;
  }
  return std::nullopt;
}

}  // namespace weir
