// Text from outside as messages show it: on one line, without control characters, and cut.
#pragma once

#include <string>
#include <string_view>

namespace hvtlb {

inline constexpr std::size_t kMaxShownText = 40;

/// The text with control characters written out: `\n`, `\x1b`.
inline std::string escaped_text(std::string_view text) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string result;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      result += "\\n";
    } else if (byte < 0x20 || byte == 0x7f) {
      result += "\\x";
      result += kDigits[byte >> 4];
      result += kDigits[byte & 15];
    } else {
      result += c;
    }
  }
  return result;
}

/// The same, and no more of it than kMaxShownText bytes.
inline std::string shown_text(std::string_view text) {
  if (text.size() <= kMaxShownText) return escaped_text(text);
  std::size_t end = kMaxShownText - 3;
  // Not in the middle of a character of several bytes.
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return escaped_text(text.substr(0, end)) + "...";
}

}  // namespace hvtlb
