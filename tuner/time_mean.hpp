#pragma once

#include <cstddef>
#include <vector>

namespace weir::detail {

/// The time mean of a quantity whose integral is read now and then, over the whole and over the
/// last half. Keeps a bounded number of readings.
///
/// Thread safety: none.
class TimeMean {
 public:
  void add(double time_seconds, double integral) {
    last_ = {time_seconds, integral};
    if (count_++ % stride_ != 0) return;
    readings_.push_back(last_);
    if (readings_.size() < kMost) return;
    // Every second one goes, and from now on only every second one of the present ones is kept: all
    // of the past stays equally fine.
    std::size_t kept = 0;
    for (std::size_t i = 0; i < readings_.size(); i += 2) readings_[kept++] = readings_[i];
    readings_.resize(kept);
    stride_ *= 2;
  }

  [[nodiscard]] double whole() const { return since(readings_.empty() ? 0 : readings_[0].time); }
  [[nodiscard]] double last_half() const {
    if (readings_.empty()) return 0;
    return since(0.5 * (readings_.front().time + last_.time));
  }

 private:
  static constexpr std::size_t kMost = 4096;
  struct Reading {
    double time;
    double integral;
  };

  [[nodiscard]] double since(double time) const {
    if (readings_.empty() || last_.time <= time) return 0;
    std::size_t i = 0;
    while (i + 1 < readings_.size() && readings_[i + 1].time <= time) ++i;
    const Reading& a = readings_[i];
    const Reading& b = i + 1 < readings_.size() ? readings_[i + 1] : last_;
    const double share = b.time > a.time ? (time - a.time) / (b.time - a.time) : 0.0;
    const double begin = a.integral + share * (b.integral - a.integral);
    return (last_.integral - begin) / (last_.time - time);
  }

  Reading last_{};
  std::size_t count_ = 0;
  std::size_t stride_ = 1;  // of the readings that are kept
  std::vector<Reading> readings_;
};

}  // namespace weir::detail
