// Columns of text: widths from the content, numbers to the right.
#pragma once

#include <string>
#include <vector>

namespace hvtlb {

class Table {
 public:
  enum class Align { kLeft, kRight };

  explicit Table(std::vector<Align> columns) : align_(std::move(columns)) {}

  /// Adds a row; missing cells are empty. REQUIRES: not more cells than columns.
  void row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

  /// All rows, two blanks between columns, each behind `indent` blanks.
  std::string text(std::size_t indent = 0) const;

 private:
  std::vector<Align> align_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace hvtlb
