#include "model/cpumask.h"

#include <fmt/format.h>
#include <iterator>
#include <vector>

namespace hvtlb {

std::string CpuMask::to_hex() const {
  std::vector<u64> words;
  boost::to_block_range(bits_, std::back_inserter(words));
  while (!words.empty() && words.back() == 0) words.pop_back();
  if (words.empty()) return "0x0";
  std::string text = fmt::format("0x{:x}", words.back());
  for (auto word = words.rbegin() + 1; word != words.rend(); ++word)
    text += fmt::format("{:016x}", *word);
  return text;
}

std::string CpuMask::to_list() const {
  std::string text;
  for (auto at = bits_.find_first(); at != Bits::npos;) {
    auto last = at;
    while (bits_.find_next(last) == last + 1) ++last;
    if (!text.empty()) text += ',';
    text += last == at ? fmt::format("{}", at) : fmt::format("{}-{}", at, last);
    at = bits_.find_next(last);
  }
  return text.empty() ? "-" : text;
}

}  // namespace hvtlb
