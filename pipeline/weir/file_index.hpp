#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <weir/export.hpp>

namespace weir {

/// Where labels of files come from.
enum class Labels { none, parent_folder };

struct FilesOptions {
  /// Shell pattern on the name, or, when it contains a slash, on the path below the root, folder by
  /// folder ("*.jpg", "train/*.png", "train/**/*.png"); empty: every file that is not hidden.
  std::string pattern = {};
  Labels labels = Labels::none;
  bool recursive = true;
  /// Class names and numbers are read from here when it exists, and saved here when it does not.
  std::string classes_file = {};
  /// A list of bad files, as runs and `weir scan` write it: these files are left out. Class numbers
  /// stay what they are.
  std::string quarantine = {};
};

/// A sorted listing of files: names in one block of bytes, so that it costs at most 16 bytes a file
/// beside the names. The order is that of the path's bytes and so independent of the file system.
///
/// Thread safety: immutable once made.
class WEIR_EXPORT FileIndex {
 public:
  /// Lists `root`. Hidden entries are skipped and counted; links are followed, but never into a
  /// folder that the listing is inside of, so that loops end. Throws Error(usage) for a missing
  /// folder, and when nothing matched, saying what was looked for and what was seen.
  [[nodiscard]] static FileIndex list(const std::string& root, const FilesOptions& options);
  /// Reads a list file: one `path[,label]` a line, relative to the list's folder, in the list's
  /// order. Empty lines and lines that begin with # are skipped. Throws Error(usage) with file and
  /// line.
  [[nodiscard]] static FileIndex read_list(const std::string& list_file,
                                           const std::string& classes_file = "");

  [[nodiscard]] std::uint64_t size() const { return ends_.size() - left_out_; }
  /// How many files the quarantine list left out: they are the entries from size() on.
  [[nodiscard]] std::uint64_t left_out() const { return left_out_; }
  /// The list that was asked for; empty: none.
  [[nodiscard]] const std::string& quarantine() const { return quarantine_; }
  [[nodiscard]] std::string_view relative(std::uint64_t entry) const;
  [[nodiscard]] std::string path(std::uint64_t entry) const;
  /// Class number, -1 without labels.
  [[nodiscard]] std::int32_t label(std::uint64_t entry) const {
    return labels_.empty() ? -1 : labels_[entry];
  }
  [[nodiscard]] const std::vector<std::string>& classes() const { return classes_; }
  [[nodiscard]] const std::string& root() const { return root_; }
  [[nodiscard]] std::uint64_t hidden_skipped() const { return hidden_skipped_; }
  /// Memory of the listing beside the names, in bytes.
  [[nodiscard]] std::uint64_t overhead_bytes() const;

 private:
  void leave_out(const std::string& quarantine);

  std::string root_;
  std::string quarantine_;
  std::string names_;
  std::vector<std::uint64_t> ends_;
  std::vector<std::int32_t> labels_;
  std::vector<std::string> classes_;
  std::uint64_t hidden_skipped_ = 0;
  std::uint64_t left_out_ = 0;
};

}  // namespace weir
