#pragma once

#include <cstdint>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include <weir/bad_sample_policy.hpp>
#include <weir/error.hpp>
#include <weir/position.hpp>
#include <weir/slot.hpp>
#include <weir/step.hpp>

namespace weir::detail {

/// Judges bad samples in the order of delivery, so that a run fails at the same sample whatever the
/// workers did, and writes them to the quarantine file.
///
/// Thread safety: none; the consumer's.
class FailureJudge {
 public:
  /// The limits that a run has: its own under the empty name, and those of stages with a policy.
  using Policies = std::map<std::string, BadSamplePolicy>;
  FailureJudge(std::shared_ptr<const Source> source, std::string quarantine_path,
               Policies policies);

  /// Continues from a saved position; what the quarantine file lists already stays.
  void restore(const Position& position);
  /// Writes the counts into a position.
  void save(Position& position) const;
  /// Forgets the epoch under way: another one is begun.
  void restart_epoch();
  /// Throws Error for a note that ends the run or goes beyond its limit.
  void judge(const FailureNotes& notes);
  /// Rows delivered without a stand-in among them.
  void add_good(std::uint64_t rows) {
    good_ += rows;
    good_in_epoch_ += rows;
  }
  /// Throws Error when the epoch had no good sample, or too many bad ones. `dropped` good rows at
  /// its end filled no batch.
  void end_epoch(std::uint64_t dropped);

  [[nodiscard]] std::uint64_t bad() const { return bad_; }
  [[nodiscard]] std::uint64_t bad_in_epoch() const { return bad_in_epoch_; }
  [[nodiscard]] std::uint64_t good() const { return good_; }
  [[nodiscard]] std::uint64_t good_in_epoch() const { return good_in_epoch_; }
  /// The path written to; empty: nothing was.
  [[nodiscard]] const std::string& quarantine() const { return quarantine_written_; }

 private:
  /// Bad samples that count against one limit: the run's, or a stage's own.
  struct Tally {
    std::uint64_t bad = 0;
    std::uint64_t bad_in_epoch = 0;
    std::optional<FailureNote> last;  ///< none: they were all judged before the position
  };

  [[noreturn]] void fail(const FailureNote& note, const std::string& why) const;
  [[noreturn]] void fail_epoch(const std::string& stage, const Tally& tally,
                               const std::string& why) const;
  void quarantine(const FailureNote& note);

  std::shared_ptr<const Source> source_;
  std::string quarantine_path_;
  std::string quarantine_written_;
  bool resumed_ = false;
  std::ofstream quarantine_file_;
  std::set<std::uint64_t> quarantined_;
  const Policies policies_;
  std::map<std::string, Tally> tallies_;  ///< by stage with a policy of its own; "": the run's
  std::uint64_t bad_ = 0;
  std::uint64_t bad_in_epoch_ = 0;
  std::uint64_t good_ = 0;
  std::uint64_t good_in_epoch_ = 0;
};

}  // namespace weir::detail
