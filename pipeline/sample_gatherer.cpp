#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <weir/batch.hpp>
#include <weir/error.hpp>
#include <weir/operator.hpp>

#include "pipeline/batch_arena.hpp"

namespace weir::detail {
namespace {

/// Copies `from` into the upper left corner of the zeroed `to`; both have the same rank.
void copy_padded(const Tensor& from, const Tensor& to) {
  std::memset(to.bytes(), 0, to.size_bytes());
  const std::size_t rank = from.shape().rank();
  const std::size_t element = size_of(from.dtype());
  if (from.shape().elements() == 0) return;
  if (rank == 0) {
    std::memcpy(to.bytes(), from.bytes(), element);
    return;
  }
  const std::size_t run = static_cast<std::size_t>(from.shape()[rank - 1]) * element;
  std::vector<std::int64_t> at(rank, 0);
  while (true) {
    std::size_t source = 0;
    std::size_t target = 0;
    for (std::size_t axis = 0; axis < rank; ++axis) {
      source = source * static_cast<std::size_t>(from.shape()[axis]) +
               static_cast<std::size_t>(at[axis]);
      target =
          target * static_cast<std::size_t>(to.shape()[axis]) + static_cast<std::size_t>(at[axis]);
    }
    std::memcpy(to.bytes() + target * element, from.bytes() + source * element, run);
    std::size_t axis = rank - 1;
    while (axis > 0) {
      --axis;
      if (++at[axis] < from.shape()[axis]) break;
      at[axis] = 0;
      if (axis == 0) return;
    }
    if (rank == 1) return;
  }
}

class SampleGatherer final : public Gatherer {
 public:
  SampleGatherer(std::uint64_t rows, bool pad) : rows_(rows), pad_(pad) {}

  void gather(std::span<SlotHeader* const> rows, SlotHeader* out, OperatorRun& run) override {
    auto& target = static_cast<Slot<Batch<Sample>>&>(*out);
    try {
      target.emplace(assemble(rows, run));
    } catch (...) {
      (void)record_failure(*rows.front(), out, run);
      if (run.arena != nullptr) run.arena->forget(rows.front()->info.epoch, run.ordinals[0]);
    }
    for (SlotHeader* row : rows) static_cast<Slot<Sample>*>(row)->reset();
  }

 private:
  static const Sample* sample_of(SlotHeader* row) {
    return row->state == SlotState::live ? &static_cast<Slot<Sample>*>(row)->value() : nullptr;
  }
  static std::string name_of_row(const SlotHeader* row) {
    return "sample " + std::to_string(row->info.sample_id);
  }

  Batch<Sample> assemble(std::span<SlotHeader* const> rows, OperatorRun& run) const {
    const auto first = std::find_if(rows.begin(), rows.end(), [](const SlotHeader* row) {
      return row->state == SlotState::live;
    });
    if (first == rows.end())
      throw Error(
          ErrorKind::data, *run.stage,
          "all " + std::to_string(rows.size()) +
              " samples of a batch are bad, so that the shape of zeros to replace them by is "
              "unknown; give the stage a replacement, or skip them");
    const Sample& model = *sample_of(*first);

    Batch<Sample> batch;
    batch.begin_rows(rows.front()->info.epoch, rows_);
    for (const SlotHeader* row : rows)
      batch.add_row({row->info.sample_id, row->info.label, row->info.split,
                     row->replaced || row->state == SlotState::blank});
    for (SlotHeader* row : rows) {
      const Sample* sample = sample_of(row);
      if (sample != nullptr && sample->columns().size() != model.columns().size())
        throw Error(ErrorKind::data, *run.stage,
                    name_of_row(row) + " has " + std::to_string(sample->columns().size()) +
                        " columns, " + name_of_row(*first) + " has " +
                        std::to_string(model.columns().size()));
    }
    for (const Column& column : model.columns())
      batch.storage().set(column.name, stack(rows, *first, column, run));
    if (run.arena != nullptr) run.arena->forget(rows.front()->info.epoch, run.ordinals[0]);
    return batch;
  }

