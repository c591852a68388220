#pragma once

#include <cstddef>
#include <string>
#include <type_traits>
#include <vector>

namespace weir {

/// The payload of a value in bytes, which the memory bound counts. Overload it for your own types
/// beside them (it is found by argument); without an overload `sizeof` stands in, which is said
/// once for the stage. Built in: numbers, enums, strings, vectors, Tensor, Sample, File and
/// batches.
inline std::size_t bytes_of(const std::string& text) { return sizeof(text) + text.size(); }

template <class T>
std::size_t bytes_of(const std::vector<T>& values);

namespace detail {

template <class T>
concept HasBytesOf = requires(const T& value) {
  { bytes_of(value) } -> std::convertible_to<std::size_t>;
};

/// True when each value of the type has as many bytes and none lie elsewhere.
template <class T>
constexpr bool has_fixed_bytes() {
  return !HasBytesOf<T>;
}

/// False where `sizeof` stands in for a type that may own memory elsewhere.
template <class T>
constexpr bool reports_bytes() {
  return HasBytesOf<T> || std::is_trivially_copyable_v<T>;
}

template <class T>
std::size_t payload_bytes(const T& value) {
  if constexpr (HasBytesOf<T>)
    return bytes_of(value);
  else
    return sizeof(T);
}

}  // namespace detail

template <class T>
std::size_t bytes_of(const std::vector<T>& values) {
  if constexpr (detail::has_fixed_bytes<T>()) {
    return sizeof(values) + values.size() * sizeof(T);
  } else {
    std::size_t total = sizeof(values);
    for (const T& value : values) total += detail::payload_bytes(value);
    return total;
  }
}

}  // namespace weir
