#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <weir/mutex.hpp>
#include <weir/sample.hpp>

namespace weir::detail {

/// The memory of the batches to come, so that the last stage in front of `batch` writes its results
/// where they will be delivered.
///
/// A sample's place is its place in the epoch minus the bad samples known before it. That is never
/// less than its final place, since more may turn out bad; so when a batch is made, rows only move
/// down, in order, into places that nobody else uses (a copy, counted).
///
/// Thread safety: all functions from any worker.
/// Invariants: 1. a row's memory is given out once; 2. no row at or above a batch's end is ever
/// placed in that batch.
class BatchArena {
 public:
  explicit BatchArena(std::uint64_t rows) : rows_(rows) {}

  /// The first epoch begins at this place, where a resumed run starts.
  void begin_at(std::uint32_t epoch, std::uint64_t place) {
    first_epoch_ = epoch;
    first_place_ = place;
  }
  /// Says that the sample at `place` of the epoch gives no row; may be said more than once.
  void note_bad(std::uint32_t epoch, std::uint64_t place);
  /// The expected place among the rows of its epoch.
  [[nodiscard]] std::uint64_t ordinal(std::uint32_t epoch, std::uint64_t place) const;

  /// Memory for one row of `column`: in the batch where the shape agrees with the other rows, of
  /// its own elsewhere.
  [[nodiscard]] Tensor allocate(std::uint32_t epoch, std::uint64_t ordinal, std::string_view column,
                                const Shape& shape, DType dtype);
  /// Takes the memory of the batch whose first row is `ordinal`, if any of it was used; invalid
  /// tensors elsewhere. Says which shape the rows of this column have.
  [[nodiscard]] Tensor take(std::uint32_t epoch, std::uint64_t ordinal, std::string_view column,
                            const Shape& row_shape, DType dtype);
  /// Forgets the batch whose first row is `ordinal`.
  void forget(std::uint32_t epoch, std::uint64_t ordinal);
  /// Forgets what is left of epochs up to `epoch`.
  void end_epoch(std::uint32_t epoch);

  void count_rows(std::uint64_t placed, std::uint64_t copied) {
    placed_rows_.fetch_add(placed, std::memory_order_relaxed);
    copied_rows_.fetch_add(copied, std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t placed_rows() const {
    return placed_rows_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t copied_rows() const {
    return copied_rows_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t rows() const { return rows_; }

 private:
  struct Layout {
    std::string column;
    Shape shape;
    DType dtype = DType::u8;
  };
  struct Memory {
    std::string column;
    Tensor tensor;
    std::vector<bool> given;
  };
  using BatchKey = std::pair<std::uint32_t, std::uint64_t>;

  const std::uint64_t rows_;
  std::uint32_t first_epoch_ = 0;  ///< set before the workers start
  std::uint64_t first_place_ = 0;
  std::atomic<std::uint64_t> placed_rows_{0};
  std::atomic<std::uint64_t> copied_rows_{0};

  mutable Mutex mutex_;
  std::vector<Layout> layouts_ WEIR_GUARDED_BY(mutex_);
  std::map<BatchKey, std::vector<Memory>> batches_ WEIR_GUARDED_BY(mutex_);
  std::map<std::uint32_t, std::vector<std::uint64_t>> bad_ WEIR_GUARDED_BY(mutex_);  ///< sorted
};

}  // namespace weir::detail
