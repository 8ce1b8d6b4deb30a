// `hvtlb decode`: hypercall bytes in, a host's reaction out.
#pragma once

#include "cli/json_lines.h"

namespace hvtlb::cli {

/// A longer input is refused: no control word declares more than an EX header, 1023 words of
/// variable header and 4095 ranges.
inline constexpr std::size_t kMaxInputBytes = 32 + 8 * (1023 + 4095);

/// Answers one call. Throws `LineError`.
Json decode_line(const Json& line);

}  // namespace hvtlb::cli
