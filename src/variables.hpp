#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <weir/parameters.hpp>

#include "src/yaml_node.hpp"

namespace weir::detail {

/// A scalar as YAML's core schema reads it: nothing, true/false, a whole number, a number, else
/// text.
[[nodiscard]] Value scalar_value(std::string_view text, bool plain, const Location& location);

/// The variables of a pipeline file, and the values of its nodes with them put in.
///
/// `"${size}"` alone takes the variable's type; inside a longer text the variable is spelt out;
/// `$${` stands for a literal `${`.
///
/// **Thread safety**: immutable once made.
class Variables {
 public:
  /// `section` is the map below `variables:`, or null. `given` replaces values; each must exist in
  /// the file and parse as the type that the file's value has. Throws Error(usage).
  Variables(const YamlNode* section, const std::map<std::string, std::string>& given,
            const std::string& file);

  /// The value of a scalar or a list. Throws Error(usage) for a map, and for an unknown variable
  /// with the nearest name.
  [[nodiscard]] Value value(const YamlNode& node) const;
  /// True when the text begins with a variable that was given: a path is then the caller's,
  /// relative to his folder, and not relative to the file.
  [[nodiscard]] bool begins_with_given(const YamlNode& node) const;

 private:
  struct Variable {
    Value value;
    std::string text;  ///< as written, for use inside a longer text; a list has none
    bool given = false;
  };
  [[nodiscard]] const Variable& find(std::string_view name, const Location& place) const;
  [[nodiscard]] Value scalar(const YamlNode& node) const;

  std::map<std::string, Variable, std::less<>> variables_;
};

/// `path` relative to the folder of `file`, unless it is absolute.
[[nodiscard]] std::string path_beside(const std::string& file, const std::string& path);

}  // namespace weir::detail
