#include "report/table.h"

#include <algorithm>
#include <fmt/format.h>

namespace hvtlb {

std::string Table::text(std::size_t indent) const {
  std::vector<std::size_t> width(align_.size());
  for (const auto& row : rows_)
    for (std::size_t at = 0; at < row.size(); ++at) width[at] = std::max(width[at], row[at].size());
  std::string text;
  for (const auto& row : rows_) {
    std::string line(indent, ' ');
    for (std::size_t at = 0; at < row.size(); ++at) {
      if (at != 0) line += "  ";
      line += align_[at] == Align::kLeft ? fmt::format("{:<{}}", row[at], width[at])
                                         : fmt::format("{:>{}}", row[at], width[at]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

}  // namespace hvtlb
