#pragma once

#include <cstdint>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <string>

#include <weir/error.hpp>
#include <weir/slot.hpp>
#include <weir/step.hpp>

namespace weir::detail {

/// Judges bad samples in the order of delivery, so that a run fails at the same sample whatever the
/// workers did, and writes them to the quarantine file.
///
/// Thread safety: none; the consumer's.
class FailureJudge {
 public:
  FailureJudge(std::shared_ptr<const Source> source, std::string quarantine_path);

  /// Continues from a saved position.
  void restore(std::uint64_t bad, std::uint64_t bad_in_epoch, std::uint64_t good,
               std::uint64_t good_in_epoch);
  /// Throws Error for a note that ends the run or goes beyond its limit.
  void judge(const FailureNotes& notes);
  /// Rows delivered without a stand-in among them.
  void add_good(std::uint64_t rows);
  /// Throws Error when the epoch had no good sample, or too many bad ones.
  void end_epoch();

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
    double limit_rate = -1;
    FailureNote last;
  };

  [[noreturn]] void fail(const FailureNote& note, const std::string& why) const;
  void quarantine(const FailureNote& note);

  std::shared_ptr<const Source> source_;
  std::string quarantine_path_;
  std::string quarantine_written_;
  std::ofstream quarantine_file_;
  std::set<std::uint64_t> quarantined_;
  std::map<std::string, Tally> tallies_;  ///< by stage with a policy of its own; "": the run's
  std::uint64_t bad_ = 0;
  std::uint64_t bad_in_epoch_ = 0;
  std::uint64_t good_ = 0;
  std::uint64_t good_in_epoch_ = 0;
};

}  // namespace weir::detail
