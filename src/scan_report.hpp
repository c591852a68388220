#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "src/scan_entry.hpp"

namespace weir::program {

/// What a scan adds up to. Entries come in the order of the listing.
///
/// **Thread safety**: none; the consumer's.
/// **Invariants**: `ok + noted + bad` is the number of entries added.
class ScanReport {
 public:
  /// `index` must live on. `all`: keep the entries of sound files too.
  ScanReport(const FileIndex& index, bool all);

  void add(ScanEntry entry);
  /// The scan took so long, and ended before all of `expected` files if a signal came.
  void end(double seconds, std::uint64_t expected, const std::string& quarantine);

  [[nodiscard]] std::uint64_t files() const { return ok_ + noted_ + bad_; }
  [[nodiscard]] std::uint64_t bad() const { return bad_; }
  /// The quarantine list.
  [[nodiscard]] std::string quarantine_text() const;
  /// Files of the same content, two or more each, where contents were digested.
  [[nodiscard]] std::vector<std::vector<std::uint64_t>> duplicates() const;
  [[nodiscard]] std::string text(const std::string& name) const;
  [[nodiscard]] nlohmann::ordered_json json() const;

 private:
  struct Tally {
    std::uint64_t files = 0;
    std::uint64_t noted = 0;
    std::uint64_t bad = 0;
  };
  using Tallies = std::map<std::string, Tally>;

  const FileIndex& index_;
  bool all_;
  std::uint64_t ok_ = 0;
  std::uint64_t noted_ = 0;
  std::uint64_t bad_ = 0;
  std::uint64_t bytes_ = 0;
  Tallies formats_;
  Tallies channels_;
  std::map<std::int64_t, std::uint64_t> sizes_;  ///< by the longer side, rounded up to a power of 2
  std::map<std::string, std::uint64_t> reasons_;
  std::vector<ScanEntry> entries_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::vector<std::uint64_t>> contents_;
  double seconds_ = 0;
  std::uint64_t expected_ = 0;
  std::string quarantine_;
};

}  // namespace weir::program
