#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "src/yaml_node.hpp"

namespace weir::detail {

constexpr std::size_t kMostYamlBytes = 1U << 20U;
constexpr int kMostYamlDepth = 24;
constexpr std::size_t kMostYamlKeys = 1000;  ///< of one map

/// The one document of `text`. Takes the part of YAML that a configuration needs: no anchors,
/// aliases, tags, multi-document files or keys that are no text. Throws Error(usage) with
/// file:line:column for these, for what is no YAML, for a key written twice, and beyond the limits
/// above; `file` is for messages.
[[nodiscard]] YamlNode read_yaml(const std::string& text, const std::string& file);

/// The text of the file at `path`, read no further than to one byte more than read_yaml() takes.
/// Throws Error(usage) when it cannot be read; `what` is what belongs there, "a pipeline file".
[[nodiscard]] std::string read_yaml_text(const std::string& path, std::string_view what);

}  // namespace weir::detail
