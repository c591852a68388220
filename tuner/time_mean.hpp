#pragma once

#include <cstddef>
#include <vector>

namespace weir::detail {

/// The time mean of a quantity whose integral is read now and then, over the whole and over the last
/// half. Keeps a bounded number of readings.
///
/// Thread safety: none.
class TimeMean {
 public:
  void clear() { readings_.clear(); }

  void add(double time_seconds, double integral) {
    readings_.push_back({time_seconds, integral});
    if (readings_.size() < kMost) return;
    // Every second one goes; the first and the last stay.
    std::size_t kept = 1;
    for (std::size_t i = 2; i < readings_.size(); i += 2) readings_[kept++] = readings_[i];
    if (kMost % 2 == 0) readings_[kept++] = readings_.back();
    readings_.resize(kept);
  }

  [[nodiscard]] double whole() const { return since(readings_.empty() ? 0 : readings_[0].time); }
  [[nodiscard]] double last_half() const {
    if (readings_.empty()) return 0;
    return since(0.5 * (readings_.front().time + readings_.back().time));
  }

 private:
  static constexpr std::size_t kMost = 4096;
  struct Reading {
    double time;
    double integral;
  };

  [[nodiscard]] double since(double time) const {
    if (readings_.size() < 2) return 0;
    std::size_t i = 0;
    while (i + 2 < readings_.size() && readings_[i + 1].time < time) ++i;
    const Reading& a = readings_[i];
    const Reading& b = readings_[i + 1];
    const double share = b.time > a.time ? (time - a.time) / (b.time - a.time) : 0.0;
    const double begin = a.integral + share * (b.integral - a.integral);
    const double length = readings_.back().time - time;
    return length > 0 ? (readings_.back().integral - begin) / length : 0.0;
  }

  std::vector<Reading> readings_;
};

}  // namespace weir::detail
