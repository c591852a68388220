#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <weir/bytes_of.hpp>
#include <weir/export.hpp>
#include <weir/sample.hpp>

namespace weir {

/// What every batch says of its rows.
class BatchRows {
 public:
  struct Row {
    std::uint64_t id = 0;
    std::int32_t label = -1;
    std::uint32_t split = 0;
    bool replaced = false;
  };

  [[nodiscard]] std::size_t size() const { return ids_.size(); }
  [[nodiscard]] bool empty() const { return ids_.empty(); }
  [[nodiscard]] std::uint32_t epoch() const { return epoch_; }
  /// Sample ids: places in the source's sorted list.
  [[nodiscard]] std::span<const std::uint64_t> ids() const { return ids_; }
  /// Class numbers; -1 where there is none.
  [[nodiscard]] std::span<const std::int32_t> labels() const { return labels_; }
  /// Places among the items of one flat_map call; 0 without one.
  [[nodiscard]] std::span<const std::uint32_t> splits() const { return splits_; }
  /// True for a row that stands in for a bad sample.
  [[nodiscard]] bool replaced(std::size_t row) const {
    return !replaced_.empty() && replaced_[row];
  }
  [[nodiscard]] std::size_t replaced_count() const;

  /// For the runtime.
  void begin_rows(std::uint32_t epoch, std::size_t capacity);
  void add_row(const Row& row);

 private:
  std::uint32_t epoch_ = 0;
  std::vector<std::uint64_t> ids_;
  std::vector<std::int32_t> labels_;
  std::vector<std::uint32_t> splits_;
  std::vector<bool> replaced_;  ///< empty while no row is replaced
};

/// `n` consecutive values. Move-only.
template <class T>
class Batch : public BatchRows {
 public:
  Batch() = default;
  Batch(Batch&&) noexcept = default;
  Batch& operator=(Batch&&) noexcept = default;

  [[nodiscard]] std::span<T> items() { return items_; }
  [[nodiscard]] std::span<const T> items() const { return items_; }
  [[nodiscard]] T& operator[](std::size_t i) { return items_[i]; }
  [[nodiscard]] const T& operator[](std::size_t i) const { return items_[i]; }
  [[nodiscard]] auto begin() { return items_.begin(); }
  [[nodiscard]] auto end() { return items_.end(); }
  [[nodiscard]] auto begin() const { return items_.begin(); }
  [[nodiscard]] auto end() const { return items_.end(); }

  /// For the runtime.
  std::vector<T>& storage() { return items_; }
  [[nodiscard]] const std::vector<T>& storage() const { return items_; }

 private:
  std::vector<T> items_;
};

/// A batch of samples: each column is one tensor with the row as its first axis. A label column of
/// scalars becomes a tensor of shape [rows].
template <>
class WEIR_EXPORT Batch<Sample> : public BatchRows {
 public:
  Batch() = default;
  Batch(Batch&&) noexcept = default;
  Batch& operator=(Batch&&) noexcept = default;

  [[nodiscard]] const Tensor& operator[](std::string_view column) const { return columns_[column]; }
  [[nodiscard]] const Tensor* find(std::string_view column) const { return columns_.find(column); }
  [[nodiscard]] std::span<const Column> columns() const { return columns_.columns(); }

  /// For the runtime, and for operators on batches.
  Sample& storage() { return columns_; }
  [[nodiscard]] const Sample& storage() const { return columns_; }

 private:
  Sample columns_;
};

/// What a collate function of the user's made of `n` consecutive values.
template <class B>
class Collated : public BatchRows {
 public:
  Collated(Collated&&) noexcept = default;
  Collated& operator=(Collated&&) noexcept = default;
  explicit Collated(B value) : value_(std::move(value)) {}

  [[nodiscard]] B& value() { return value_; }
  [[nodiscard]] const B& value() const { return value_; }

 private:
  B value_;
};

template <class T>
std::size_t bytes_of(const Batch<T>& batch) {
  return bytes_of(batch.storage());
}
template <class B>
std::size_t bytes_of(const Collated<B>& batch) {
  return detail::payload_bytes(batch.value());
}

}  // namespace weir
