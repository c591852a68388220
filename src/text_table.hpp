#pragma once

#include <string>
#include <vector>

namespace weir::program {

/// Rows of cells under a head, each column as wide as its widest cell: the first column to the
/// left, the others to the right.
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> head) : rows_{std::move(head)} {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  [[nodiscard]] std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace weir::program
