#pragma once

#include <cstdint>

namespace weir::detail {

/// How many files to ask for ahead of the reads.
///
/// **Algorithm**: a file that was asked for `hidden` seconds before its read and then still kept
/// the reader waiting for `waited` would have come in time with a window (hidden + waited) / hidden
/// times as long; where more than a few files come late the window grows by that, half as much
/// again for safety, and at most to twice its length. A growth that did not shorten the waits is
/// taken back: what is busy, or takes no hints, is no faster for being asked earlier. Where nothing
/// is late the window shrinks slowly, since each file ahead holds a descriptor and page cache.
///
/// **Thread safety**: none; the caller holds a lock.
///
/// **Invariants**: 1. least() <= files() <= most, unless the bounds of a round are lower: these are
/// obeyed at once, down to 0. 2. Between two growths a whole window has been read, so that each is
/// judged by files that were asked for under it.
class LookAheadWindow {
 public:
  /// What the reads since the last call were like.
  struct Round {
    std::uint64_t files = 0;
    std::uint64_t bytes = 0;
    std::uint64_t late_files = 0;
    double hidden_seconds = 0;  ///< of the late files: from hint to read, summed
    double waited_seconds = 0;  ///< and what was waited then
    std::uint64_t most_bytes = 0;
    std::uint32_t most_open = 0;  ///< descriptors that may be held
  };
  static constexpr std::uint32_t kLeast =
      16;  ///< reaches a local disk's rate with one or two threads
  static constexpr std::uint32_t kMost = 256;

  /// Takes in a round, which may be cut anywhere.
  void add(const Round& round);
  [[nodiscard]] std::uint32_t files() const { return files_; }
  /// Files come late and a longer window has been of no use: another way to read may be.
  [[nodiscard]] bool is_no_help() const { return no_help_; }
  /// Seconds waited a file, over the last whole round.
  [[nodiscard]] double waited_a_file() const { return waited_a_file_; }
  /// Rounds judged so far.
  [[nodiscard]] std::uint64_t rounds() const { return rounds_; }
  /// Forgets what was learnt of waits, after the way to read has changed.
  void begin_anew();

 private:
  void judge();

  std::uint32_t wanted_ = kLeast;  ///< before the bounds
  std::uint32_t files_ = kLeast;
  Round sum_;                        ///< since the last judgement
  std::uint32_t before_growth_ = 0;  ///< 0: the last change was no growth
  double waited_before_growth_ = 0;
  double waited_a_file_ = 0;
  std::uint32_t punctual_rounds_ = 0;
  std::uint32_t rest_rounds_ = 0;  ///< without growth, after one that was of no use
  bool no_help_ = false;
  std::uint64_t rounds_ = 0;
};

}  // namespace weir::detail
