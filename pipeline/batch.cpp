#include <weir/batch.hpp>

#include <algorithm>

namespace weir {

void BatchRows::begin_rows(std::uint32_t epoch, std::size_t capacity) {
  epoch_ = epoch;
  ids_.reserve(capacity);
  labels_.reserve(capacity);
  splits_.reserve(capacity);
}

void BatchRows::add_row(const Row& row) {
  ids_.push_back(row.id);
  labels_.push_back(row.label);
  splits_.push_back(row.split);
  if (row.replaced && replaced_.empty()) replaced_.resize(ids_.size() - 1, false);
  if (!replaced_.empty() || row.replaced) replaced_.push_back(row.replaced);
}

std::size_t BatchRows::replaced_count() const {
  return static_cast<std::size_t>(std::count(replaced_.begin(), replaced_.end(), true));
}

}  // namespace weir
