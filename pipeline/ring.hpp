#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace weir::detail {

/// A first-in, first-out queue in one piece of memory that is used again: std::deque allocates as
/// its items pass, this only as its length grows.
///
/// Thread safety: a value; the owner's lock protects it.
template <class T>
class Ring {
 public:
  [[nodiscard]] bool empty() const { return begin_ == end_; }
  [[nodiscard]] std::size_t size() const { return end_ - begin_; }
  [[nodiscard]] T& front() { return places_[begin_ & mask()]; }
  [[nodiscard]] const T& front() const { return places_[begin_ & mask()]; }

  void push_back(T value) {
    if (size() == places_.size()) grow();
    places_[end_++ & mask()] = std::move(value);
  }
  void pop_front() { places_[begin_++ & mask()] = T{}; }

 private:
  [[nodiscard]] std::size_t mask() const { return places_.size() - 1; }
  void grow() {
    std::vector<T> larger(places_.empty() ? 8 : places_.size() * 2);
    std::size_t count = 0;
    for (; begin_ != end_; ++begin_) larger[count++] = std::move(places_[begin_ & mask()]);
    places_ = std::move(larger);
    begin_ = 0;
    end_ = count;
  }

  std::vector<T> places_;  ///< a power of two
  std::size_t begin_ = 0;  ///< grows without end, taken modulo the size
  std::size_t end_ = 0;
};

}  // namespace weir::detail
