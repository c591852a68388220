#include "pipeline/look_ahead_window.hpp"

#include <algorithm>
#include <cmath>

namespace weir::detail {
namespace {

constexpr double kLateShare = 1.0 / 16;  ///< of the files; below it the window is long enough
constexpr double kSafety = 1.5;
constexpr double kOfUse = 0.9;           ///< a growth must shorten the waits to this share
constexpr double kWorthWaiting = 20e-6;  ///< seconds a file; less is no reason to do anything
constexpr std::uint32_t kPunctual = 8;   ///< rounds without a late file before it shrinks
constexpr std::uint32_t kRest = 16;

}  // namespace

void LookAheadWindow::add(const Round& round) {
  sum_.files += round.files;
  sum_.bytes += round.bytes;
  sum_.late_files += round.late_files;
  sum_.hidden_seconds += round.hidden_seconds;
  sum_.waited_seconds += round.waited_seconds;
  const std::uint64_t mean =
      std::max<std::uint64_t>(sum_.files == 0 ? 1 : sum_.bytes / sum_.files, 1);
  // Twice, so that the effect of a change is in: the files of the old window are read first.
  if (sum_.files >= 2 * std::uint64_t{std::max(files_, kLeast)}) judge();
  files_ = static_cast<std::uint32_t>(std::min<std::uint64_t>(
      {wanted_, round.most_open, std::max<std::uint64_t>(round.most_bytes / mean, 1)}));
}

void LookAheadWindow::judge() {
  const auto files = static_cast<double>(sum_.files);
  waited_a_file_ = sum_.waited_seconds / files;
  ++rounds_;
  const bool late =
      static_cast<double>(sum_.late_files) > files * kLateShare && waited_a_file_ > kWorthWaiting;
  const bool held_back = files_ < wanted_;  // By a bound, which says nothing about the storage.
  if (before_growth_ != 0 && late && waited_a_file_ > waited_before_growth_ * kOfUse) {
    wanted_ = before_growth_;
    rest_rounds_ = kRest;
    no_help_ = true;
    before_growth_ = 0;
  } else if (late) {
    punctual_rounds_ = 0;
    before_growth_ = 0;
    if (rest_rounds_ > 0) {
      --rest_rounds_;
    } else if (wanted_ < kMost && !held_back) {
      const double hidden = std::max(sum_.hidden_seconds, 1e-9);
      const double factor =
          std::clamp(kSafety * (hidden + sum_.waited_seconds) / hidden, 1.25, 2.0);
      before_growth_ = wanted_;
      waited_before_growth_ = waited_a_file_;
      wanted_ = std::min(
          kMost, static_cast<std::uint32_t>(std::lround(factor * static_cast<double>(wanted_))));
    } else {
      no_help_ = true;
    }
  } else {
    no_help_ = false;
    before_growth_ = 0;
    rest_rounds_ = 0;
    if (sum_.late_files == 0 && ++punctual_rounds_ >= kPunctual) {
      wanted_ = std::max(kLeast, wanted_ - wanted_ / 8);
      punctual_rounds_ = 0;
    }
  }
  sum_ = Round{};
}

void LookAheadWindow::begin_anew() {
  wanted_ = kLeast;
  sum_ = Round{};
  before_growth_ = 0;
  rest_rounds_ = 0;
  punctual_rounds_ = 0;
  no_help_ = false;
}

}  // namespace weir::detail
