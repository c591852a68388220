#include <weir/sample.hpp>

#include <utility>

#include <weir/error.hpp>

namespace weir {
namespace {

std::string names_of(std::span<const Column> columns) {
  std::string names;
  for (const Column& column : columns) {
    if (!names.empty()) names += ", ";
    names += column.name;
  }
  return names.empty() ? "none" : names;
}

}  // namespace

Tensor* Sample::find(std::string_view column) {
  return const_cast<Tensor*>(std::as_const(*this).find(column));
}

const Tensor* Sample::find(std::string_view column) const {
  for (const Column& entry : columns()) {
    if (entry.name == column) return &entry.tensor;
  }
  return nullptr;
}

Tensor& Sample::operator[](std::string_view column) {
  return const_cast<Tensor&>(std::as_const(*this)[column]);
}

const Tensor& Sample::operator[](std::string_view column) const {
  if (const Tensor* tensor = find(column)) return *tensor;
  throw Error(ErrorKind::usage, "",
              "the sample has no column '" + std::string(column) +
                  "'; its columns: " + names_of(columns()));
}

void Sample::set(std::string_view column, Tensor tensor) {
  if (Tensor* present = find(column)) {
    *present = std::move(tensor);
    return;
  }
  if (count_ == kMaxColumns) {
    throw Error(ErrorKind::usage, "",
                "a sample has at most " + std::to_string(kMaxColumns) +
                    " columns; there is no room for '" + std::string(column) + "' beside " +
                    names_of(columns()));
  }
  columns_[count_].name = column;
  columns_[count_].tensor = std::move(tensor);
  ++count_;
}

void Sample::erase(std::string_view column) {
  for (std::size_t i = 0; i < count_; ++i) {
    if (columns_[i].name != column) continue;
    for (std::size_t j = i + 1; j < count_; ++j) columns_[j - 1] = std::move(columns_[j]);
    --count_;
    columns_[count_] = Column{};
    return;
  }
}

Sample Sample::clone() const {
  Sample other;
  for (const Column& column : columns()) other.set(column.name, column.tensor.clone());
  return other;
}

std::size_t bytes_of(const Sample& sample) {
  std::size_t bytes = 0;
  for (const Column& column : sample.columns()) bytes += bytes_of(column.tensor);
  return bytes;
}

}  // namespace weir
