#pragma once

#include <weir/export.hpp>

#include <optional>
#include <string_view>

namespace weir {

/// How tightly a worker is bound.
enum class PlacementMode {
  none,          ///< not at all
  cache_domain,  ///< to the CPUs that share a last-level cache (the default)
  core,          ///< to one hardware thread
  node,          ///< to a NUMA node
};

/// The word that files, options and outputs use for it.
[[nodiscard]] WEIR_EXPORT std::string_view to_string(PlacementMode mode);
[[nodiscard]] WEIR_EXPORT std::optional<PlacementMode> parse_placement_mode(std::string_view word);

}  // namespace weir
