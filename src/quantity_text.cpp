#include "src/quantity_text.hpp"

#include <array>
#include <cmath>

#include <fmt/format.h>

namespace weir::program {

std::string count_text(double count) {
  if (!std::isfinite(count)) return "-";
  if (count > 0 && count < 10) return fmt::format("{:.1f}", count);
  const std::string digits = fmt::format("{:.0f}", count);
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const std::size_t left = digits.size() - i;
    if (!text.empty() && text != "-" && left % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

std::string milliseconds_text(double seconds) {
  const double ms = seconds * 1e3;
  return fmt::format("{:.{}f} ms", ms, ms < 10 ? 2 : ms < 100 ? 1 : 0);
}

std::string microseconds_text(double seconds) {
  const double us = seconds * 1e6;
  if (us < 10) return fmt::format("{:.1f} us", us);
  if (us < 1000) return fmt::format("{:.0f} us", us);
  if (us < 1e6) return fmt::format("{:.1f} ms", us / 1e3);
  return fmt::format("{:.1f} s", seconds);
}

std::string clock_text(double seconds) {
  constexpr double kMost = 359999;  // 99 hours and some: beyond it the digits mean nothing
  const long whole = std::lround(std::isfinite(seconds) && seconds < kMost ? seconds : kMost);
  if (whole < 3600) return fmt::format("{:02}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

std::string bytes_text(std::uint64_t bytes) {
  constexpr std::array<const char*, 5> kUnits{"B", "KiB", "MiB", "GiB", "TiB"};
  double amount = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (amount >= 1024 && unit + 1 < kUnits.size()) {
    amount /= 1024;
    ++unit;
  }
  return fmt::format("{:.{}f} {}", amount, unit > 0 && amount < 10 ? 1 : 0, kUnits[unit]);
}

std::string share_text(double share) { return fmt::format("{:.1f} %", share * 100); }

}  // namespace weir::program
