#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace weir::detail {

/// Reads numbers from bytes that nobody vouches for: outside of them every number is 0 and every
/// comparison false, and `has()` tells.
///
/// Thread safety: a view; const use from several threads is safe.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes, bool big_endian = true)
      : bytes_(bytes), big_endian_(big_endian) {}

  [[nodiscard]] std::size_t size() const { return bytes_.size(); }
  [[nodiscard]] bool has(std::size_t at, std::size_t count) const {
    return at <= bytes_.size() && count <= bytes_.size() - at;
  }
  [[nodiscard]] std::uint32_t u8(std::size_t at) const { return number(at, 1); }
  [[nodiscard]] std::uint32_t u16(std::size_t at) const { return number(at, 2); }
  [[nodiscard]] std::uint32_t u24(std::size_t at) const { return number(at, 3); }
  [[nodiscard]] std::uint32_t u32(std::size_t at) const { return number(at, 4); }
  [[nodiscard]] bool matches(std::size_t at, std::string_view text) const {
    if (!has(at, text.size())) return false;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (static_cast<char>(bytes_[at + i]) != text[i]) return false;
    }
    return true;
  }
  /// The bytes from `at` on, at most `count`.
  [[nodiscard]] std::span<const std::byte> part(std::size_t at, std::size_t count) const {
    if (at >= bytes_.size()) return {};
    return bytes_.subspan(at, count < bytes_.size() - at ? count : bytes_.size() - at);
  }

 private:
  [[nodiscard]] std::uint32_t number(std::size_t at, std::size_t count) const {
    if (!has(at, count)) return 0;
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t place = big_endian_ ? i : count - 1 - i;
      value = (value << 8U) | static_cast<std::uint32_t>(bytes_[at + place]);
    }
    return value;
  }

  std::span<const std::byte> bytes_;
  bool big_endian_;
};

}  // namespace weir::detail
