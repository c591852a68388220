#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <weir/parameters.hpp>

namespace weir::detail {

/// One node of a YAML text as plain data, with its place.
///
/// **Invariants**: (1) a map has as many keys as items, the keys distinct; (2) the depth is at most
/// kMostYamlDepth, so that walking it may recurse.
struct YamlNode {
  enum class Kind { scalar, list, map };
  struct Key {
    std::string text;
    Location location;
  };

  Kind kind = Kind::scalar;
  Location location;
  std::string text;             ///< scalar
  bool plain = true;            ///< scalar without quotes: may be a number, a flag or nothing
  std::vector<Key> keys;        ///< map
  std::vector<YamlNode> items;  ///< list, and the values of a map

  /// The value of `key`, or null.
  [[nodiscard]] const YamlNode* find(std::string_view key) const {
    for (std::size_t i = 0; i < keys.size(); ++i)
      if (keys[i].text == key) return &items[i];
    return nullptr;
  }
  /// Nothing written after the key, `~` or `null`.
  [[nodiscard]] bool is_nothing() const {
    return kind == Kind::scalar && plain &&
           (text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL");
  }
};

}  // namespace weir::detail
