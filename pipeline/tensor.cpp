#include <weir/tensor.hpp>

#include <cassert>
#include <cstring>
#include <limits>
#include <new>
#include <utility>

#include <weir/error.hpp>

namespace weir {
namespace {

/// The bytes of a tensor; throws std::bad_alloc for more than the address space holds.
std::size_t checked_bytes(const Shape& shape, DType dtype) {
  std::uint64_t bytes = size_of(dtype);
  for (const std::int64_t extent : shape.extents()) {
    if (__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(extent), &bytes) ||
        bytes > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      throw std::bad_alloc();
    }
  }
  return static_cast<std::size_t>(bytes);
}

}  // namespace

std::size_t size_of(DType dtype) {
  switch (dtype) {
    case DType::u8:
      return 1;
    case DType::u16:
      return 2;
    case DType::i32:
      return 4;
    case DType::i64:
      return 8;
    case DType::f32:
      return 4;
    case DType::f64:
      return 8;
    case DType::f16:
      return 2;
  }
  return 0;
}

const char* name_of(DType dtype) {
  switch (dtype) {
    case DType::u8:
      return "u8";
    case DType::u16:
      return "u16";
    case DType::i32:
      return "i32";
    case DType::i64:
      return "i64";
    case DType::f32:
      return "f32";
    case DType::f64:
      return "f64";
    case DType::f16:
      return "f16";
  }
  return "unknown";
}

Shape::Shape(std::initializer_list<std::int64_t> extents) : rank_(extents.size()) {
  if (extents.size() > kMaxRank) {
    throw Error(ErrorKind::usage, "",
                "a shape has at most " + std::to_string(kMaxRank) + " extents, got " +
                    std::to_string(extents.size()));
  }
  std::size_t axis = 0;
  for (const std::int64_t extent : extents) {
    if (extent < 0) {
      throw Error(ErrorKind::usage, "",
                  "an extent of a shape is 0 or more, got " + std::to_string(extent));
    }
    extents_[axis++] = extent;
  }
}

std::int64_t Shape::elements() const {
  std::int64_t count = 1;
  for (const std::int64_t extent : extents()) count *= extent;
  return count;
}

Shape Shape::with_leading(std::int64_t extent) const {
  if (rank_ == kMaxRank) {
    throw Error(
        ErrorKind::usage, "",
        "a batch of " + text() + " would have more than " + std::to_string(kMaxRank) + " extents");
  }
  Shape shape{extent};
  shape.rank_ = rank_ + 1;
  for (std::size_t axis = 0; axis < rank_; ++axis) shape.extents_[axis + 1] = extents_[axis];
  return shape;
}

Shape Shape::row() const {
  assert(rank_ > 0);
  Shape shape;
  shape.rank_ = rank_ - 1;
  for (std::size_t axis = 1; axis < rank_; ++axis) shape.extents_[axis - 1] = extents_[axis];
  return shape;
}

std::string Shape::text() const {
  std::string text = "[";
  for (std::size_t axis = 0; axis < rank_; ++axis) {
    if (axis > 0) text += ", ";
    text += std::to_string(extents_[axis]);
  }
  return text + "]";
}

bool operator==(const Shape& a, const Shape& b) {
  if (a.rank_ != b.rank_) return false;
  for (std::size_t axis = 0; axis < a.rank_; ++axis) {
    if (a.extents_[axis] != b.extents_[axis]) return false;
  }
  return true;
}

Tensor::Tensor(const Shape& shape, DType dtype)
    : shape_(shape), dtype_(dtype), buffer_(checked_bytes(shape, dtype)) {}

Tensor::Tensor(const Shape& shape, DType dtype, Buffer buffer, std::size_t offset_bytes)
    : shape_(shape), dtype_(dtype), buffer_(std::move(buffer)), offset_bytes_(offset_bytes) {
  assert(offset_bytes_ + checked_bytes(shape_, dtype_) <= buffer_.capacity());
}

Tensor Tensor::share() const {
  Tensor other;
  other.shape_ = shape_;
  other.dtype_ = dtype_;
  other.buffer_ = buffer_.share();
  other.offset_bytes_ = offset_bytes_;
  return other;
}

Tensor Tensor::clone() const {
  if (!buffer_) return share();
  Tensor other(shape_, dtype_);
  std::memcpy(other.bytes(), bytes(), size_bytes());
  return other;
}

Tensor Tensor::row(std::int64_t i) const {
  assert(shape_.rank() > 0 && i >= 0 && i < shape_[0]);
  Tensor other = share();
  other.shape_ = shape_.row();
  other.offset_bytes_ += static_cast<std::size_t>(i) * other.size_bytes();
  return other;
}

Tensor Tensor::first(std::int64_t rows) const {
  assert(shape_.rank() > 0 && rows >= 0 && rows <= shape_[0]);
  Tensor other = share();
  other.shape_ = shape_.row().with_leading(rows);
  return other;
}

Tensor Tensor::reshaped(const Shape& shape) const {
  if (shape.elements() != shape_.elements()) {
    throw Error(ErrorKind::usage, "",
                "a tensor of shape " + shape_.text() + " cannot take the shape " + shape.text() +
                    ": the numbers of elements differ");
  }
  Tensor other = share();
  other.shape_ = shape;
  return other;
}

void Tensor::require(DType dtype) const {
  if (dtype == dtype_) return;
  throw Error(ErrorKind::usage, "",
              std::string("the tensor holds ") + name_of(dtype_) + ", not " + name_of(dtype));
}

}  // namespace weir
