#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weir::detail {

/// A set of indexes kept as sorted, disjoint, non-adjacent ranges [begin, end). On an edge there
/// are at most a few ranges per worker, so a sorted vector beats a tree and allocates nothing once
/// warm.
///
/// Thread safety: a value; the owner's lock protects it.
class RangeSet {
 public:
  struct Range {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
  };

  /// Adds [begin, end), which may be empty. Requires: no index of it is in the set.
  void insert(std::uint64_t begin, std::uint64_t end) {
    if (begin == end) return;
    std::size_t at = ranges_.size();
    while (at > 0 && ranges_[at - 1].begin > begin) --at;
    count_ += end - begin;
    const bool joins_left = at > 0 && ranges_[at - 1].end == begin;
    const bool joins_right = at < ranges_.size() && ranges_[at].begin == end;
    if (joins_left && joins_right) {
      ranges_[at - 1].end = ranges_[at].end;
      ranges_.erase(ranges_.begin() + static_cast<std::ptrdiff_t>(at));
    } else if (joins_left) {
      ranges_[at - 1].end = end;
    } else if (joins_right) {
      ranges_[at].begin = begin;
    } else {
      ranges_.insert(ranges_.begin() + static_cast<std::ptrdiff_t>(at), Range{begin, end});
    }
  }
  /// Takes the `count` smallest indexes out of the first range. Requires: it has as many.
  void take_front(std::uint64_t count) {
    ranges_.front().begin += count;
    count_ -= count;
    if (ranges_.front().begin == ranges_.front().end) ranges_.erase(ranges_.begin());
  }

  [[nodiscard]] bool empty() const { return ranges_.empty(); }
  [[nodiscard]] const Range& front() const { return ranges_.front(); }
  [[nodiscard]] std::uint64_t count() const { return count_; }

 private:
  std::vector<Range> ranges_;
  std::uint64_t count_ = 0;
};

}  // namespace weir::detail
