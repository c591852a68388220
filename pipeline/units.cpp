#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include <weir/parameters.hpp>

namespace weir {
namespace {

std::string_view without_spaces(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

/// A finite number and what follows it. std::from_chars reads no locale.
std::optional<std::pair<double, std::string_view>> split_number(std::string_view text) {
  text = without_spaces(text);
  double number = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || !std::isfinite(number)) return std::nullopt;
  const std::size_t used = static_cast<std::size_t>(end - text.data());
  return std::pair{number, without_spaces(text.substr(used))};
}

using Unit = std::pair<std::string_view, double>;

constexpr std::array<Unit, 7> kDurationUnits{{{"ns", 1e-9},
                                              {"us", 1e-6},
                                              {"µs", 1e-6},
                                              {"ms", 1e-3},
                                              {"s", 1.0},
                                              {"min", 60.0},
                                              {"h", 3600.0}}};

constexpr std::array<Unit, 16> kSizeUnits{{{"", 1.0},
                                           {"B", 1.0},
                                           {"kB", 1e3},
                                           {"KB", 1e3},
                                           {"MB", 1e6},
                                           {"GB", 1e9},
                                           {"TB", 1e12},
                                           {"KiB", 1024.0},
                                           {"kiB", 1024.0},
                                           {"MiB", 1048576.0},
                                           {"GiB", 1073741824.0},
                                           {"TiB", 1099511627776.0},
                                           {"K", 1024.0},
                                           {"M", 1048576.0},
                                           {"G", 1073741824.0},
                                           {"T", 1099511627776.0}}};

template <std::size_t kCount>
std::optional<double> with_unit(std::string_view text, const std::array<Unit, kCount>& units) {
  const auto parts = split_number(text);
  if (!parts || parts->first < 0.0) return std::nullopt;
  for (const auto& [name, factor] : units) {
    if (parts->second == name) return parts->first * factor;
  }
  return std::nullopt;
}

}  // namespace

std::optional<double> parse_duration_seconds(std::string_view text) {
  // Zero is the same in any unit.
  if (const auto parts = split_number(text);
      parts && parts->first == 0.0 && parts->second.empty()) {
    return 0.0;
  }
  return with_unit(text, kDurationUnits);
}

std::optional<std::uint64_t> parse_size_bytes(std::string_view text) {
  const std::optional<double> bytes = with_unit(text, kSizeUnits);
  // 2^63 is more than any machine has, and fits the integers that hold it.
  if (!bytes || *bytes >= 0x1p63) return std::nullopt;
  return static_cast<std::uint64_t>(*bytes);
}

std::optional<double> parse_share(std::string_view text) {
  const auto parts = split_number(text);
  if (!parts) return std::nullopt;
  if (parts->second == "%") return parts->first / 100.0;
  if (parts->second.empty()) return parts->first;
  return std::nullopt;
}

}  // namespace weir
