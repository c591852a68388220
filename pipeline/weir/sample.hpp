#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include <weir/export.hpp>
#include <weir/tensor.hpp>

namespace weir {

/// One named tensor of a Sample.
struct Column {
  std::string name;
  Tensor tensor;
};

/// The ready-made value for images and tensors: at most eight named columns, each a Tensor. The
/// built-in operators and YAML pipelines speak it. Column `image` holds the file's bytes (u8, rank
/// 1) until `decode` turns it into rows x columns x channels (u8, rank 3); `label` is a scalar i64.
///
/// Thread safety: a value; distinct objects are independent.
class WEIR_EXPORT Sample {
 public:
  static constexpr std::size_t kMaxColumns = 8;

  Sample() = default;
  Sample(Sample&&) noexcept = default;
  Sample& operator=(Sample&&) noexcept = default;

  /// The tensor of `column`; throws Error naming the columns there are.
  [[nodiscard]] Tensor& operator[](std::string_view column);
  [[nodiscard]] const Tensor& operator[](std::string_view column) const;
  [[nodiscard]] Tensor* find(std::string_view column);
  [[nodiscard]] const Tensor* find(std::string_view column) const;
  /// Adds or replaces a column; throws Error beyond kMaxColumns.
  void set(std::string_view column, Tensor tensor);
  void erase(std::string_view column);

  [[nodiscard]] std::span<Column> columns() { return {columns_.data(), count_}; }
  [[nodiscard]] std::span<const Column> columns() const { return {columns_.data(), count_}; }
  [[nodiscard]] Sample clone() const;

 private:
  std::array<Column, kMaxColumns> columns_;
  std::size_t count_ = 0;
};

[[nodiscard]] WEIR_EXPORT std::size_t bytes_of(const Sample& sample);

}  // namespace weir
