#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string_view>

#include <weir/export.hpp>
#include <weir/random.hpp>
#include <weir/tensor.hpp>

namespace weir {

/// What travels beside every value.
struct SampleInfo {
  std::uint64_t source_index = 0;  ///< place in the loader's stream of source items
  std::uint64_t sample_id = 0;     ///< place in the source's sorted list
  std::uint32_t epoch = 0;
  std::uint32_t repeat = 0;  ///< which pass of `repeat`
  std::uint32_t split = 0;   ///< place among the items of one flat_map call
  std::int32_t label = -1;   ///< class number; -1: none
};

namespace detail {
class BatchArena;
}

/// What a user function may ask about the item it works on. Made by the runtime for one call.
///
/// Thread safety: used by the calling worker alone, during the call.
class WEIR_EXPORT Context {
 public:
  /// `operator_index` counts operators as written, 0 being the source.
  Context(std::uint64_t seed, std::uint32_t operator_index, const SampleInfo& info, int worker,
          std::stop_token stop)
      : seed_(seed),
        operator_index_(operator_index),
        worker_(worker),
        info_(&info),
        stop_(std::move(stop)) {}

  [[nodiscard]] std::uint64_t sample_id() const { return info_->sample_id; }
  /// The place in the stream.
  [[nodiscard]] std::uint64_t index() const { return info_->source_index; }
  [[nodiscard]] std::uint32_t epoch() const { return info_->epoch; }
  [[nodiscard]] std::uint32_t repeat() const { return info_->repeat; }
  [[nodiscard]] std::uint32_t split() const { return info_->split; }
  [[nodiscard]] std::int32_t label() const { return info_->label; }
  /// The worker's number, 0 to budget - 1.
  [[nodiscard]] int worker() const { return worker_; }
  /// Requested when the loader closes; long calls should look at it.
  [[nodiscard]] const std::stop_token& stop_token() const { return stop_; }

  /// The generator of this item and operator, keyed by (seed, epoch, repeat, sample id, split,
  /// operator): the draws do not depend on threads, order or a resume.
  [[nodiscard]] Random& random();

  /// The generator that operator `operator_index` has for this item.
  [[nodiscard]] Random random_of(std::uint32_t operator_index) const;

  /// Memory for the result's `column`. In the last stage before `batch` it lies in the batch itself
  /// when the shape agrees with the batch's, so that nothing is copied later; elsewhere it is a
  /// tensor of its own. Contents are indeterminate.
  [[nodiscard]] Tensor allocate(std::string_view column, const Shape& shape, DType dtype);

  /// For the runtime: goes on to the next item of a packet. The stop token, whose copy counts
  /// references between threads, stays.
  void begin_item(const SampleInfo& info) {
    info_ = &info;
    random_.reset();
  }
  /// For what does the work of several operators: the context of one of them. `places`: its results
  /// are the ones that may lie in the batch.
  [[nodiscard]] Context of(std::uint32_t operator_index, bool places) const;
  /// For what does the work of several operators: the time since the last call, or since the item
  /// began, was the `part`-th one's.
  void lap(std::size_t part);
  /// For the runtime: where lap() adds nanoseconds up; null: nowhere.
  void count_laps(std::int64_t* laps);
  /// For the runtime: where allocate() places results.
  void place_in(detail::BatchArena* arena, std::uint64_t ordinal) {
    arena_ = arena;
    ordinal_ = ordinal;
  }

 private:
  std::uint64_t seed_;
  std::uint32_t operator_index_;
  int worker_;
  const SampleInfo* info_;
  std::stop_token stop_;
  std::optional<Random> random_;
  detail::BatchArena* arena_ = nullptr;
  std::uint64_t ordinal_ = 0;
  std::int64_t* laps_ = nullptr;
  std::int64_t lap_began_ns_ = 0;
};

}  // namespace weir