  Tensor stack(std::span<SlotHeader* const> rows, const SlotHeader* first, const Column& column,
               OperatorRun& run) const {
    Shape shape = column.tensor.shape();
    const DType dtype = column.tensor.dtype();
    for (SlotHeader* row : rows) {
      const Sample* sample = sample_of(row);
      if (sample == nullptr) continue;
      const Tensor* tensor = sample->find(column.name);
      if (tensor == nullptr)
        throw Error(ErrorKind::data, *run.stage,
                    name_of_row(row) + " has no column '" + column.name + "', " +
                        name_of_row(first) + " has");
      if (tensor->dtype() != dtype)
        throw Error(ErrorKind::data, *run.stage,
                    "column '" + column.name + "' of " + name_of_row(row) + " is " +
                        weir::name_of(tensor->dtype()) + ", of " + name_of_row(first) + " " +
                        weir::name_of(dtype) + "; convert them to one type");
      if (tensor->shape() == shape) continue;
      if (!pad_ || tensor->shape().rank() != shape.rank())
        throw Error(ErrorKind::data, *run.stage,
                    "column '" + column.name + "' of " + name_of_row(row) + " has shape " +
                        tensor->shape().text() + ", of " + name_of_row(first) + " " +
                        column.tensor.shape().text() +
                        "; resize or crop to one size, or set pad: true");
      shape = larger(shape, tensor->shape());
    }
    const auto count = static_cast<std::int64_t>(rows.size());
    Tensor batch;
    if (run.arena != nullptr)
      batch = run.arena->take(first->info.epoch, run.ordinals[0], column.name, shape, dtype);
    if (batch && holds_others(batch, rows, column.name)) batch = Tensor();
    if (!batch) batch = Tensor(shape.with_leading(static_cast<std::int64_t>(rows_)), dtype);
    std::uint64_t placed = 0;
    std::uint64_t copied = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      const Tensor place = batch.row(i);
      const Sample* sample = sample_of(rows[static_cast<std::size_t>(i)]);
      const Tensor* tensor = sample != nullptr ? sample->find(column.name) : nullptr;
      if (tensor == nullptr) {
        std::memset(place.bytes(), 0, place.size_bytes());
      } else if (tensor->bytes() == place.bytes()) {
        ++placed;
      } else if (tensor->shape() == shape) {
        if (place.size_bytes() > 0) std::memcpy(place.bytes(), tensor->bytes(), place.size_bytes());
        ++copied;
      } else {
        copy_padded(*tensor, place);
        ++copied;
      }
    }
    if (run.arena != nullptr && shape.rank() > 0) run.arena->count_rows(placed, copied);
    return count == static_cast<std::int64_t>(rows_) ? std::move(batch) : batch.first(count);
  }

  /// True when a row of an earlier batch lies here still: it was placed before the bad samples in
  /// front of it were known, and whoever makes that batch may be reading it now.
  static bool holds_others(const Tensor& batch, std::span<SlotHeader* const> rows,
                           const std::string& column) {
    std::uint32_t holders = 1;
    for (SlotHeader* row : rows) {
      const Sample* sample = sample_of(row);
      const Tensor* tensor = sample != nullptr ? sample->find(column) : nullptr;
      if (tensor != nullptr && tensor->buffer().data() == batch.buffer().data()) ++holders;
    }
    return batch.buffer().holders() != holders;
  }

  static Shape larger(const Shape& a, const Shape& b) {
    Shape result;
    for (std::size_t axis = a.rank(); axis-- > 0;)
      result = result.with_leading(std::max(a[axis], b[axis]));
    return result;
  }

  std::uint64_t rows_;
  bool pad_;
};

}  // namespace

std::unique_ptr<Gatherer> make_sample_gatherer(std::uint64_t rows, bool pad) {
  return std::make_unique<SampleGatherer>(rows, pad);
}

}  // namespace weir::detail
