#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <type_traits>

#include <weir/buffer.hpp>
#include <weir/export.hpp>
#include <weir/half.hpp>

namespace weir {

/// The numbers stand in digests: new types come last.
enum class DType : std::uint8_t { u8, u16, i32, i64, f32, f64, f16 };

[[nodiscard]] WEIR_EXPORT std::size_t size_of(DType dtype);
[[nodiscard]] WEIR_EXPORT const char* name_of(DType dtype);

template <class T>
constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, std::uint8_t>)
    return DType::u8;
  else if constexpr (std::is_same_v<T, std::uint16_t>)
    return DType::u16;
  else if constexpr (std::is_same_v<T, std::int32_t>)
    return DType::i32;
  else if constexpr (std::is_same_v<T, std::int64_t>)
    return DType::i64;
  else if constexpr (std::is_same_v<T, Half>)
    return DType::f16;
  else if constexpr (std::is_same_v<T, float>)
    return DType::f32;
  else {
    static_assert(std::is_same_v<T, double>, "weir: no DType for this element type");
    return DType::f64;
  }
}

/// The extents of a tensor, row-major, at most six. An empty shape is a scalar.
class WEIR_EXPORT Shape {
 public:
  static constexpr std::size_t kMaxRank = 6;

  Shape() = default;
  /// Throws Error for more than kMaxRank extents or a negative one.
  Shape(std::initializer_list<std::int64_t> extents);

  [[nodiscard]] std::size_t rank() const { return rank_; }
  [[nodiscard]] std::int64_t operator[](std::size_t axis) const { return extents_[axis]; }
  [[nodiscard]] std::span<const std::int64_t> extents() const { return {extents_.data(), rank_}; }
  [[nodiscard]] std::int64_t elements() const;
  /// This shape with `extent` in front: the shape of a batch.
  [[nodiscard]] Shape with_leading(std::int64_t extent) const;
  /// This shape without its first axis: the shape of a row. Requires: rank() > 0.
  [[nodiscard]] Shape row() const;
  /// "[3, 224, 224]"
  [[nodiscard]] std::string text() const;

  friend bool operator==(const Shape& a, const Shape& b);

 private:
  std::array<std::int64_t, kMaxRank> extents_{};
  std::size_t rank_ = 0;
};

/// A dense row-major array of one element type. Move-only, so that no copy of a payload goes
/// unseen: `clone()` copies the elements, `share()` and `row()` give another view of the same
/// memory.
///
/// Thread safety: as Buffer.
class WEIR_EXPORT Tensor {
 public:
  Tensor() = default;
  /// Indeterminate contents in memory of its own.
  Tensor(const Shape& shape, DType dtype);
  /// A view of `buffer` from `offset_bytes` on. Requires: the view lies inside the buffer.
  Tensor(const Shape& shape, DType dtype, Buffer buffer, std::size_t offset_bytes);

  [[nodiscard]] Tensor share() const;
  [[nodiscard]] Tensor clone() const;
  /// Row `i` of the first axis, sharing memory. Requires: rank > 0 and i inside.
  [[nodiscard]] Tensor row(std::int64_t i) const;
  /// The first `rows` rows, sharing memory.
  [[nodiscard]] Tensor first(std::int64_t rows) const;
  /// The same memory under another shape with as many elements.
  [[nodiscard]] Tensor reshaped(const Shape& shape) const;

  [[nodiscard]] const Shape& shape() const { return shape_; }
  [[nodiscard]] DType dtype() const { return dtype_; }
  [[nodiscard]] std::size_t size_bytes() const {
    return static_cast<std::size_t>(shape_.elements()) * size_of(dtype_);
  }
  [[nodiscard]] std::byte* bytes() const { return buffer_.data() + offset_bytes_; }
  [[nodiscard]] std::span<std::byte> span() const { return {bytes(), size_bytes()}; }
  /// The elements; throws Error when T is not the element type.
  template <class T>
  [[nodiscard]] T* data() const {
    require(dtype_of<T>());
    return reinterpret_cast<T*>(bytes());
  }
  [[nodiscard]] const Buffer& buffer() const { return buffer_; }
  explicit operator bool() const noexcept { return static_cast<bool>(buffer_); }

 private:
  void require(DType dtype) const;

  Shape shape_;
  DType dtype_ = DType::u8;
  Buffer buffer_;
  std::size_t offset_bytes_ = 0;
};

[[nodiscard]] inline std::size_t bytes_of(const Tensor& tensor) {
  return tensor ? tensor.size_bytes() : 0;
}

}  // namespace weir
