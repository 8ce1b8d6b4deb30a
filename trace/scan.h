// Small steps over a text: each takes what it recognises off the front, or leaves it alone.
#pragma once

#include <limits>
#include <optional>
#include <string_view>

#include "model/types.h"

namespace hvtlb::scan {

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

inline void skip_spaces(std::string_view& text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
}

inline void trim_right(std::string_view& text) {
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
}

inline bool literal(std::string_view& text, std::string_view expected) {
  if (!text.starts_with(expected)) return false;
  text.remove_prefix(expected.size());
  return true;
}

/// Decimal digits. Nothing when there are none, or when the number does not fit.
inline std::optional<u64> decimal(std::string_view& text) {
  u64 value = 0;
  std::size_t at = 0;
  for (; at < text.size() && is_digit(text[at]); ++at) {
    const u64 digit = static_cast<u64>(text[at] - '0');
    if (value > (std::numeric_limits<u64>::max() - digit) / 10) return std::nullopt;
    value = value * 10 + digit;
  }
  if (at == 0) return std::nullopt;
  text.remove_prefix(at);
  return value;
}

/// `0x` and up to 16 hex digits, or decimal.
inline std::optional<u64> number(std::string_view& text) {
  if (!text.starts_with("0x")) return decimal(text);
  u64 value = 0;
  std::size_t at = 2;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    u64 digit = 0;
    if (is_digit(c))
      digit = static_cast<u64>(c - '0');
    else if (c >= 'a' && c <= 'f')
      digit = static_cast<u64>(c - 'a') + 10;
    else
      break;
    if (at >= 18) return std::nullopt;
    value = value << 4 | digit;
  }
  if (at == 2) return std::nullopt;
  text.remove_prefix(at);
  return value;
}

}  // namespace hvtlb::scan
