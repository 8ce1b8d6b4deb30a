// How a target says that it found something.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>

namespace hvtlb::fuzz {

/// Nothing, or what is broken, as one line.
using Finding = std::optional<std::string>;

/// Stops the process when there is a finding; libFuzzer then keeps the input.
inline void require_none(const char* target, const Finding& finding) {
  if (!finding) return;
  std::fprintf(stderr, "%s: %s\n", target, finding->c_str());
  std::abort();
}

}  // namespace hvtlb::fuzz
