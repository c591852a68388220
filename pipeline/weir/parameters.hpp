#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <weir/export.hpp>

namespace weir {

/// A place in a text: `file:line:column`, counted from 1; line 0 means no place (made in C++).
struct WEIR_EXPORT Location {
  std::string file;
  int line = 0;
  int column = 0;
  [[nodiscard]] std::string text() const;
};

/// A parameter's value as written, before it is checked against its ParameterSpec.
struct Value {
  using List = std::vector<Value>;
  std::variant<std::monostate, bool, std::int64_t, double, std::string, List> data;
  Location location;
};

/// What a parameter may be. `flag` true/false; `integer`; `number`; `range` two numbers; `numbers`
/// a list of numbers; `text`; `choice` one of `choices`; `duration` ("18ms") in seconds; `size`
/// ("8MiB") in bytes; `share` ("1%" or 0.01).
enum class ParameterType {
  flag,
  integer,
  number,
  range,
  numbers,
  text,
  choice,
  duration,
  size,
  share
};

/// One parameter of an operator: what `weir operators NAME` prints and what is checked.
struct ParameterSpec {
  std::string name = {};
  ParameterType type = ParameterType::number;
  std::string fallback = {};  ///< default as text; empty: required; "none": may be absent
  double low = -1e300;        ///< smallest allowed number (each, for lists)
  double high = 1e300;
  std::vector<std::string> choices = {};
  std::string meaning = {};
};

/// The checked parameters of one operator. Built from what was written and the specs; a wrong key,
/// type or value throws Error(usage) with the place, what is allowed and the nearest spelling.
///
/// Thread safety: a value; const use from several threads is safe.
class WEIR_EXPORT Parameters {
 public:
  Parameters(std::string operator_name, std::span<const ParameterSpec> specs,
             const std::map<std::string, Value, std::less<>>& written, const Location& place);

  [[nodiscard]] bool has(std::string_view name) const;
  [[nodiscard]] bool flag(std::string_view name) const;
  [[nodiscard]] std::int64_t integer(std::string_view name) const;
  [[nodiscard]] double number(std::string_view name) const;  ///< durations in s, sizes in bytes too
  [[nodiscard]] std::vector<double> numbers(std::string_view name) const;
  [[nodiscard]] const std::string& text(std::string_view name) const;
  /// Throws Error(usage) at the place of `name`.
  [[noreturn]] void reject(std::string_view name, const std::string& why) const;

 private:
  struct Checked {
    Value value;
    bool written = false;
  };
  [[nodiscard]] const Checked& find(std::string_view name) const;

  std::string operator_name_;
  Location place_;
  std::map<std::string, Checked, std::less<>> values_;
};

/// The entry of `names` nearest to `wrong` by edit distance, if any is near enough to suggest.
[[nodiscard]] WEIR_EXPORT std::optional<std::string> nearest_spelling(
    std::string_view wrong, std::span<const std::string> names);
/// "18ms", "2 s", "3min" in seconds; nullopt when it is no duration.
[[nodiscard]] WEIR_EXPORT std::optional<double> parse_duration_seconds(std::string_view text);
/// "8MiB", "2GB", "512" in bytes; nullopt when it is no size.
[[nodiscard]] WEIR_EXPORT std::optional<std::uint64_t> parse_size_bytes(std::string_view text);
/// "1%" or "0.01" as a share; nullopt when it is neither.
[[nodiscard]] WEIR_EXPORT std::optional<double> parse_share(std::string_view text);

}  // namespace weir
