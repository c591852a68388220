#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace weir::program {

/// Rows of cells under a head, each column as wide as its widest cell: the first column to the
/// left, the others to the right.
class TextTable {
 public:
  /// `left` are the columns of words.
  explicit TextTable(std::vector<std::string> head, std::set<std::size_t> left = {0})
      : rows_{std::move(head)}, left_(std::move(left)) {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  [[nodiscard]] std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
  std::set<std::size_t> left_;
};

}  // namespace weir::program
