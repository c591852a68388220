#include "pipeline/batch_arena.hpp"

#include <algorithm>

namespace weir::detail {

void BatchArena::note_bad(std::uint32_t epoch, std::uint64_t place) {
  MutexLock lock(mutex_);
  std::vector<std::uint64_t>& bad = bad_[epoch];
  const auto at = std::lower_bound(bad.begin(), bad.end(), place);
  // Every stage that passes the sample on says it again; counted twice, places would be too low.
  if (at == bad.end() || *at != place) bad.insert(at, place);
}

std::uint64_t BatchArena::ordinal(std::uint32_t epoch, std::uint64_t place) const {
  const std::uint64_t from = epoch == first_epoch_ ? first_place_ : 0;
  std::uint64_t ordinal = place - from;
  MutexLock lock(mutex_);
  const auto bad = bad_.find(epoch);
  if (bad != bad_.end()) {
    const auto before = std::lower_bound(bad->second.begin(), bad->second.end(), place);
    ordinal -= static_cast<std::uint64_t>(before - bad->second.begin());
  }
  return ordinal;
}

Tensor BatchArena::allocate(std::uint32_t epoch, std::uint64_t ordinal, std::string_view column,
                            const Shape& shape, DType dtype) {
  {
    MutexLock lock(mutex_);
    auto layout = std::find_if(layouts_.begin(), layouts_.end(),
                               [&](const Layout& l) { return l.column == column; });
    if (layout == layouts_.end()) {
      layouts_.push_back({std::string(column), shape, dtype});
      layout = layouts_.end() - 1;
    }
    if (layout->shape == shape && layout->dtype == dtype && shape.rank() < Shape::kMaxRank) {
      std::vector<Memory>& batch = batches_[{epoch, ordinal / rows_}];
      auto memory = std::find_if(batch.begin(), batch.end(),
                                 [&](const Memory& m) { return m.column == column; });
      if (memory == batch.end()) {
        batch.push_back({std::string(column),
                         Tensor(shape.with_leading(static_cast<std::int64_t>(rows_)), dtype),
                         std::vector<bool>(rows_)});
        memory = batch.end() - 1;
      }
      const std::uint64_t row = ordinal % rows_;
      if (!memory->given[row] && memory->tensor.dtype() == dtype &&
          memory->tensor.shape().row() == shape) {
        memory->given[row] = true;
        return memory->tensor.row(static_cast<std::int64_t>(row));
      }
    }
  }
  return Tensor(shape, dtype);
}

Tensor BatchArena::take(std::uint32_t epoch, std::uint64_t ordinal, std::string_view column,
                        const Shape& row_shape, DType dtype) {
  MutexLock lock(mutex_);
  for (Layout& layout : layouts_)
    if (layout.column == column) {
      layout.shape = row_shape;
      layout.dtype = dtype;
    }
  const auto batch = batches_.find({epoch, ordinal / rows_});
  if (batch == batches_.end()) return {};
  Tensor result;
  for (Memory& memory : batch->second)
    if (memory.column == column && memory.tensor && memory.tensor.dtype() == dtype &&
        memory.tensor.shape().row() == row_shape)
      result = std::move(memory.tensor);
  return result;
}

void BatchArena::forget(std::uint32_t epoch, std::uint64_t ordinal) {
  MutexLock lock(mutex_);
  batches_.erase({epoch, ordinal / rows_});
}

void BatchArena::end_epoch(std::uint32_t epoch) {
  MutexLock lock(mutex_);
  batches_.erase(batches_.begin(), batches_.upper_bound({epoch, ~std::uint64_t{0}}));
  bad_.erase(bad_.begin(), bad_.upper_bound(epoch));
}

}  // namespace weir::detail
