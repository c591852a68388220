#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <weir/step.hpp>

namespace weir::detail {

/// The keyed bijection of [0, size) that shuffles an epoch: a Feistel network over the next power
/// of four, walked until it lands inside (Black and Rogaway, CT-RSA 2002). It needs no memory per
/// element and gives any place in O(1). Four rounds do for a thousand items and more; on a few bits
/// they are far from uniform (some item stands first four times as often as another), and sixteen
/// do.
class IndexShuffle {
 public:
  IndexShuffle(std::uint64_t size, std::uint64_t key);
  [[nodiscard]] std::uint64_t operator()(std::uint64_t place) const;

 private:
  std::uint64_t size_;
  std::uint64_t key_;
  unsigned half_bits_;
  std::uint64_t rounds_;
};

/// How many of `size` items a rank gets.
[[nodiscard]] std::uint64_t shard_size(std::uint64_t size, const ShardPlace& shard);

/// One item of an epoch.
struct Located {
  std::uint64_t sample_id = 0;
  std::uint32_t repeat = 0;
};

/// What shuffle, take, skip, shard and repeat make of an indexable source, as a function of the
/// place in the epoch: nothing is stored per item. A buffered shuffle needs its draws in order;
/// then the map is sequential() and is read through a Walk.
///
/// Thread safety: const use from any thread; a Walk belongs to one owner at a time.
class IndexMap {
 public:
  IndexMap(std::uint64_t source_size, std::uint64_t seed) : size_(source_size), seed_(seed) {}

  /// Adds the next operator. Throws Error(usage) for one that cannot stand there.
  void add(const Step& step, std::uint32_t step_number);

  /// Items of one epoch.
  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] bool sequential() const { return first_buffer_ != kNone; }
  /// `pass` counts the passes of a repeat that stands behind the index; each has its own order.
  /// Requires: place < size() and not sequential().
  [[nodiscard]] Located locate(std::uint32_t epoch, std::uint32_t pass, std::uint64_t place) const {
    if (stages_.empty()) return {place, pass};
    return locate(stages_.size(), epoch, pass, place);
  }

  /// The items of one pass in order. Seeking forward replays the draws alone.
  class Walk {
   public:
    virtual ~Walk();
    /// Requires: fewer than size() items were given.
    [[nodiscard]] virtual Located next() = 0;
  };
  [[nodiscard]] std::unique_ptr<Walk> walk(std::uint32_t epoch, std::uint32_t pass) const;

 private:
  static constexpr std::size_t kNone = ~std::size_t{0};
  struct Stage {
    Step::Kind kind;
    std::uint32_t step_number;
    std::uint64_t count;
    ShardPlace shard;
    std::uint64_t size_before;  ///< items going in
  };
  class PlainWalk;
  class BufferWalk;
  class CountedWalk;
  class RepeatWalk;

  [[nodiscard]] Located locate(std::size_t stages, std::uint32_t epoch, std::uint32_t outer_repeat,
                               std::uint64_t place) const;
  [[nodiscard]] std::unique_ptr<Walk> walk(std::size_t stages, std::uint32_t epoch,
                                           std::uint32_t outer_repeat) const;
  [[nodiscard]] std::uint64_t key(std::uint32_t step_number, std::uint32_t epoch,
                                  std::uint32_t repeat) const;
  [[nodiscard]] std::uint64_t size_after(std::size_t stages) const {
    return stages == stages_.size() ? size_ : stages_[stages].size_before;
  }

  std::uint64_t size_;
  std::uint64_t seed_;
  std::vector<Stage> stages_;
  std::size_t first_buffer_ = kNone;
};

}  // namespace weir::detail
