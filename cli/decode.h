// `hvtlb decode`: hypercall bytes in, a host's reaction out.
#pragma once

#include "cli/json_lines.h"

namespace hvtlb::cli {

/// A longer input is refused: no call reads further, wherever in its page it begins.
inline constexpr std::size_t kMaxInputBytes = 8192;

/// Answers one call. Throws `LineError`.
Json decode_line(const Json& line);

}  // namespace hvtlb::cli
