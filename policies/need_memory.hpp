#pragma once

#include <algorithm>
#include <iterator>
#include <map>

namespace weir::detail {

/// The most workers that were needed over the last while. Shrinking by it is lazy: a short lull
/// parks nobody.
///
/// Thread safety: none.
class NeedMemory {
 public:
  explicit NeedMemory(double memory_seconds) : memory_seconds_(memory_seconds) {}

  void add(int need, double now_seconds) {
    needs_[now_seconds] = need;
    // The first entry that is older than the memory stays: it shows how far back it reaches.
    while (needs_.size() > 1 && std::next(needs_.begin())->first <= now_seconds - memory_seconds_)
      needs_.erase(needs_.begin());
  }
  void clear() { needs_.clear(); }
  /// The largest need, or 0 while the memory does not reach back far enough to say.
  [[nodiscard]] int largest(double now_seconds) const {
    if (needs_.empty() || needs_.begin()->first > now_seconds - memory_seconds_) return 0;
    int most = 0;
    for (const auto& [time, need] : needs_) most = std::max(most, need);
    return most;
  }

 private:
  double memory_seconds_;
  std::map<double, int> needs_;  // by time
};

}  // namespace weir::detail
